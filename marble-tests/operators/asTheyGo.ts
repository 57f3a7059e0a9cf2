import { asyncScheduler, concatMap, expand, from, map, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/**
 * Values that are each scheduled when the one before has come, as a socket's are: `value@wait` in milliseconds, then
 * completion. What is scheduled in advance (`cold`) always comes before a timer of the same instant, and hides the fault
 * of a limit that strikes too early (T4).
 */
export function asTheyGo<T>(steps: readonly (readonly [value: T, afterMs: number])[], scheduler: SchedulerLike = asyncScheduler): Observable<T> {
  return from(steps).pipe(concatMap(([value, afterMs]) => timer(afterMs, scheduler).pipe(map(() => value))));
}

/** 0, 1, 2 … every `everyMs`, each scheduled by the one before it. */
export function ticking(everyMs: number, count: number): Observable<number> {
  const next = (value: number): Observable<number> => timer(everyMs).pipe(map(() => value));
  return next(0).pipe(expand((last) => next(last + 1)), take(count));
}
