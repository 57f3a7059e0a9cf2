import { distinctUntilChanged, finalize, tap } from 'rxjs';
import type { Observable, SchedulerAction, SchedulerLike, Subscription } from 'rxjs';

/** A clock that stands still while the reader of an answer can take no more. */
export interface HeldClock {
  readonly clock: SchedulerLike;
  /**
   * What the reader says, for the source: only while one listens, and stops reading, does the clock stand. Its end is the
   * end of holding.
   */
  readonly held$: Observable<boolean>;
}

/**
 * A scheduler for the limits and figures of one attempt: a pause of ours is no silence of the source's. What is due while it
 * stands waits until it goes on, for as long as was left; nothing runs meanwhile. What is due at once is not kept waiting.
 *
 *     told:     f---t-------f-----
 *     the clock:01234       567890
 *     5 ms:     ^------------*
 *
 * For work that is done once, as limits are (T2): what schedules itself again does not wait.
 */
export function heldClock(scheduler: SchedulerLike, told$: Observable<boolean>): HeldClock {
  let stoodMs = 0;
  let sinceMs: number | undefined;
  let waiting: (() => void)[] = [];
  const now = (): number => (sinceMs ?? scheduler.now()) - stoodMs;

  function stand(): void {
    sinceMs ??= scheduler.now();
  }

  function goOn(): void {
    if (sinceMs === undefined) return;
    stoodMs += scheduler.now() - sinceMs;
    sinceMs = undefined;
    const due = waiting;
    waiting = [];
    for (const resume of due) resume();
  }

  function schedule<S>(work: (this: SchedulerAction<S>, state?: S) => void, delayMs = 0, state?: S): Subscription {
    const dueMs = now() + delayMs;
    const lookAgain = function lookAgain(this: SchedulerAction<S>, given?: S): void {
      const leftMs = dueMs - now();
      if (leftMs <= 0) work.call(this, given);
      else if (sinceMs === undefined) this.schedule(given, leftMs);
      else waiting.push(() => this.schedule(given, leftMs));
    };
    return scheduler.schedule(lookAgain, delayMs, state);
  }

  const held$ = told$.pipe(distinctUntilChanged(), tap({ next: (held) => { (held ? stand : goOn)(); } }), finalize(goOn));
  return { clock: { now, schedule }, held$ };
}
