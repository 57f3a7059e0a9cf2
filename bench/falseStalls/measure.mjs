// Opens streams that never fall silent, blocks the loop once, and counts those that are called silent; then the upstream does fall silent.
import { sleep } from '../support/clock.mjs';
import { openAll } from '../support/openAll.mjs';
import { openGateways } from './gateways.mjs';
import { openNaive } from './naive.mjs';
import { places } from './places.mjs';

const patienceMs = 40_000;
const { contestant, place, baseUrl, control, streams, opensPerS, blockMs, silentMs, deltaMs } = JSON.parse(process.argv[2]);
const stalled = new Set();
let onNextDelta;

const { open, counts } = await { polygateway: openGateways, naive: openNaive }[contestant]({ baseUrl, silentMs, onDelta, onStall: (stream) => stalled.add(stream) });
await openAll(streams, opensPerS, open);
await until(() => counts().filter((count) => count >= 4).length === streams, 'Not every stream had four deltas');
const before = total();
await blockOnce();
await sleep(1500);
// Two thirds of what was written meanwhile: none may have been lost by the block.
const least = before + ((streams * blockMs) / deltaMs) * (2 / 3);
await until(() => total() >= least, 'Too few deltas came after the block');
const figures = { deltasAfter: total() - before, upstreamPauseMs: Number(await ask('pause')), falseStalls: countByKind() };

// A watch that was not on finds no false stall either.
stalled.clear();
await ask('silence');
await until(() => stalled.size === streams).catch(() => undefined);
console.log(JSON.stringify({ ...figures, noticed: stalled.size }));
process.exit(0);

function onDelta() {
  const act = onNextDelta;
  onNextDelta = undefined;
  act?.();
}

function blockOnce() {
  return new Promise((resolve) => {
    const block = () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
      resolve();
    };
    places[place](block, (act) => (onNextDelta = act));
  });
}

/** `{ watchdog: 1, hedge: 2 }` */
function countByKind() {
  const kinds = [...stalled].map((name) => name.split(' ')[0]);
  return Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((other) => other === kind).length]));
}

function total() {
  return counts().reduce((sum, count) => sum + count, 0);
}

async function until(holds, otherwise) {
  for (const endMs = performance.now() + patienceMs; !holds(); await sleep(50)) {
    if (performance.now() > endMs) throw new Error(`${otherwise} within ${patienceMs} ms.`);
  }
}

async function ask(what) {
  return (await fetch(`${control}/${what}`)).text();
}
