import { EMPTY, catchError, concat, defer, finalize, tap, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';

/** How a subscription ended: the source completed, it failed with `error`, or whoever had subscribed left. */
export type Ending = { type: 'completed' } | { type: 'failed'; error: unknown } | { type: 'unsubscribed' };

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
  return (source$) =>
    defer(() => {
      let ending: Ending = { type: 'unsubscribed' };
      const tornDown$ = source$.pipe(
        tap({ complete: () => { ending = { type: 'completed' }; } }),
        catchError((error: unknown) => {
          ending = { type: 'failed', error };
          return EMPTY;
        }),
        finalize(() => {
          try {
            onEnd(ending);
          } catch (error) {
            if (ending.type === 'unsubscribed') throw error;
            ending = { type: 'failed', error };
          }
        }),
      );
      // concat subscribes its second part after the first one's finalizers have run.
      return concat(tornDown$, defer(() => failureOf(ending)));
    });
}

function failureOf(ending: Ending): Observable<never> {
  if (ending.type !== 'failed') return EMPTY;
  const { error } = ending;
  return throwError(() => error);
}
