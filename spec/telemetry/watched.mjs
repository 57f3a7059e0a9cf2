// A process that can be watched, makes one call, and then has nothing left to do; it never closes its gateway.
import { createGateway } from 'polygateway';

const { url, place } = JSON.parse(process.argv[2]);
const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: url, model: 'm' }] }, telemetryWatch: place });
await gateway.chat({ messages: [{ role: 'user', content: 'x' }] });
