import { EMPTY, concat, defer, filter, of } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';

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
  return (value$) =>
    defer(() => {
      let last: { readonly value: T } | undefined;
      const goesOn = (value: T): boolean => {
        if (!isKept(value)) return true;
        last = { value };
        return false;
      };
      return concat(value$.pipe(filter(goesOn)), defer(() => (last === undefined ? EMPTY : of(last.value))));
    });
}
