// Streams side by side, with a backup source and little patience, and their rows in a database.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from 'polygateway';

const { url, databaseFile, prompts } = JSON.parse(process.argv[2]);
const source = (provider, baseUrl) => ({ provider, baseUrl, model: 'm', interTokenTimeoutS: 2 });
const sources = [source('main', `${url}/v1`), source('backup', `${url}/backup/v1`)];
const gateway = createGateway({ settings: { scope: 'LLM', sources }, telemetryUrl: `sqlite:${databaseFile}`, hedgeStallAfterS: 1, maxAttempts: 1 });
const counts = { answered: 0, failed: 0, hedges: 0, lost: 0 };
gateway.events$.subscribe((event) => {
  if (event.type === 'telemetry-trouble') counts.lost = event.lost;
});

async function call(increments) {
  const { stats, content } = await gateway.chat({ messages: [{ role: 'user', content: String(increments) }] });
  if (content === 'tick '.repeat(increments)) counts.answered += 1;
  counts.hedges += stats.hedges;
}

process.send('ready');
await once(process, 'message');
const calls = [];
for (const prompt of prompts) {
  calls.push(call(prompt).catch(() => (counts.failed += 1)));
  if (calls.length % 25 === 0) await sleep(10);
}
await Promise.all(calls);
const closes = once(process, 'message');
process.send(counts);
await closes;
await gateway.close();
process.send(counts, () => process.disconnect());
