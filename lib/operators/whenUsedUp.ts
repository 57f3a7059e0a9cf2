import type { SchedulerLike, Subscription, Unsubscribable } from 'rxjs';

interface UsedUp {
  /** Milliseconds that are left; what it is reckoned from may move on meanwhile. */
  readonly leftMs: () => number;
  readonly act: () => void;
  readonly scheduler: SchedulerLike;
}

/**
 * Acts once, when `leftMs()` is used up. The timer is not moved for each sign of life: when it is due it looks how much is
 * left and waits for that (a top-up). What is due takes one more turn on the scheduler and looks again, so that a value of
 * the same instant wins (T4).
 */
export function whenUsedUp({ leftMs, act, scheduler }: UsedUp): Unsubscribable {
  // Each wait is scheduled anew: a clock that is held keeps what is scheduled once, not what schedules itself again.
  const wait = (ms: number): Subscription => scheduler.schedule(look, ms);
  const look = (): void => {
    const ms = leftMs();
    action = ms > 0 ? wait(ms) : scheduler.schedule(lookAgain, 0);
  };
  const lookAgain = (): void => {
    const ms = leftMs();
    if (ms > 0) action = wait(ms);
    else act();
  };
  let action = wait(Math.max(0, leftMs()));
  return { unsubscribe: () => action.unsubscribe() };
}
