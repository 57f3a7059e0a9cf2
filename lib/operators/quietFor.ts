import { defer, exhaustMap, filter, map, repeat, take, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

interface Quiet {
  /** What is left until it was quiet for too long. */
  readonly leftMs: () => number;
  readonly scheduler: SchedulerLike;
}

/**
 * Emits once, when `leftMs()` is used up, and completes. The timer is not moved for each sign of life: when it is due
 * it looks how much is left and waits for that (a top-up). What is due takes one more turn on the scheduler and looks
 * again, so that a value of the same instant wins (T4).
 */
export function quietFor({ leftMs, scheduler }: Quiet): Observable<void> {
  const usedUp = (): boolean => leftMs() <= 0;
  return defer(() => timer(Math.max(0, leftMs()), scheduler)).pipe(
    repeat(),
    filter(usedUp),
    exhaustMap(() => timer(0, scheduler)),
    filter(usedUp),
    map(() => undefined),
    take(1),
  );
}

/** A timer that takes one more turn before it acts, so that what comes at the same instant goes first (T4). */
export function dueAfter(dueMs: number, scheduler: SchedulerLike): Observable<void> {
  return timer(dueMs, scheduler).pipe(
    exhaustMap(() => timer(0, scheduler)),
    map(() => undefined),
  );
}
