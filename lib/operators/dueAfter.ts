import { exhaustMap, map, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/** A timer that takes one more turn before it acts, so that what comes at the same instant goes first (T4). */
export function dueAfter(dueMs: number, scheduler: SchedulerLike): Observable<void> {
  return timer(dueMs, scheduler).pipe(
    exhaustMap(() => timer(0, scheduler)),
    map(() => undefined),
  );
}
