import { createRequire } from 'node:module';
import { freePort } from '../../spec/package/freePort.mjs';
import { startRedisServer } from '../support/redisServer.mjs';

/** A Redis of our own, and what it has been asked. */
export async function startRedis() {
  const port = await freePort();
  const server = await startRedisServer(port);
  const { Redis } = createRequire(import.meta.url)('ioredis');
  const look = new Redis(port, '127.0.0.1');
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid,
    empty: () => look.flushall(),
    figures: async () => figuresOf(await look.info('everything')),
    stop() {
      look.disconnect();
      server.kill('SIGKILL');
    },
  };
}

/** Commands that clients sent, without our own look at them and those that scripts call. */
function figuresOf(info) {
  const commands = [...info.matchAll(/^cmdstat_(eval|evalsha|script\|load|ping|publish):calls=(\d+)/gm)].reduce((sum, [, , calls]) => sum + Number(calls), 0);
  const [connections, bytes] = ['connected_clients', 'used_memory'].map((name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)[1]));
  return { commands, connections: connections - 1, mb: bytes / 2 ** 20 };
}
