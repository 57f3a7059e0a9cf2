import { Observable, Subject, asyncScheduler, defer } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { openArena } from './arena.js';
import { openLineup } from './lineup.js';

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
    new Observable((out) => {
      const contest = openContest(options, out);
      contest.enter(primary$);
      return contest.stop;
    });
}

interface Contest<T> {
  /** Runs the primary, later a backup. */
  enter(this: void, attempt$: Observable<T>): void;
  stop(this: void): void;
}

function openContest<T, S>(options: HedgeOptions<T, S>, out: Subscriber<T>): Contest<T> {
  const { when, again = when, backup, maxBackups = 1, combine, isWeak = () => false, onDecided = () => undefined, scheduler = asyncScheduler } = options;
  const several = maxBackups > 1;
  const lineup = openLineup<S>(maxBackups);
  const failures: unknown[] = [];
  const { all, fail, end, guarded, within } = openArena(out);
  let held: { nth: number; last: T } | undefined;
  let emptyPrimary = false;

  /** A backup runs beside the attempt that has asked for it, and outlives it. */
  function want(signals: readonly S[]): void {
    for (const signal of signals) enter(defer(() => backup(signal)));
  }

  function decide(nth: number, last: T): void {
    onDecided(nth === 0 ? 'primary' : 'backup', last);
    end(() => {
      out.next(last);
      out.complete();
    });
  }

  function completed(nth: number, last: T): void {
    lineup.leave(nth);
    lineup.grant(nth);
    if (!isWeak(last)) {
      decide(nth, last);
      return;
    }
    held ??= { nth, last };
    ended();
  }

  function failed(nth: number, error: unknown): void {
    lineup.leave(nth);
    lineup.grant(nth);
    failures[nth] = error;
    ended();
  }

  /** An empty backup was refused: where others go on, a later signal may ask again. */
  function empty(nth: number): void {
    lineup.leave(nth);
    if (nth > 0 && !lineup.isEmpty()) return;
    emptyPrimary ||= nth === 0;
    ended();
  }

  /** What is left when an attempt has ended without winning. */
  function ended(): void {
    if (!lineup.isEmpty()) want(lineup.furtherWanted());
    else if (held !== undefined) decide(held.nth, held.last);
    else if (emptyPrimary) end(() => out.complete());
    else {
      const [primary, ...backups] = failures;
      fail(backups.length > 0 ? combine({ primary, backup: backups[0], backups }) : primary);
    }
  }

  /** At the same instant the one that started first wins: the completion of the nth backup takes n more turns. */
  function afterTurns(turns: number, follow: () => void): void {
    if (turns === 0) guarded(follow);
    else all.add(scheduler.schedule(() => afterTurns(turns - 1, follow), 0));
  }

  function inTurn(nth: number, follow: () => void): void {
    if (nth > 0) lineup.awaitTurn(nth);
    afterTurns(nth, follow);
  }

  /** The first backup is asked for by the primary alone, a further one by all that run. */
  function listen(nth: number, value$: Observable<T>): void {
    if (nth === 0) {
      all.add(when(value$).subscribe({ next: (signal) => guarded(() => { if (lineup.mayStartFirst()) want([signal]); }), error: fail }));
    }
    if (!several) return;
    const silent = (signal: S): void => {
      lineup.silent(nth, signal);
      want(lineup.furtherWanted());
    };
    all.add(again(value$).subscribe({ next: (signal) => guarded(() => silent(signal)), error: fail }));
  }

  function run(nth: number, attempt$: Observable<T>): void {
    // Nobody else looks at an only backup.
    const value$ = nth === 0 || several ? new Subject<T>() : undefined;
    if (value$ !== undefined) listen(nth, value$);
    let spoken = false;
    let last: T;
    all.add(
      attempt$.subscribe({
        next(value) {
          spoken = true;
          last = value;
          if (several) lineup.spoke(nth);
          value$?.next(value);
        },
        // The signal sees an end.
        error(error: unknown) {
          guarded(() => failed(nth, error));
          value$?.complete();
        },
        complete() {
          if (spoken) inTurn(nth, () => completed(nth, last));
          else guarded(() => empty(nth));
          value$?.complete();
        },
      }),
    );
  }

  function enter(attempt$: Observable<T>): void {
    within(() => run(lineup.enter(), attempt$));
  }

  return { enter, stop: () => all.unsubscribe() };
}
