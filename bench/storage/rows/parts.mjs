// Where the time of a row goes on the main thread, step by step, in a process of its own:   node parts.mjs RUNS
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { importBuilt } from '../../support/places.mjs';
import { median } from '../../support/statistics.mjs';
import { sampleRecord } from './sampleRecord.mjs';
import { recorded } from './stores.mjs';

const [{ toRow }, { rowValues }] = await Promise.all(['attemptRow', 'schema'].map((name) => importBuilt(`telemetry/${name}.js`)));
const rowsInARun = 1000;
const rowsInABatch = 100;
const wall = () => ({ nowMs: performance.now(), date: new Date(), pid: process.pid, host: 'here' });
const records = Array.from({ length: rowsInARun }, (_, number) => sampleRecord(number));
const rows = records.map((record) => toRow(record, wall()));
const batches = Array.from({ length: rowsInARun / rowsInABatch }, (_, at) => rows.slice(at * rowsInABatch, (at + 1) * rowsInABatch));
const listener = new Worker("require('node:worker_threads').parentPort.on('message', () => undefined);", { eval: true });
await once(listener, 'online');
const recorder = await recorded({ write: () => undefined });
let kept;

const steps = {
  'row of the record': () => { for (const record of records) kept = toRow(record, wall()); },
  'row, batches, no database': () => recorder.put(records),
  'values of the row': () => { for (const row of rows) kept = rowValues(row); },
  'values, handed to a thread': () => { for (const batch of batches) listener.postMessage({ type: 'write', id: 1, rows: batch.map(rowValues) }); },
  'instead: objects handed to a thread': () => { for (const batch of batches) listener.postMessage({ type: 'write', id: 1, rows: batch }); },
  'instead: JSON handed to a thread': () => { for (const batch of batches) listener.postMessage(JSON.stringify(batch.map(rowValues))); },
};
const taken = Object.fromEntries(Object.keys(steps).map((name) => [name, []]));
for (let run = 0; run < Number(process.argv[2]); run += 1) {
  for (const [name, step] of Object.entries(steps)) {
    const startMs = performance.now();
    step();
    taken[name].push(((performance.now() - startMs) * 1000) / rowsInARun);
    // The thread reads what it was handed meanwhile.
    await sleep(5);
  }
}
await recorder.end();
if (kept === undefined) throw new Error('No row was made.');
console.log(JSON.stringify(Object.fromEntries(Object.entries(taken).map(([name, list]) => [name, { us: median(list), leastUs: Math.min(...list) }]))));
process.exit();
