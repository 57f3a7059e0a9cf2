import { once } from 'node:events';
import { createRequire } from 'node:module';
import { freePort } from '../../spec/package/freePort.mjs';
import { startRedisServer } from '../support/redisServer.mjs';

const { Redis } = createRequire(import.meta.url)('ioredis');

/** A Redis of our own that keeps nothing on disk and can be killed; `look` tells what is in it, or nothing while it is away. */
export async function startRedis() {
  const port = await freePort();
  let server = await startRedisServer(port);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 100, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
    async restart() {
      server = await startRedisServer(port);
    },
    look: () => lookAt(client).catch(() => undefined),
    async stop() {
      client.disconnect();
      server.kill('SIGKILL');
    },
  };
}

async function lookAt(client) {
  const names = await client.keys('*');
  const ttls = await Promise.all(names.map((name) => client.pttl(name)));
  const nowMs = 1000 * Number((await client.time())[0]);
  const leases = await Promise.all(names.filter((name) => name.endsWith(':leases')).map((name) => client.zcount(name, `(${nowMs}`, '+inf')));
  return {
    keys: names.length,
    withoutTtl: names.filter((_, at) => ttls[at] === -1),
    leases: leases.reduce((sum, count) => sum + count, 0),
    kinds: names.map((name) => name.slice(name.lastIndexOf(':') + 1)),
  };
}
