import { Subscription, subscribeOn } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerAction, SchedulerLike } from 'rxjs';

/**
 * Subscribes to the source inside `run`, such as in a context of asynchronous work, and in the same turn.
 *
 *     source:  -a-b-|
 *     result:  -a-b-|
 *
 * `run` must call what it is given, once. Values, errors and completion pass through; unsubscribing unsubscribes.
 */
export function subscribeWithin<T>(run: (subscribe: () => void) => void): MonoTypeOperatorFunction<T> {
  return subscribeOn(atOnce(run));
}

/** A scheduler that does not wait: the operator looks neither at the action nor at the time. */
function atOnce(run: (work: () => void) => void): SchedulerLike {
  return {
    now: () => 0,
    schedule<S>(work: (this: SchedulerAction<S>, state: S) => void, _delayMs?: number, state?: S) {
      run(() => { work.call(Subscription.EMPTY as SchedulerAction<S>, state as S); });
      return Subscription.EMPTY;
    },
  };
}
