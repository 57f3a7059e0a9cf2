import { EMPTY, asyncScheduler, catchError, concatMap, connect, defaultIfEmpty, defer, delayWhen, expand, filter, from, identity, map, merge, mergeMap, of, repeat, skip, take, takeLast, tap, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { openLineup } from './lineup.js';
import { releaseFirst } from './releaseFirst.js';

/** Which attempt has won: the one that was first, or one that was started beside it. */
export type Branch = 'primary' | 'backup';

/** When a backup is wanted, what it is, and what becomes of failures. */
export interface HedgeOptions<T, S> {
  /** Makes the signal from the primary; each emission asks for a backup. Errors of the primary do not reach it. */
  readonly when: (primary$: Observable<T>) => Observable<S>;
  /** Starts a backup for a signal. Completing without a value: refused, and a later signal may ask again. */
  readonly backup: (signal: S) => Observable<T>;
  /** Backups that may run in all, failed ones included and refused ones not; default 1. */
  readonly maxBackups?: number;
  /**
   * Makes, for each attempt from its start on, the signal that it has been silent too long; its next value takes the
   * signal back. Asks for the second backup and those after it, not for the first; default: `when`.
   */
  readonly again?: (attempt$: Observable<T>) => Observable<S>;
  /** The one error for all that failed, if a backup was among them. `backup` is the first of `backups`, which are in order of start. */
  readonly combine: (failures: { primary: unknown; backup: unknown; backups: readonly unknown[] }) => unknown;
  /** A completion that waits for the other branches while one lives; default: none. */
  readonly isWeak?: (last: T) => boolean;
  /** Called with the winner right before the losers are unsubscribed; not where there is no value to deliver; default: nobody is told. */
  readonly onDecided?: (winner: Branch, last: T) => void;
  /** The one clock; default: RxJS's `asyncScheduler`, which is virtual inside `TestScheduler.run`. */
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
 * With `maxBackups` over 1 the same holds for several. A further one starts when every attempt that still runs has been
 * silent too long since its own last value, also because the one that was not silent has ended:
 *
 *     the primary:    --a------------------d--|
 *     it is silent:   ------s
 *     first backup:         --x-----------------y-|
 *     all are silent: ------------s
 *     second backup:              --y-z-|
 *     the result:     ------------------(z|)
 *
 * None is asked for while it is unknown whether one is refused. At the same instant the one that started first wins.
 *
 *     const when = silence({ firstMs: 5_000, betweenMs: 20_000 });
 *     ask('a').pipe(hedge({ when, backup: () => ask('b'), combine: ({ primary }) => primary })).subscribe(console.log);
 */
export function hedge<T, S>(options: HedgeOptions<T, S>): MonoTypeOperatorFunction<T> {
  return (primary$) =>
    defer(() => {
      const contest = openContest(options);
      const backupOn = (signal: S): Observable<T> => defer(() => options.backup(signal));

      return contest.enter(primary$).pipe(
        // A backup runs beside the attempt that has asked for it, and outlives it.
        expand((step) => (step.type === 'wanted' ? contest.enter(backupOn(step.signal)) : EMPTY)),
        filter((step) => step.type === 'decided'),
        take(1),
        concatMap(({ result }) => result),
        releaseFirst(),
      );
    });
}

/** `result`: the winner's last value; none when an empty primary is all there was. */
type Step<T, S> = { readonly type: 'wanted'; readonly signal: S } | { readonly type: 'decided'; readonly result: readonly T[] };

interface Contest<T, S> {
  /** Runs the primary, later a backup; silent but for a backup that is wanted, until it is known who wins. */
  enter(attempt$: Observable<T>): Observable<Step<T, S>>;
}

function openContest<T, S>(options: HedgeOptions<T, S>): Contest<T, S> {
  const { when, again = when, maxBackups = 1, combine, isWeak = () => false, onDecided = () => undefined, scheduler = asyncScheduler } = options;
  const several = maxBackups > 1;
  const lineup = openLineup<S>(maxBackups);
  const failures: unknown[] = [];
  let held: { nth: number; last: T } | undefined;
  let emptyPrimary = false;

  function wanted(signals: readonly S[]): Observable<Step<T, S>> {
    return from(signals).pipe(map((signal) => ({ type: 'wanted', signal })));
  }

  function decide(nth: number, last: T): Observable<Step<T, S>> {
    onDecided(nth === 0 ? 'primary' : 'backup', last);
    return of({ type: 'decided', result: [last] });
  }

  function completed(nth: number, last: T): Observable<Step<T, S>> {
    lineup.grant(nth);
    if (!isWeak(last)) return decide(nth, last);
    held ??= { nth, last };
    return ended();
  }

  function failed(nth: number, error: unknown): Observable<Step<T, S>> {
    lineup.grant(nth);
    failures[nth] = error;
    return ended();
  }

  /** An empty backup was refused: where others go on, a later signal may ask again. */
  function empty(nth: number): Observable<Step<T, S>> {
    if (nth > 0 && !lineup.isEmpty()) return EMPTY;
    emptyPrimary ||= nth === 0;
    return ended();
  }

  /** What is left when an attempt has ended without winning. */
  function ended(): Observable<Step<T, S>> {
    if (!lineup.isEmpty()) return wanted(lineup.furtherWanted());
    if (held !== undefined) return decide(held.nth, held.last);
    if (emptyPrimary) return of({ type: 'decided', result: [] });
    const [primary, ...backups] = failures;
    return throwError(() => (backups.length > 0 ? combine({ primary, backup: backups[0], backups }) : primary));
  }

  /** At the same instant the one that started first wins: the completion of the nth backup takes n more turns. */
  function inTurn(nth: number): MonoTypeOperatorFunction<T> {
    if (nth === 0) return identity;
    return delayWhen(() => {
      lineup.awaitTurn(nth);
      return timer(0, scheduler).pipe(repeat(nth), skip(nth - 1));
    });
  }

  function outcome(nth: number, attempt$: Observable<T>): Observable<Step<T, S>> {
    return attempt$.pipe(
      several ? tap({ next: () => lineup.spoke(nth) }) : identity,
      takeLast(1),
      inTurn(nth),
      map((last) => () => completed(nth, last)),
      catchError((error: unknown) => of(() => failed(nth, error))),
      defaultIfEmpty(() => empty(nth)),
      // What follows is decided below `catchError`: a callback that throws is no branch's failure.
      mergeMap((follow) => {
        lineup.leave(nth);
        return follow();
      }),
    );
  }

  /** The first backup is asked for by the primary alone, a further one by all that run. */
  function asks(nth: number, value$: Observable<T>): Observable<Step<T, S>> {
    const first$ = nth === 0 ? when(value$).pipe(mergeMap((signal) => wanted(lineup.mayStartFirst() ? [signal] : []))) : EMPTY;
    if (!several) return first$;
    const further$ = again(value$).pipe(
      tap({ next: (signal) => lineup.silent(nth, signal) }),
      mergeMap(() => wanted(lineup.furtherWanted())),
    );
    return merge(first$, further$);
  }

  return {
    enter: (attempt$) =>
      defer(() => {
        const nth = lineup.enter();
        // Nobody else looks at an only backup.
        if (nth > 0 && !several) return outcome(nth, attempt$);
        return attempt$.pipe(connect((shared$) => merge(outcome(nth, shared$), asks(nth, shared$.pipe(catchError(() => EMPTY))))));
      }),
  };
}
