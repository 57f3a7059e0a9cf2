import { EMPTY, NEVER, catchError, concat, defaultIfEmpty, defer, filter, map, mergeAll, race, share, take, tap, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';

export interface HedgeUntilFirstOptions<T, S> {
  /** Makes the signal from the primary; its first emission asks for the backup. Errors of the primary do not reach it. */
  readonly when: (primary$: Observable<T>) => Observable<S>;
  /** Starts the backup. Completing without a word: refused, and the primary goes on alone. */
  readonly backup: (signal: S) => Observable<T>;
  /** The values that are passed on, the first of which decides; the others are for `when` alone. */
  readonly speaks: (value: T) => boolean;
  /** The one error for both, where both have failed before they spoke. */
  readonly combine: (failures: { primary: unknown; backup: unknown }) => unknown;
}

/**
 * Runs a backup beside a primary that is late; the first to **speak** is the result from then on.
 *
 *     primary:    ------------a--b-|
 *     when:       ------s
 *     backup:           ---x-y--z-|
 *     result:     ---------x-y--z-|
 *     subscribed: ^--------!               to the primary
 *
 * One branch fails before either has spoken: its failure is held back while the other runs. Both: `combine`. Once one has
 * spoken the other is unsubscribed, before the value is passed on, and whatever becomes of the one that spoke is the result,
 * its failure too. A branch that ends without a word and without a failure leaves the result to the other. There is one
 * backup at most, and none after the first word. What `when`'s signal fails with, or another callback throws, fails the
 * result at once; `backup` throwing is a failed backup. Unsubscribing stops both.
 */
export function hedgeUntilFirst<T, S>({ when, backup, speaks, combine }: HedgeUntilFirstOptions<T, S>): MonoTypeOperatorFunction<T> {
  return (primary$) =>
    defer(() => {
      const shared$ = primary$.pipe(share());
      const failures = new Map<'primary' | 'backup', unknown>();
      let running = 0;
      let spoken = false;

      /** What is left when a branch has ended before any spoke. */
      function ended(): Observable<never> {
        running -= 1;
        if (running > 0) return NEVER;
        const [failure] = failures.values();
        if (failures.size === 2) return throwError(() => combine({ primary: failures.get('primary'), backup: failures.get('backup') }));
        return failures.size === 0 ? EMPTY : throwError(() => failure);
      }

      /** Silent until it speaks, since the first word wins the race, and so would the first failure. */
      function contestant(name: 'primary' | 'backup', attempt$: Observable<T>): Observable<T> {
        return defer(() => {
          running += 1;
          const word$ = attempt$.pipe(
            catchError((error: unknown) => {
              if (spoken) return throwError(() => error);
              failures.set(name, error);
              return EMPTY;
            }),
            // Below `catchError`: a callback that throws is no branch's failure.
            filter((value) => speaks(value)),
            tap({ next: () => { spoken = true; } }),
          );
          return concat(word$, defer(() => (spoken ? EMPTY : ended())));
        });
      }

      const signal$ = when(shared$.pipe(catchError(() => EMPTY))).pipe(take(1));
      const hedged$ = signal$.pipe(
        map((signal) => contestant('backup', defer(() => backup(signal)))),
        // No signal: this branch never says anything, and must not win the race by ending.
        defaultIfEmpty(NEVER),
        mergeAll(),
      );
      return race(contestant('primary', shared$), hedged$);
    });
}
