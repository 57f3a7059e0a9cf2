import type { MonoTypeOperatorFunction } from 'rxjs';
import { concludeWith } from './concludeWith.js';
import type { Ending } from './concludeWith.js';

export type { Ending } from './concludeWith.js';

/**
 * `finalize` that is told how it ended, and runs after the source is torn down but **before** the end is passed on, so
 * that what it gives back is free in the subscriber's own handler (RxJS's `finalize` runs after `complete`).
 *
 *     source:   -a-b-|
 *     onEnd:         *        { type: 'completed' }
 *     result:   -a-b-|
 *
 * `onEnd` is called exactly once. If it throws, the result fails with that error; after an unsubscription nobody listens
 * any more: `unsubscribe()` itself throws, and where an operator below unsubscribed (`take`) RxJS drops the error.
 * Unsubscribing tears the source down, then calls `onEnd`.
 *
 *     ask('a').pipe(finalizeWith(({ type }) => console.log('the work has', type))).subscribe(console.log);
 */
export function finalizeWith<T>(onEnd: (ending: Ending) => void): MonoTypeOperatorFunction<T> {
  return concludeWith<T>({
    conclude(ending) {
      onEnd(ending);
      return undefined;
    },
  });
}
