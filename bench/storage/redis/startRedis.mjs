import { freePort } from '../../../spec/package/freePort.mjs';
import { startRedisServer } from '../../support/redisServer.mjs';

export async function startRedis() {
  const port = await freePort();
  const server = await startRedisServer(port);
  return { port, pid: server.pid, url: `redis://127.0.0.1:${port}`, stop: () => server.kill() };
}
