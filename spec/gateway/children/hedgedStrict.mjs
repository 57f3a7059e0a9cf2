// Losers that reject after they were cancelled, callers that leave, and signals that were aborted before.
import { createGateway } from 'polygateway';
import { Observable } from 'rxjs';
import { setTimeout as sleep } from 'node:timers/promises';

const { urls } = JSON.parse(process.argv[2]);
const request = { messages: [{ role: 'user', content: 'hello' }] };
const ends = {};
const count = (what) => (ends[what] = (ends[what] ?? 0) + 1);

/** A source of promises, as an application may write one; where it is silent, it rejects when it was left. */
function promised(id, text) {
  return {
    id,
    provider: id,
    model: 'm',
    limits: {},
    stream: () =>
      new Observable((subscriber) => {
        let leave;
        const left = new Promise((resolve) => (leave = resolve));
        read(text, left, subscriber).catch((error) => subscriber.error(error));
        return leave;
      }),
  };
}

async function read(text, left, subscriber) {
  await (text === undefined ? left : sleep(5));
  if (text === undefined) {
    await sleep(5 + Math.random() * 45);
    throw new Error('the reader was cancelled');
  }
  subscriber.next({ type: 'content', text });
  subscriber.next({ type: 'finish', reason: 'stop' });
  subscriber.complete();
}

const limits = { hedgeAfterS: 0.4, telemetry: { write: (rows) => rows.forEach(({ error_class: name }) => count(name ?? 'ok')) } };
const gateways = [
  createGateway({ settings: { scope: 'LLM', sources: urls.map((baseUrl, i) => ({ provider: 'ab'[i], baseUrl, model: 'm' })) }, ...limits }),
  createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [promised('a/1'), promised('b/1', 'ok')], ...limits }),
];
for (const { events$ } of gateways) events$.subscribe(({ type }) => type === 'attempt-unsent' && count('unsent'));

const left = Array.from({ length: 20 }, (_, i) => gateways[i % 2].chat$(request).subscribe());
while (gateways.some(({ stats }) => stats().attempts < 10)) await sleep(1);
await sleep(20);
left.forEach((subscription) => subscription.unsubscribe());
const aborted = Array.from({ length: 10 }, (_, i) => gateways[i % 2].chat(request, { signal: AbortSignal.abort('before') }).catch((reason) => reason));
const hedged = Array.from({ length: 100 }, (_, i) => gateways[i % 2].chat(request));

const answers = await Promise.all(hedged);
const reasons = await Promise.all(aborted);
await sleep(150);
await Promise.all(gateways.map(({ close }) => close()));
const { unsent = 0, caller_cancelled: cancelled = 0, ...others } = ends;
const report = { won: answers.filter(({ stats }) => stats.hedgeWon).length, reasons, rows: { ...others, 'left, sent or not': unsent + cancelled } };
process.send(report, () => process.disconnect());
