// Calls that come steadily while every source falls silent in mid-stream for a while; prints the load minute by minute as one line of JSON.
import { EMPTY, catchError, concatMap, defer, finalize, from, map, mergeMap, timer } from 'rxjs';
import { importBuilt } from '../../support/places.mjs';
import { openWorkload } from '../workload.mjs';
import { openScheduler } from './openScheduler.mjs';
import { requestFor, timelineSource } from './timelineSource.mjs';

const { createGateway } = await importBuilt('index.js');
const { seed, sources, settings, callsPerS, beforeMs, outageMs, afterMs } = JSON.parse(process.argv[2]);
const minuteMs = 60_000;
const workload = openWorkload({ seed, sources });
const calls = Array.from({ length: ((beforeMs + outageMs + afterMs) / 1000) * callsPerS }, () => workload.next());
const minutes = [];
const load = { sent: 0, open: 0, ok: 0, failed: 0 };

const scheduler = openScheduler();
scheduler.run(() => {
  const { chat$ } = createGateway({ settings: { scope: 'TAIL', ...settings, sources: [] }, sources: sources.map(sourceOf), scheduler, random: () => 1 });
  const ask = (call) =>
    chat$(requestFor(call)).pipe(
      concatMap(() => { load.ok += 1; return EMPTY; }),
      catchError(() => { load.failed += 1; return EMPTY; }),
    );
  from(calls).pipe(concatMap((call) => timer(1000 / callsPerS, scheduler).pipe(map(() => call))), mergeMap(ask)).subscribe();
  noteMinutes();
});
console.log(JSON.stringify(minutes));

function sourceOf(id) {
  const counted = (delta$) =>
    defer(() => {
      load.sent += 1;
      load.open += 1;
      return delta$.pipe(finalize(() => { load.open -= 1; }));
    });
  return timelineSource({ id, callOf: (callId) => calls[callId], scheduler, dueMs: heldByOutage, around: counted });
}

/** The first delta always comes: a source in this outage is silent in the middle. Generation stands still while it lasts. */
function heldByOutage(nowMs, gapMs, nth) {
  const untilMs = beforeMs + outageMs;
  if (nth === 0 || nowMs >= untilMs || nowMs + gapMs < beforeMs) return nowMs + gapMs;
  return untilMs + gapMs - Math.max(0, beforeMs - nowMs);
}

/** Sums of what was sent and ended, and what is open at the end of the minute. */
function noteMinutes() {
  for (let atMs = minuteMs; atMs <= beforeMs + outageMs + afterMs; atMs += minuteMs) {
    scheduler.schedule(() => minutes.push({ minute: atMs / minuteMs, ...load }), atMs);
  }
}
