// One process of a fleet: a gateway that makes calls until its time is over, flat out or at a rate.    node processWorker.mjs '{"baseUrl":…,"forMs":…}'
import { sleep } from '../support/clock.mjs';
import { importBuilt } from '../support/places.mjs';
import { cpuUs } from '../support/processFigures.mjs';
import { contentOf } from '../streams/upstream/frames.mjs';

const { baseUrl, backendUrl, forMs, callsPerS, atOnce = 1, maxConcurrency = 100_000 } = JSON.parse(process.argv[2]);
const warmUpCalls = 40;
const expected = contentOf(20);
const messages = [{ role: 'user', content: 'Say hello.' }];

const { createGateway } = await importBuilt('index.js');
const source = { provider: 'shared', baseUrl, model: 'mock', apiKey: 'sk-bench', maxConcurrency, rpm: 1e7, tpm: 1e10 };
const gateway = createGateway({ settings: { scope: 'bench', sources: [source], ...(backendUrl && { backendUrl }) } });
const tookMs = [];

// Stays open, so that the process and its connections are there until they are looked at.
process.on('message', () => void tell(measured));
await tell(async () => {
  for (let at = 0; at < warmUpCalls; at += 1) await call();
  return {};
});

async function measured() {
  tookMs.length = 0;
  const beforeUs = cpuUs();
  await (callsPerS === undefined ? flatOut() : paced());
  return { tookMs, cpuUs: cpuUs() - beforeUs };
}

async function flatOut() {
  const endMs = performance.now() + forMs;
  const caller = async () => {
    while (performance.now() < endMs) await call();
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

/** By absolute times, so that slow answers do not lower the rate; from a random moment, so that processes do not go in step. */
async function paced() {
  const startMs = performance.now() + (Math.random() * 1000) / callsPerS;
  const calls = Array.from({ length: Math.floor((forMs / 1000) * callsPerS) }, async (_, at) => {
    await sleep(startMs + (at * 1000) / callsPerS - performance.now());
    return call();
  });
  await Promise.all(calls);
}

async function call() {
  const startMs = performance.now();
  const { content } = await gateway.chat({ messages });
  if (content !== expected) throw new Error(`The content is not what was sent: ${content.length} characters instead of ${expected.length}.`);
  tookMs.push(performance.now() - startMs);
}

async function tell(work) {
  process.send(await work().catch((error) => ({ error: `${error.code ?? error.name}: ${error.message}` })));
}
