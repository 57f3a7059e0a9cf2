import { Observable, Subject, Subscription, defer, take } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { openArena } from './arena.js';
import type { Branch } from './hedge.js';

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
    new Observable((out) => {
      const { all, end, fail, guarded, within } = openArena(out);
      const failures = new Map<Branch, unknown>();
      const value$ = new Subject<T>();
      const branches = new Map<Branch, Subscription>();
      let running = 0;
      let spoken: Branch | undefined;

      /** What is left when a branch has ended before any spoke. */
      function ended(): void {
        running -= 1;
        if (running > 0) return;
        const [failure] = failures.values();
        if (failures.size === 2) fail(combine({ primary: failures.get('primary'), backup: failures.get('backup') }));
        else if (failures.size === 0) end(() => out.complete());
        else fail(failure);
      }

      /** From now on it is the result; whatever else there was is over. */
      function commit(branch: Branch): void {
        spoken = branch;
        for (const [name, attempt] of branches) if (name !== branch) attempt.unsubscribe();
        signal.unsubscribe();
      }

      function run(branch: Branch, attempt$: Observable<T>): void {
        const attempt = new Subscription();
        branches.set(branch, attempt);
        all.add(attempt);
        running += 1;
        attempt.add(
          attempt$.subscribe({
            next: (value) => guarded(() => {
              if (speaks(value)) {
                if (spoken === undefined) commit(branch);
                out.next(value);
              } else if (spoken === undefined && branch === 'primary') {
                value$.next(value);
              }
            }),
            error: (error: unknown) => guarded(() => {
              if (spoken === branch) {
                fail(error);
                return;
              }
              failures.set(branch, error);
              ended();
              if (branch === 'primary') value$.complete();
            }),
            complete: () => guarded(() => {
              if (spoken === branch) end(() => out.complete());
              else ended();
              if (branch === 'primary') value$.complete();
            }),
          }),
        );
      }

      const enter = (branch: Branch, attempt$: Observable<T>): void => within(() => run(branch, attempt$));
      const signal = new Subscription();
      all.add(signal);
      guarded(() => {
        const asked$ = when(value$).pipe(take(1));
        enter('primary', primary$);
        if (spoken === undefined) signal.add(asked$.subscribe({ next: (reason) => enter('backup', defer(() => backup(reason))), error: fail }));
      });
      return () => all.unsubscribe();
    });
}
