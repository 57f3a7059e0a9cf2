import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';

/** A redis-server of our own on a free port, which keeps nothing on disk. */
export async function startRedis() {
  const port = await freePort();
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] });
  server.once('error', (cause) => {
    throw new Error('redis-server does not start: install Redis 6 or later, so that it is on the path.', { cause });
  });
  const stop = () => server.kill('SIGKILL');
  process.once('exit', stop);
  for await (const text of server.stdout) if (/ready to accept/i.test(text)) break;
  server.stdout.resume();
  const { Redis } = createRequire(import.meta.url)('ioredis');
  const look = new Redis(port, '127.0.0.1');
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid,
    empty: () => look.flushall(),
    figures: async () => figuresOf(await look.info('everything')),
    stop() {
      look.disconnect();
      stop();
    },
  };
}

/** Commands that clients sent, without our own look at them and those that scripts call. */
function figuresOf(info) {
  const commands = [...info.matchAll(/^cmdstat_(eval|evalsha|script\|load|ping|publish):calls=(\d+)/gm)].reduce((sum, [, , calls]) => sum + Number(calls), 0);
  const [connections, bytes] = ['connected_clients', 'used_memory'].map((name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)[1]));
  return { commands, connections: connections - 1, mb: bytes / 2 ** 20 };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
