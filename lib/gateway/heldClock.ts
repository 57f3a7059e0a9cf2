import { distinctUntilChanged, finalize, tap } from 'rxjs';
import type { Observable, SchedulerAction, SchedulerLike, Subscription } from 'rxjs';

/** A clock that stands still while the reader of an answer can take no more. */
export interface HeldClock {
  readonly clock: SchedulerLike;
  /** What the reader says, for the source: only while it listens, and stops reading, does the clock stand. */
  readonly held$: Observable<boolean>;
}

/**
 * A scheduler for the limits and figures of one attempt: a pause of ours is no silence of the source's. What is due while it
 * stands waits until it goes on, for as long as was left.
 */
export function heldClock(scheduler: SchedulerLike, told$: Observable<boolean>): HeldClock {
  let stoodMs = 0;
  let sinceMs: number | undefined;
  let resume: (() => void)[] = [];
  const now = (): number => (sinceMs ?? scheduler.now()) - stoodMs;

  function set(held: boolean): void {
    if (held) {
      sinceMs = scheduler.now();
      return;
    }
    stoodMs += sinceMs === undefined ? 0 : scheduler.now() - sinceMs;
    sinceMs = undefined;
    const waiting = resume;
    resume = [];
    for (const goOn of waiting) goOn();
  }

  function schedule<S>(work: (this: SchedulerAction<S>, state?: S) => void, delayMs = 0, state?: S): Subscription {
    // A turn is no time, so that it need not wait.
    if (delayMs <= 0) return scheduler.schedule(work, delayMs, state);
    const dueMs = now() + delayMs;
    const lookAgain = function lookAgain(this: SchedulerAction<S>, given?: S): void {
      const leftMs = dueMs - now();
      if (leftMs <= 0) work.call(this, given);
      else if (sinceMs === undefined) this.schedule(given, leftMs);
      else resume.push(() => this.schedule(given, leftMs));
    };
    return scheduler.schedule(lookAgain, delayMs, state);
  }

  return { clock: { now, schedule }, held$: told$.pipe(distinctUntilChanged(), tap({ next: set }), finalize(() => set(false))) };
}
