import fc from 'fast-check';
import { EMPTY, NEVER, concat, concatMap, defer, endWith, from, map, merge, mergeMap, takeWhile, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

export type End = 'complete' | 'error' | 'never';

/** What a timeline that ends with `error` fails with. */
export const endError = new Error('it broke');

/** When a source speaks and how it ends; `afterMs` counts from what came before. */
export interface Timeline {
  readonly gapsMs: readonly number[];
  readonly end: { readonly type: End; readonly afterMs: number };
}

/**
 * Random timelines in whole milliseconds whose waits stand close to the limits: exactly at one, just before, just after,
 * at once, and bursts that come much faster than 1/32 of a limit.
 */
export function timelines(limitsMs: readonly number[]): fc.Arbitrary<Timeline> {
  const longestMs = Math.max(...limitsMs);
  const near = limitsMs.flatMap((ms) => [Math.max(0, ms - 1), ms, ms + 1, 2 * ms]);
  const waitMs = fc.oneof(
    { arbitrary: fc.constantFrom(0, 1, ...near), weight: 3 },
    { arbitrary: fc.integer({ min: 0, max: Math.max(1, Math.floor(longestMs / 32)) }), weight: 2 },
    { arbitrary: fc.integer({ min: 0, max: longestMs + 2 }), weight: 2 },
  );
  const burst = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 2 })).map(([count, everyMs]) => Array.from({ length: count }, () => everyMs));
  const gapsMs = fc.array(fc.oneof({ arbitrary: waitMs.map((ms) => [ms]), weight: 8 }, { arbitrary: burst, weight: 1 }), { maxLength: 14 });
  return fc.record({
    gapsMs: gapsMs.map((parts) => parts.flat()),
    end: fc.record({ type: fc.constantFrom<End>('complete', 'error', 'never'), afterMs: waitMs }),
  });
}

/** How the steps of a timeline get into the scheduler's queue. */
export type Planning = 'as they go' | 'all in advance';

/** Plays a timeline: emits the time of each value. */
export function play({ gapsMs, end }: Timeline, planning: Planning, scheduler: SchedulerLike): Observable<number> {
  return defer(() => {
    const timesMs = valueTimes(gapsMs);
    const endMs = (timesMs.at(-1) ?? 0) + end.afterMs;
    return planning === 'as they go' ? playAsItGoes(timesMs, endMs, end.type, scheduler) : playPlanned(timesMs, endMs, end.type, scheduler);
  });
}

export function valueTimes(gapsMs: readonly number[]): number[] {
  let atMs = 0;
  return gapsMs.map((gapMs) => (atMs += gapMs));
}

function playAsItGoes(timesMs: readonly number[], endMs: number, end: End, scheduler: SchedulerLike): Observable<number> {
  const wait = (untilMs: number): Observable<unknown> => timer(untilMs - scheduler.now(), scheduler);
  // What comes in one instant comes in one turn, as what is in one packet does.
  const instants = [...new Set(timesMs)].map((atMs) => timesMs.filter((time) => time === atMs));
  const values$ = from(instants).pipe(concatMap((group) => wait(group[0] ?? 0).pipe(mergeMap(() => from(group)))));
  if (end === 'never') return concat(values$, NEVER);
  const end$ = endMs === timesMs.at(-1) ? ending(end) : defer(() => wait(endMs)).pipe(mergeMap(() => ending(end)));
  return concat(values$, end$);
}

function playPlanned(timesMs: readonly number[], endMs: number, end: End, scheduler: SchedulerLike): Observable<number> {
  const values$ = timesMs.map((atMs) => timer(atMs, scheduler).pipe(map(() => atMs)));
  if (end === 'never') return merge(...values$, NEVER);
  const end$ = timer(endMs, scheduler).pipe(mergeMap(() => ending(end)), endWith(null));
  return merge(...values$, end$).pipe(takeWhile((value) => value !== null));
}

function ending(end: End): Observable<never> {
  return end === 'error' ? throwError(() => endError) : EMPTY;
}
