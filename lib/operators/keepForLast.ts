import type { MonoTypeOperatorFunction } from 'rxjs';
import { operate } from './operate.js';

/**
 * Passes values on as they come, but for those that `isKept` selects: the last of them comes when the source has completed
 * and is torn down.
 *
 *     source:  -a-K-b-L-c-|        K and L are kept
 *     result:  -a---b---c-(L|)
 *
 * Errors pass through, without what was kept. Unsubscribing unsubscribes.
 */
export function keepForLast<T>(isKept: (value: T) => boolean): MonoTypeOperatorFunction<T> {
  return operate((out, source) => {
    let last: { readonly value: T } | undefined;
    return {
      next(value) {
        if (isKept(value)) last = { value };
        else out.next(value);
      },
      complete() {
        source.unsubscribe();
        if (last !== undefined) out.next(last.value);
        out.complete();
      },
    };
  });
}
