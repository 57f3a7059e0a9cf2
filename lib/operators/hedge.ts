import { EMPTY, NEVER, asyncScheduler, catchError, concat, connect, defer, exhaustMap, mergeMap, of, race, take, takeLast, throwError, timer, map } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { releaseFirst } from './releaseFirst.js';

export type Branch = 'primary' | 'backup';

export interface HedgeOptions<T, S> {
  /** Makes the signal from the primary; each emission asks for a backup. Errors of the primary do not reach it. */
  readonly when: (primary$: Observable<T>) => Observable<S>;
  /** Starts the backup for a signal. Completing without a value: refused, and a later signal may ask again. */
  readonly backup: (signal: S) => Observable<T>;
  /** The one error for two that failed. */
  readonly combine: (failures: { primary: unknown; backup: unknown }) => unknown;
  /** A completion that waits for the other branch while that one lives; default: none. */
  readonly isWeak?: (last: T) => boolean;
  /** Called with the winner right before the loser is unsubscribed. */
  readonly onDecided?: (winner: Branch, last: T) => void;
  readonly scheduler?: SchedulerLike;
}

/**
 * Runs a backup beside a primary that is late; the first to **complete** wins, and its last value is the result.
 *
 *     primary:   --a-----------------------b-|
 *     when:      ----------s
 *     backup:              --x--y-|
 *     result:    -----------------(y|)
 *     primary:   ^----------------!
 *
 * The primary goes on when the backup starts; at the same instant the primary wins. One branch fails while the other
 * runs: its failure is held back. Both fail: `combine`. The primary fails alone: its own error. At most one backup runs,
 * and none after one that failed. The loser is unsubscribed in the turn of the decision, before the result is emitted.
 * Unsubscribing stops both.
 *
 *     ask(a).pipe(hedge({ when: silence({ firstMs: 5_000, betweenMs: 20_000 }), backup: () => ask(b), combine: (e) => e.primary }))
 */
export function hedge<T, S>(options: HedgeOptions<T, S>): MonoTypeOperatorFunction<T> {
  const { when, backup, scheduler = asyncScheduler } = options;
  return (primary$) =>
    defer(() => {
      const contest = openContest(options);
      const backupOn = (signal: S): Observable<T> =>
        concat(
          contest.enter('backup', defer(() => backup(signal)), (last$) => last$.pipe(mergeMap((last) => timer(0, scheduler).pipe(map(() => last))))),
          // Reached only when the backup was empty, which means refused.
          defer(() => contest.refused()),
        );

      return primary$.pipe(
        connect((shared$) =>
          race(
            contest.enter('primary', shared$),
            concat(when(shared$.pipe(catchError(() => EMPTY))).pipe(exhaustMap(backupOn)), NEVER),
          ),
        ),
        take(1),
        releaseFirst(),
      );
    });
}

interface Contest<T> {
  /** Makes a branch silent until it is known that it wins, so that `race` is won by a completion, not by a word. */
  enter(branch: Branch, source$: Observable<T>, delay?: (last$: Observable<T>) => Observable<T>): Observable<T>;
  refused(): Observable<never>;
}

function openContest<T, S>({ combine, isWeak = () => false, onDecided = () => undefined }: HedgeOptions<T, S>): Contest<T> {
  const running = new Set<Branch>();
  const failures = new Map<Branch, unknown>();
  let held: { branch: Branch; last: T } | undefined;

  function decide(branch: Branch, last: T): Observable<T> {
    onDecided(branch, last);
    return of(last);
  }

  function completed(branch: Branch, last: T): Observable<T> {
    running.delete(branch);
    if (!isWeak(last)) return decide(branch, last);
    held ??= { branch, last };
    return ended();
  }

  /** What is left when a branch has ended without winning. */
  function ended(): Observable<T> {
    if (running.size > 0) return NEVER;
    if (held !== undefined) return decide(held.branch, held.last);
    return throwError(() => (failures.size > 1 ? combine({ primary: failures.get('primary'), backup: failures.get('backup') }) : [...failures.values()][0]));
  }

  return {
    enter: (branch, source$, delay = (last$) => last$) =>
      defer(() => {
        running.add(branch);
        return delay(source$.pipe(takeLast(1))).pipe(
          mergeMap((last) => completed(branch, last)),
          catchError((error: unknown) => {
            running.delete(branch);
            failures.set(branch, error);
            return ended();
          }),
        );
      }),
    refused: () => {
      running.delete('backup');
      return running.size > 0 ? EMPTY : (ended() as Observable<never>);
    },
  };
}
