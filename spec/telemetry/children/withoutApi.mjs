// One call where OpenTelemetry's API is not installed.
import { createGateway } from 'polygateway';

const { url } = JSON.parse(process.argv[2]);
const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: url, model: 'm' }] } });
const { content } = await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] });
await gateway.close();
process.send({ content, asked: globalThis.askedForApi });
