// For each database it is told of: opens a gateway on it, makes one call and closes it.
import { createGateway } from 'polygateway';
import { monotonicScheduler } from '../../../dist/clock/monotonicScheduler.js';
import { scriptedSource } from '../../../dist/sources/scriptedSource.js';

const delta = (value) => ({ atMs: 0, type: 'delta', delta: value });
const scripts = [[delta({ type: 'content', text: 'ok' }), delta({ type: 'finish', reason: 'stop' }), { atMs: 0, type: 'end' }]];

process.send('ready');
process.on('message', async (databaseFile) => {
  const sources = [scriptedSource({ id: 'a/1', scripts, scheduler: monotonicScheduler })];
  const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources, telemetryUrl: `sqlite:${String(databaseFile)}` });
  const troubles = [];
  gateway.events$.subscribe((event) => event.type === 'telemetry-trouble' && troubles.push(event.message));
  await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] });
  await gateway.close();
  process.send(troubles);
});
process.on('disconnect', () => process.exit());
