// One store, one way for records to arrive, in a process of its own:   node store.mjs STORE ARRIVAL ROWS FILE-OR-URL
//   flat, paced               processor time of a row, flat out or 1,000 a second
//   pausesFlat, pausesPaced   the longest pause of the event loop
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { mainThreadUs, startHeartbeat } from '../mainThread.mjs';
import { cpuUs } from '../../support/processFigures.mjs';
import { sampleRecord } from './sampleRecord.mjs';
import { rowsStored, stores } from './stores.mjs';

const [name, arrival, rowsText, place] = process.argv.slice(2);
const rows = Number(rowsText);
const warmUpRows = 4000;
const inATurn = 20;
const mostWaiting = 5000;
const perMs = 1;
const leastWatchedMs = 2000;
const arrivals = { flat: () => feedFlat(rows), paced: feedPaced, pausesFlat: () => withHeartbeat(dueFlat), pausesPaced: () => withHeartbeat(duePaced) };
let made = 0;

const store = await stores[name](place);
await feedFlat(warmUpRows);
await settled();
globalThis.gc?.();
await sleep(300);

const before = { cpuUs: cpuUs(), mainUs: mainThreadUs(), atMs: performance.now() };
const longestMs = await arrivals[arrival]();
await settled();
const tookMs = performance.now() - before.atMs;
const used = { cpuUs: (cpuUs() - before.cpuUs) / rows, mainUs: (mainThreadUs() - before.mainUs) / rows };
await store.end();
const stored = await rowsStored(name, place);
if (stored !== undefined && stored !== made) throw new Error(`${name} stored ${stored} of ${made} rows in ${place}.`);
console.log(JSON.stringify({ ...used, perS: (1000 * rows) / tookMs, longestMs }));

async function feedFlat(count) {
  for (let left = count; left > 0; left -= inATurn) {
    put(Math.min(inATurn, left));
    await turn();
    while (store.waiting > mostWaiting) await sleep(2);
  }
}

async function feedPaced() {
  const startMs = performance.now();
  for (let given = 0; given < rows; ) {
    await sleep(5);
    const due = Math.min(rows, Math.floor((performance.now() - startMs) * perMs));
    put(due - given);
    given = due;
  }
}

/** Watches the loop from the first record until all is stored, an idle one for as long: the longest pause grows with the time that one looks. */
async function withHeartbeat(dueOf) {
  let given = 0;
  const startMs = performance.now();
  const heartbeat = startHeartbeat((nowMs) => {
    const due = Math.min(rows - given, dueOf(nowMs - startMs, given));
    if (due > 0) put(due);
    given += due;
  });
  while (given < rows || performance.now() - startMs < leastWatchedMs) await sleep(20);
  await settled();
  return heartbeat.stop();
}

function dueFlat() {
  return store.waiting > mostWaiting ? 0 : inATurn;
}

function duePaced(sinceMs, given) {
  return Math.floor(sinceMs * perMs) - given;
}

function put(count) {
  store.put(Array.from({ length: count }, () => sampleRecord((made += 1))));
}

async function settled() {
  while (store.waiting > 0) await sleep(5);
}
