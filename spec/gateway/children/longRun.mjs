// Many calls of every kind, each gateway's on one signal that outlives them all; tells what is left of them.
import { getHeapSpaceStatistics } from 'node:v8';
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { TransientError, createGateway } from 'polygateway';
import { config } from 'rxjs';
import { monotonicScheduler } from '../../../dist/clock/monotonicScheduler.js';
import { scriptedSource } from '../../../dist/sources/scriptedSource.js';

const { urls, databaseFile, batches } = JSON.parse(process.argv[2]);
// Sources that break so often would be rested by their breakers most of the time.
const limits = { breakerFailures: 1e6, breakerMinCalls: 1e6, hedgeStallAfterS: 0.05, maxAttempts: 2, backoffS: 0.001 };
const counts = {};
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
const warnings = [];
process.on('warning', ({ message }) => warnings.push(message));
config.onUnhandledError = (error) => count(error.message);

const lanes = [openLane(scriptedGateway(), batches.scripted), openLane(socketGateway(), batches.onSockets)];
const listenersBefore = processListeners();
const heapMb = [];
for (const share of [1 / 3, 1]) {
  await Promise.all(lanes.map((lane) => lane.runTo(share)));
  heapMb.push(await heapAtRest());
}
const toldBefore = total();
lanes.forEach(({ abort }) => abort());
await sleep(0);
const report = {
  counts,
  heapMb,
  warnings,
  toldByAbort: total() - toldBefore,
  lanes: lanes.map(({ listeners, rows, gateway }) => ({ listeners, rows: rows(), stats: gateway.stats() })),
  processListeners: { before: listenersBefore, after: processListeners() },
};
await Promise.all(lanes.map(({ gateway }) => gateway.close()));
process.send(report, () => process.disconnect());

function openLane(gateway, batchesInAll) {
  const owner = new AbortController();
  const { signal } = owner;
  const listeners = { most: 0, left: 0 };
  const leaving = new Map();
  let rows = 0;
  let run = 0;
  gateway.events$.subscribe((event) => {
    if (event.type === 'attempt-ended') rows += 1;
    if (event.type === 'attempt-started') leaving.get(event.callId)?.();
    countEvent(event);
  });

  /** Of twenty callers one leaves at once, one when its request is on its way, and one throws when it gets its answer. */
  function call(i) {
    const place = i % 20;
    return new Promise((resolve) => {
      let callId;
      const started = gateway.events$.subscribe((event) => event.type === 'call-started' && (callId ??= event.callId));
      const subscription = gateway.chat$({ messages: [{ role: 'user', content: 'hello' }] }, { signal }).subscribe({
        next: () => {
          count('answered');
          if (place === 19) throw new Error('thrown by the caller');
        },
        error: () => count('failed'),
      });
      started.unsubscribe();
      subscription.add(() => leaving.delete(callId));
      subscription.add(resolve);
      if (place === 0) subscription.unsubscribe();
      if (place === 1) leaving.set(callId, () => setTimeout(() => subscription.unsubscribe(), 3));
    });
  }

  return {
    gateway,
    listeners,
    rows: () => rows,
    abort: () => owner.abort(),
    async runTo(share) {
      for (; run < Math.round(batchesInAll * share); run += 1) {
        // A hundred at a time, five each.
        const callers = Array.from({ length: 100 }, async (_, caller) => {
          for (let i = 0; i < 5; i += 1) await call(caller + i);
        });
        listeners.most = Math.max(listeners.most, getEventListeners(signal, 'abort').length);
        await Promise.all(callers);
        listeners.left = Math.max(listeners.left, getEventListeners(signal, 'abort').length);
      }
    },
  };
}

function socketGateway() {
  const sources = urls.map((baseUrl, i) => ({ provider: 'ab'[i], baseUrl, model: 'm', ttftTimeoutS: 0.4, interTokenTimeoutS: 0.8 }));
  return createGateway({ settings: { scope: 'LLM', sources }, telemetryUrl: `sqlite:${databaseFile}`, ...limits });
}

/** The first source ends well in six of ten requests; the second one breaks at times too. */
function scriptedGateway() {
  const delta = (text) => ({ atMs: 5, type: 'delta', delta: { type: 'content', text } });
  const ok = [delta('ok'), { atMs: 5, type: 'delta', delta: { type: 'finish', reason: 'stop' } }, { atMs: 5, type: 'end' }];
  const broken = [delta('half'), { atMs: 6, type: 'error', get error() { return new TransientError('it broke'); } }];
  const kinds = { ok, broken, silent: [delta('half')], dead: [] };
  const source = (id, names) => {
    const made = names.map((name) => scriptedSource({ id, scripts: [kinds[name]], scheduler: monotonicScheduler }));
    let asked = 0;
    return {
      ...made[0],
      limits: { ttftTimeoutMs: 120, interTokenTimeoutMs: 240 },
      stream: (request, context) => {
        const next = made[asked++ % made.length];
        next.requests.length = 0;
        return next.stream(request, context);
      },
    };
  };
  const sources = [source('a/1', ['ok', 'ok', 'broken', 'ok', 'silent', 'ok', 'ok', 'dead', 'ok', 'broken']), source('b/1', ['ok', 'ok', 'broken'])];
  return createGateway({ settings: { scope: 'LLM', sources: [] }, sources, telemetry: { write: () => undefined }, ...limits });
}

function countEvent(event) {
  if (event.type === 'retry-scheduled') count('retry');
  if (event.type !== 'attempt-ended') return;
  const { errorClass, role, errorMessage } = event.record;
  count(`row ${errorClass ?? 'ok'}`);
  if (role === 'backup') count('backup');
  if (/fell silent/.test(errorMessage)) count('killed by the watchdog');
}

function total() {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function processListeners() {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
}

/** Connections linger a moment after an answer, and rows are written in batches. */
async function heapAtRest() {
  await sleep(500);
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc();
    await sleep(10);
  }
  // Without machine code, of which there is more the longer a process runs.
  return getHeapSpaceStatistics().filter(({ space_name: name }) => !name.includes('code')).reduce((sum, { space_used_size: used }) => sum + used, 0) / 2 ** 20;
}
