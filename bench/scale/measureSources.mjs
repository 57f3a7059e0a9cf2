// One gateway with so many sources, in a process of its own; prints a line of JSON.    node --expose-gc measureSources.mjs '{"sources":…,"refusing":…}'
import { writeSync } from 'node:fs';
import { cpuUs } from '../support/processFigures.mjs';
import { importBuilt } from '../support/places.mjs';
import { checkedCall } from '../streams/checkedCall.mjs';

const { sources, refusing, ports, refusingPort, forMs } = JSON.parse(process.argv[2]);
const callsAtOnce = 16;
const [shortDeltas, longDeltas] = [20, 2000];
// Each source is asked at least once, and one failure opens its breaker.
const warmUpCalls = 2 * sources;
const messages = [{ role: 'user', content: 'Say hello.' }];

const { createGateway } = await importBuilt('index.js');
await createGateway({ settings: settings(shortDeltas, 'whole', 2) }).close();
const [createMs, idleKb, short] = await createIdle();
let requests = 0;
short.events$.subscribe(({ type }) => (requests += type === 'attempt-started' ? 1 : 0));
const shortCall = await measure(short, { deltas: shortDeltas, warmUp: warmUpCalls + 300 });
const long = createGateway({ settings: settings(longDeltas, 'batch') });
const longCall = await measure(long, { deltas: longDeltas, warmUp: warmUpCalls + 16 });
await Promise.all([short.close(), long.close()]);
writeSync(1, `${JSON.stringify({ callUs: shortCall.us, requestsPerCall: shortCall.requests, deltaUs: longCall.us / longDeltas, createMs, idleMb: idleKb / 1024, idleKbASource: idleKb / sources })}\n`);
process.exit(0);

/** What a gateway that has not been asked adds to a process that has made one before. */
async function createIdle() {
  const beforeKb = usedKb();
  const startMs = performance.now();
  const gateway = createGateway({ settings: settings(shortDeltas, 'whole') });
  const tookMs = performance.now() - startMs;
  return [tookMs, usedKb() - beforeKb, gateway];
}

function usedKb() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
}

/** Processor time and requests per call, when every breaker that will open has opened. */
async function measure(gateway, { deltas, warmUp }) {
  const one = checkedCall({ call: (_, onText) => stream(gateway, onText), whole: false }, deltas);
  await atOnce(() => one().catch(() => undefined), (begun) => begun < warmUp);
  const endMs = performance.now() + forMs;
  const before = { us: cpuUs(), requests };
  const calls = await atOnce(one, () => performance.now() < endMs);
  return { us: (cpuUs() - before.us) / calls, requests: (requests - before.requests) / calls };
}

function stream(gateway, onText) {
  return new Promise((resolve, reject) => {
    gateway.stream$({ messages }).subscribe({ next: (item) => item.type === 'content' && onText(item.text), error: reject, complete: resolve });
  });
}

async function atOnce(one, goesOn) {
  let begun = 0;
  const caller = async () => {
    while (goesOn(begun)) {
      begun += 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, caller));
  return begun;
}

function settings(deltas, mode, count = sources) {
  const urlOf = (at) => (refusing && at % 2 === 1 ? `http://127.0.0.1:${refusingPort}/v1` : `http://127.0.0.1:${ports[at % ports.length]}/s/${deltas}/${mode}/50/0/v1`);
  const one = (_, at) => ({ provider: `p${at}`, baseUrl: urlOf(at), model: 'mock', apiKey: 'sk-bench', maxConcurrency: 1000, rpm: 1e7, tpm: 1e10 });
  return { scope: 'bench', sources: Array.from({ length: count }, one), selectStrategy: 'round_robin', hedgeAfterS: 20, hedgeStallAfterS: 20, backoffS: 0.01, breakerFailures: 1, breakerCooldownS: 300 };
}
