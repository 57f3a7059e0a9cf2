import { EMPTY, asyncScheduler, catchError, concatMap, connect, defaultIfEmpty, defer, delayWhen, expand, filter, map, merge, mergeMap, of, take, takeLast, tap, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { releaseFirst } from './releaseFirst.js';

export type Branch = 'primary' | 'backup';

export interface HedgeOptions<T, S> {
  /** Makes the signal from the primary; each emission asks for a backup. Errors of the primary do not reach it. */
  readonly when: (primary$: Observable<T>) => Observable<S>;
  /** Starts a backup for a signal. Completing without a value: refused, and a later signal may ask again. */
  readonly backup: (signal: S) => Observable<T>;
  /** Backups in all; default 1. */
  readonly maxBackups?: number;
  /**
   * Makes the signal that one of several attempts has been silent too long, from its start on; a value takes it back. A
   * further backup starts when all that run have given it. Not used for the first backup; default: `when`.
   */
  readonly again?: (attempt$: Observable<T>) => Observable<S>;
  /** The one error for all that failed, if there were several; `backup` is that of the first backup. */
  readonly combine: (failures: { primary: unknown; backup: unknown; backups: readonly unknown[] }) => unknown;
  /** A completion that waits for the other branches while one lives; default: none. */
  readonly isWeak?: (last: T) => boolean;
  /** Called with the winner right before the losers are unsubscribed; not where there is no value to deliver. */
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
 * none after one that failed. With `maxBackups` over 1 all of this holds for several, and each further one starts when all
 * that run have been silent:
 *
 *     first:      --a----------------------------      the primary, until it loses
 *     silent:     ------s-----s------------------      all that run have been silent
 *     second:           --x----------------------      a backup, until it loses
 *     third:                  --y-(z|)                 a further one
 *     winner:     ----------------(z|)
 *
 * The loser is unsubscribed in the turn of the decision, before the result is emitted. What
 * `when`'s signal fails with, or another callback throws, fails the result at once; `backup` throwing is a failed backup.
 * Unsubscribing stops both.
 *
 *     ask(a).pipe(hedge({ when: silence({ firstMs: 5_000, betweenMs: 20_000 }), backup: () => ask(b), combine: (e) => e.primary }))
 */
export function hedge<T, S>(options: HedgeOptions<T, S>): MonoTypeOperatorFunction<T> {
  const { backup, scheduler = asyncScheduler } = options;
  // At the same instant the primary wins: a backup's completion takes one more turn.
  const oneTurnLater = delayWhen<T>(() => timer(0, scheduler));
  return (primary$) =>
    defer(() => {
      const contest = openContest(options);
      const backupOn = (signal: S): Observable<T> => defer(() => backup(signal));
      return contest.enter(primary$).pipe(
        // What a branch wants is started beside it, not within it, so that it outlives the branch.
        expand((event) => (event.type === 'wanted' ? contest.enter(backupOn(event.signal), oneTurnLater) : EMPTY)),
        mergeMap((event) => (event.type === 'decided' ? of(event.result) : EMPTY)),
        take(1),
        concatMap((result) => result),
        releaseFirst(),
      );
    });
}

/** The winner's last value; none when an empty primary is all there was. */
type Result<T> = readonly T[];

type Event<T, S> = { readonly type: 'decided'; readonly result: Result<T> } | { readonly type: 'wanted'; readonly signal: S };

/** One attempt of the contest. */
interface Entrant<S> {
  readonly role: Branch;
  /** It has emitted, or failed: it was not refused. */
  begun: boolean;
  /** Its signal of silence, until its next value. */
  silence: { readonly signal: S } | undefined;
}

interface Contest<T, S> {
  /** Runs the primary first, then backups; silent until it is decided who wins, or until a further backup is wanted. */
  enter(attempt$: Observable<T>, delayed?: MonoTypeOperatorFunction<T>): Observable<Event<T, S>>;
}

function openContest<T, S>(options: HedgeOptions<T, S>): Contest<T, S> {
  const { when, again = when, maxBackups = 1, combine, isWeak = () => false, onDecided = () => undefined } = options;
  const entrants: Entrant<S>[] = [];
  const running = new Set<Entrant<S>>();
  const failures = new Map<Entrant<S>, unknown>();
  let held: { entrant: Entrant<S>; last: T } | undefined;
  let emptyPrimary = false;

  function decide({ role }: Entrant<S>, last: T): Observable<Event<T, S>> {
    onDecided(role, last);
    return of({ type: 'decided', result: [last] });
  }

  /** What is left when an entrant has ended without winning. */
  function ended(): Observable<Event<T, S>> {
    if (running.size > 0) return wantedIfSilent();
    if (held !== undefined) return decide(held.entrant, held.last);
    if (emptyPrimary) return of({ type: 'decided', result: [] });
    const [first] = failures.values();
    return throwError(() => (failures.size > 1 ? combine(told()) : first));
  }

  function told(): { primary: unknown; backup: unknown; backups: unknown[] } {
    const backups = entrants.filter((entrant) => entrant.role === 'backup' && failures.has(entrant)).map((entrant) => failures.get(entrant));
    return { primary: entrants[0] && failures.get(entrants[0]), backup: backups[0], backups };
  }

  function completed(entrant: Entrant<S>, last: T): Observable<Event<T, S>> {
    if (!isWeak(last)) return decide(entrant, last);
    held ??= { entrant, last };
    return ended();
  }

  function failed(entrant: Entrant<S>, error: unknown): Observable<Event<T, S>> {
    entrant.begun = true;
    failures.set(entrant, error);
    return ended();
  }

  /** An empty backup was refused: where others go on, a later signal may ask again. */
  function empty(entrant: Entrant<S>): Observable<Event<T, S>> {
    if (entrant.role === 'primary') emptyPrimary = true;
    else if (running.size > 0) return EMPTY;
    return ended();
  }

  /** None is undecided, and there may be one more. */
  function mayStart(): boolean {
    const backups = entrants.filter(({ role }) => role === 'backup');
    return backups.filter(({ begun }) => begun).length < maxBackups && backups.every((backup) => backup.begun || !running.has(backup));
  }

  function wantedIfSilent(): Observable<Event<T, S>> {
    const silences = [...running].map(({ silence }) => silence);
    const last = silences.at(-1);
    const hedged = entrants.some(({ role, begun }) => role === 'backup' && begun);
    return hedged && last !== undefined && !silences.includes(undefined) && mayStart() ? of({ type: 'wanted', signal: last.signal }) : EMPTY;
  }

  /** The first backup: as the primary alone asks for it. */
  function first(value$: Observable<T>): Observable<Event<T, S>> {
    return when(value$).pipe(
      filter(() => mayStart() && !entrants.some(({ role, begun }) => role === 'backup' && begun)),
      map((signal) => ({ type: 'wanted', signal })),
    );
  }

  function further(entrant: Entrant<S>, value$: Observable<T>): Observable<Event<T, S>> {
    const spoken$ = value$.pipe(tap({ next: () => { entrant.silence = undefined; } }));
    return again(spoken$).pipe(
      mergeMap((signal) => {
        entrant.silence = { signal };
        return wantedIfSilent();
      }),
    );
  }

  function outcome(entrant: Entrant<S>, last$: Observable<T>): Observable<Event<T, S>> {
    return last$.pipe(
      map((last) => () => completed(entrant, last)),
      catchError((error: unknown) => of(() => failed(entrant, error))),
      defaultIfEmpty(() => empty(entrant)),
      // What follows is decided below `catchError`: a callback that throws is no branch's failure.
      mergeMap((follow) => {
        running.delete(entrant);
        return follow();
      }),
    );
  }

  return {
    enter: (attempt$, delayed = (last$) => last$) =>
      defer(() => {
        const entrant: Entrant<S> = { role: entrants.length === 0 ? 'primary' : 'backup', begun: false, silence: undefined };
        entrants.push(entrant);
        running.add(entrant);
        return attempt$.pipe(
          connect((shared$) => {
            const value$ = shared$.pipe(catchError(() => EMPTY));
            return merge(
              outcome(entrant, shared$.pipe(tap({ next: () => { entrant.begun = true; } }), takeLast(1), delayed)),
              entrant.role === 'primary' ? first(value$) : EMPTY,
              maxBackups > 1 ? further(entrant, value$) : EMPTY,
            );
          }),
        );
      }),
  };
}
