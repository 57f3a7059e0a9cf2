import type { OperatorFunction } from 'rxjs';
import { operate } from './operate.js';

/** How a subscription ended: the source completed, it failed with `error`, or whoever had subscribed left. */
export type Ending = { type: 'completed' } | { type: 'failed'; error: unknown } | { type: 'unsubscribed' };

export interface Conclusion<P, K, R> {
  /** The values that are not passed on; default: none. */
  readonly keeps?: (value: P | K) => value is K;
  /** Called once, with the last value that was kept. */
  readonly conclude: (ending: Ending, kept: K | undefined) => R | undefined;
}

/**
 * Passes values on, but for those that are kept, and concludes when the source has ended and is torn down, but before the end
 * is passed on. What `conclude` returns comes before the completion of a source that has completed.
 *
 *     source:    -a-K-b-|        K is kept
 *     conclude:         *        { type: 'completed' }, K
 *     result:    -a---b-(R|)     R is what it returns
 *
 * If it throws, the result fails with that error; after an unsubscription nobody listens any more: `unsubscribe()` itself
 * throws. Unsubscribing tears the source down, then concludes.
 */
export function concludeWith<P, R = never, K = never>({ keeps, conclude }: Conclusion<P, K, R>): OperatorFunction<P | K, P | R> {
  return operate((out, source) => {
    let kept: K | undefined;
    let concluded = false;

    function end(ending: Ending): R | undefined {
      concluded = true;
      source.unsubscribe();
      return conclude(ending, kept);
    }

    return {
      next(value) {
        if (keeps?.(value) === true) kept = value;
        else out.next(value as P);
      },
      error(error) {
        end({ type: 'failed', error });
        out.error(error);
      },
      complete() {
        const last = end({ type: 'completed' });
        if (last !== undefined) out.next(last);
        out.complete();
      },
      teardown() {
        if (!concluded) conclude({ type: 'unsubscribed' }, kept);
      },
    };
  });
}
