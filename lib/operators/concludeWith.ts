import type { OperatorFunction } from 'rxjs';
import { operate } from './operate.js';

/** How a subscription ended: the source completed, it failed with `error`, or whoever had subscribed left. */
export type Ending = { type: 'completed' } | { type: 'failed'; error: unknown } | { type: 'unsubscribed' };

export interface Conclusion<T, K, P, R> {
  /** The values that are not passed on; default: none. */
  readonly keeps?: (value: T | K) => value is K;
  /** What the others are passed on as, `undefined`: not at all; default: as they are. */
  readonly passes?: (value: T) => P | undefined;
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
export function concludeWith<T, R = never, K = never, P = T>({ keeps, passes, conclude }: Conclusion<T, K, P, R>): OperatorFunction<T | K, P | R> {
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
        if (keeps?.(value) === true) {
          kept = value;
          return;
        }
        const passed = passes === undefined ? (value as unknown as P) : passes(value as T);
        if (passed !== undefined) out.next(passed);
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
