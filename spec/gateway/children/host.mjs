// A service with an idle port and a gateway: with no signal handler, or with one of its own that ends at the second signal.
import { once } from 'node:events';
import http from 'node:http';
import { createGateway } from 'polygateway';

const { url, databaseFile, handles } = JSON.parse(process.argv[2]);
const open = () => createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: `${url}/v1`, model: 'm' }] }, telemetryUrl: `sqlite:${databaseFile}` });
const call = (gateway) => gateway.chat({ messages: [{ role: 'user', content: '1' }] });

await once(http.createServer().listen(0, '127.0.0.1'), 'listening');
const order = [];
if (handles) process.on('SIGTERM', () => order.push('host'));
const before = listeners();
const closed = open();
await call(closed);
await closed.close();
const after = listeners();
const gateway = open();
await Promise.all([1, 2, 3].map(() => call(gateway)));
const during = listeners();

if (handles) {
  process.on('SIGTERM', async () => {
    order.push('last');
    process.send(order);
    if (order.length < 4) return;
    await gateway.close();
    process.exit(7);
  });
}
process.send({ pid: process.pid, before, during, after });

function listeners() {
  return ['SIGTERM', 'SIGINT', 'SIGHUP', 'beforeExit', 'exit'].map((name) => process.listenerCount(name));
}
