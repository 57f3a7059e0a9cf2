// Makes a call each `everyMs`, until it has made so many or is killed; notes in a file, at once, each row that telemetry took.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from 'polygateway';

const { url, databaseFile, noteFile, everyMs, calls } = JSON.parse(process.argv[2]);
const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: `${url}/v1`, model: 'm' }] }, telemetryUrl: `sqlite:${databaseFile}` });
const troubles = [];
let lost = 0;
gateway.events$.subscribe((event) => {
  if (event.type === 'round-decided' && noteFile) for (const { id } of event.records) appendFileSync(noteFile, `${id}\n`);
  if (event.type !== 'telemetry-trouble') return;
  troubles.push(event.message);
  lost = event.lost;
});

const answers = [];
while (answers.length < (calls ?? Infinity)) {
  const startMs = performance.now();
  answers.push(gateway.chat({ messages: [{ role: 'user', content: '1' }] }).then(() => performance.now() - startMs, () => Infinity));
  await sleep(everyMs);
}
const slowestMs = Math.max(...(await Promise.all(answers)));
await gateway.close();
process.send({ slowestMs, troubles, lost }, () => process.disconnect());
