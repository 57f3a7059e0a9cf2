// A call whose rows go to a database that this process may read but not write.
import { createGateway } from 'polygateway';

const { url, databaseFile } = JSON.parse(process.argv[2]);
const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: url, model: 'm' }] }, telemetryUrl: `sqlite:${databaseFile}` });
const troubles = [];
gateway.events$.subscribe((event) => event.type === 'telemetry-trouble' && troubles.push(event.message));
const contents = [];
for (let i = 0; i < 3; i += 1) contents.push((await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] })).content);
await gateway.close();
process.send({ contents, troubles }, () => process.disconnect());
