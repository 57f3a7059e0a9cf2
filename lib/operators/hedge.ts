import { Observable, Subject, asyncScheduler, defer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observer, SchedulerLike, Subscriber } from 'rxjs';
import { Arena } from './arena.js';
import { openLineup } from './lineup.js';
import type { Lineup } from './lineup.js';

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
      const contest = new Contest(options, out);
      contest.enter(primary$);
      return contest.all;
    });
}

class Contest<T, S> extends Arena<T> {
  readonly several: boolean;
  readonly lineup: Lineup<S>;
  private failures: unknown[] | undefined;
  private held: { readonly nth: number; readonly last: T } | undefined;
  private emptyPrimary = false;
  private readonly options: HedgeOptions<T, S>;

  constructor(options: HedgeOptions<T, S>, out: Subscriber<T>) {
    super(out);
    const { maxBackups = 1 } = options;
    this.options = options;
    this.several = maxBackups > 1;
    this.lineup = openLineup<S>(maxBackups);
  }

  /** Runs the primary, later a backup. */
  enter(attempt$: Observable<T>): void {
    this.within(() => {
      const nth = this.lineup.enter();
      // Nobody else looks at an only backup.
      const value$ = nth === 0 || this.several ? new Subject<T>() : undefined;
      if (value$ !== undefined) this.listen(nth, value$);
      this.all.add(attempt$.subscribe(new Attempt(nth, this, value$)));
    });
  }

  /** At the same instant the one that started first wins: the completion of the nth backup takes n more turns. */
  inTurn(nth: number, follow: () => void): void {
    if (nth > 0) this.lineup.awaitTurn(nth);
    this.afterTurns(nth, follow);
  }

  completed(nth: number, last: T): void {
    this.lineup.leave(nth);
    this.lineup.grant(nth);
    if (this.options.isWeak?.(last) !== true) {
      this.decide(nth, last);
      return;
    }
    this.held ??= { nth, last };
    this.ended();
  }

  failed(nth: number, error: unknown): void {
    this.lineup.leave(nth);
    this.lineup.grant(nth);
    (this.failures ??= [])[nth] = error;
    this.ended();
  }

  /** An empty backup was refused: where others go on, a later signal may ask again. */
  empty(nth: number): void {
    this.lineup.leave(nth);
    if (nth > 0 && !this.lineup.isEmpty()) return;
    this.emptyPrimary ||= nth === 0;
    this.ended();
  }

  /** The first backup is asked for by the primary alone, a further one by all that run. */
  private listen(nth: number, value$: Observable<T>): void {
    const { when, again = when } = this.options;
    if (nth === 0) this.hear(when(value$), (signal) => { if (this.lineup.mayStartFirst()) this.want([signal]); });
    if (!this.several) return;
    this.hear(again(value$), (signal) => {
      this.lineup.silent(nth, signal);
      this.want(this.lineup.furtherWanted());
    });
  }

  private hear(signal$: Observable<S>, act: (signal: S) => void): void {
    this.all.add(signal$.subscribe({ next: (signal) => this.guarded(() => act(signal)), error: (error: unknown) => this.fail(error) }));
  }

  /** A backup runs beside the attempt that has asked for it, and outlives it. */
  private want(signals: readonly S[]): void {
    for (const signal of signals) this.enter(defer(() => this.options.backup(signal)));
  }

  private decide(nth: number, last: T): void {
    this.options.onDecided?.(nth === 0 ? 'primary' : 'backup', last);
    this.end(() => {
      this.out.next(last);
      this.out.complete();
    });
  }

  /** What is left when an attempt has ended without winning. */
  private ended(): void {
    if (!this.lineup.isEmpty()) this.want(this.lineup.furtherWanted());
    else if (this.held !== undefined) this.decide(this.held.nth, this.held.last);
    else if (this.emptyPrimary) this.end(() => this.out.complete());
    else {
      const [primary, ...backups] = this.failures ?? [];
      this.fail(backups.length > 0 ? this.options.combine({ primary, backup: backups[0], backups }) : primary);
    }
  }

  private afterTurns(turns: number, follow: () => void): void {
    const { scheduler = asyncScheduler } = this.options;
    if (turns === 0) this.guarded(follow);
    else this.all.add(scheduler.schedule(() => this.afterTurns(turns - 1, follow), 0));
  }
}

/** What a contest hears of one attempt. */
class Attempt<T, S> implements Observer<T> {
  private readonly value$: Subject<T> | undefined;
  private spoken = false;
  private last: T | undefined;
  private readonly nth: number;
  private readonly contest: Contest<T, S>;

  constructor(nth: number, contest: Contest<T, S>, value$: Subject<T> | undefined) {
    this.nth = nth;
    this.contest = contest;
    this.value$ = value$;
  }

  next(value: T): void {
    this.spoken = true;
    this.last = value;
    if (this.contest.several) this.contest.lineup.spoke(this.nth);
    this.value$?.next(value);
  }

  error(error: unknown): void {
    this.contest.guarded(() => this.contest.failed(this.nth, error));
    // The signal sees an end.
    this.value$?.complete();
  }

  complete(): void {
    const { nth, contest } = this;
    if (this.spoken) contest.inTurn(nth, () => contest.completed(nth, this.last as T));
    else contest.guarded(() => contest.empty(nth));
    this.value$?.complete();
  }
}
