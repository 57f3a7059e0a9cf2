import { EMPTY, NEVER, asyncScheduler, catchError, concat, concatMap, connect, defaultIfEmpty, defer, delayWhen, exhaustMap, map, mergeMap, of, race, take, takeLast, throwError, timer } from 'rxjs';
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
  /** Called with the winner right before the loser is unsubscribed; not where there is no value to deliver. */
  readonly onDecided?: (winner: Branch, last: T) => void;
  readonly scheduler?: SchedulerLike;
}

/**
 * Runs a backup beside a primary that is late; the first to **complete** wins, and its last value is the result.
 *
 *     primary:    --a-----------------------b-|
 *     when:       ----------s
 *     backup:               --x--y-|
 *     result:     -----------------(y|)
 *     subscribed: ^----------------!               to the primary
 *
 * The primary goes on when the backup starts; at the same instant the primary wins. One branch fails while the other
 * runs: its failure is held back. Both fail: `combine`. The primary fails alone: its own error. A primary that completes
 * without a value waits for the backup too, and is the result where that brings nothing. At most one backup runs, and
 * none after one that failed. The loser is unsubscribed in the turn of the decision, before the result is emitted. What
 * `when`'s signal fails with, or another callback throws, fails the result at once; `backup` throwing is a failed backup.
 * Unsubscribing stops both.
 *
 *     ask(a).pipe(hedge({ when: silence({ firstMs: 5_000, betweenMs: 20_000 }), backup: () => ask(b), combine: (e) => e.primary }))
 */
export function hedge<T, S>(options: HedgeOptions<T, S>): MonoTypeOperatorFunction<T> {
  const { when, backup, scheduler = asyncScheduler } = options;
  // At the same instant the primary wins: a backup's completion takes one more turn.
  const oneTurnLater = delayWhen<T>(() => timer(0, scheduler));
  return (primary$) =>
    defer(() => {
      const contest = openContest(options);
      const backupOn = (signal: S): Observable<Result<T>> => contest.enter('backup', defer(() => backup(signal)).pipe(takeLast(1), oneTurnLater));

      return primary$.pipe(
        connect((shared$) =>
          race(
            contest.enter('primary', shared$.pipe(takeLast(1))),
            concat(when(shared$.pipe(catchError(() => EMPTY))).pipe(exhaustMap(backupOn)), NEVER),
          ),
        ),
        take(1),
        concatMap((result) => result),
        releaseFirst(),
      );
    });
}

/** The winner's last value; none when an empty primary is all there was. */
type Result<T> = readonly T[];

interface Contest<T> {
  /** Makes a branch silent until it is known that it wins, so that `race` is won by a completion, not by a word. */
  enter(branch: Branch, last$: Observable<T>): Observable<Result<T>>;
}

function openContest<T, S>({ combine, isWeak = () => false, onDecided = () => undefined }: HedgeOptions<T, S>): Contest<T> {
  const running = new Set<Branch>();
  const failures = new Map<Branch, unknown>();
  let held: { branch: Branch; last: T } | undefined;
  let emptyPrimary = false;

  function decide(branch: Branch, last: T): Observable<Result<T>> {
    onDecided(branch, last);
    return of([last]);
  }

  function completed(branch: Branch, last: T): Observable<Result<T>> {
    if (!isWeak(last)) return decide(branch, last);
    held ??= { branch, last };
    return ended();
  }

  function failed(branch: Branch, error: unknown): Observable<Result<T>> {
    failures.set(branch, error);
    return ended();
  }

  /** An empty backup was refused: where the primary goes on, the next signal may ask again. */
  function empty(branch: Branch): Observable<Result<T>> {
    if (branch === 'backup' && running.has('primary')) return EMPTY;
    emptyPrimary ||= branch === 'primary';
    return ended();
  }

  /** What is left when a branch has ended without winning. */
  function ended(): Observable<Result<T>> {
    if (running.size > 0) return NEVER;
    if (held !== undefined) return decide(held.branch, held.last);
    if (emptyPrimary) return of([]);
    return throwError(() => (failures.size > 1 ? combine({ primary: failures.get('primary'), backup: failures.get('backup') }) : [...failures.values()][0]));
  }

  return {
    enter: (branch, last$) =>
      defer(() => {
        running.add(branch);
        return last$.pipe(
          map((last) => () => completed(branch, last)),
          catchError((error: unknown) => of(() => failed(branch, error))),
          defaultIfEmpty(() => empty(branch)),
          // What follows is decided below `catchError`: a callback that throws is no branch's failure.
          mergeMap((follow) => {
            running.delete(branch);
            return follow();
          }),
        );
      }),
  };
}
