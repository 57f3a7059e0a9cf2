// Two hundred calls of which half would take minutes; closes the gateway when the others are answered, and has nothing left to do.
import { createGateway } from 'polygateway';

const { url, databaseFile } = JSON.parse(process.argv[2]);
const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: `${url}/v1`, model: 'm' }] }, telemetryUrl: `sqlite:${databaseFile}` });
const rows = {};
const troubles = [];
gateway.events$.subscribe((event) => {
  if (event.type === 'attempt-ended') rows[event.record.id] = event.record.errorClass;
  if (event.type === 'telemetry-trouble') troubles.push(event.message);
});
const ends = { answered: 0 };
const calls = Array.from({ length: 200 }, async (_, i) => {
  try {
    await gateway.chat({ messages: [{ role: 'user', content: i % 2 === 0 ? '1' : '10000' }] });
    ends.answered += 1;
  } catch (error) {
    ends[error.name] = (ends[error.name] ?? 0) + 1;
  }
});
while (ends.answered < 100 || gateway.stats().attempts < 100) await new Promise((resolve) => setTimeout(resolve, 1));
await gateway.close();
await Promise.all(calls);
const { calls: callsLeft, attempts, waiters } = gateway.stats();
process.send({ ends, rows, troubles, left: { calls: callsLeft, attempts, waiters }, atMs: Date.now() }, () => process.disconnect());
