import { EMPTY, catchError, concatMap, defer, exhaustMap, first, map, merge, of, repeat, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { NoneAdmitted } from './admit.js';
import type { Progress } from './progress.js';
import { pollMs } from './retry/backoff.js';
import type { StallClock } from './stallClock.js';
import type { WaitingLine } from './waitingLine.js';

export interface PatienceOptions {
  readonly clock: StallClock;
  readonly progress: Progress;
  readonly stallWindowMs: number;
  /** Makes the error of a call that waited too long. */
  readonly stalled: (stalledMs: number) => unknown;
}

/** Passes while the call may go on waiting: its own stall clock or its scope's progress is within the window (B3). */
export function patience({ clock, progress, stallWindowMs, stalled }: PatienceOptions): Observable<void> {
  return defer(() => {
    if (clock.stalledMs() <= stallWindowMs) return of(undefined);
    return progress.ageMs().pipe(
      map((ageMs) => {
        if (ageMs > stallWindowMs) throw stalled(clock.stalledMs());
      }),
    );
  });
}

export interface WaitOptions<A> {
  /** Tries every runnable source once; fails with `NoneAdmitted`. */
  readonly tryAdmit: () => Observable<A>;
  readonly patience$: Observable<void>;
  /** Throws where this refusal must not be waited for. */
  readonly refuseWait: (refusal: NoneAdmitted) => void;
  readonly line: WaitingLine;
  readonly pollEveryMs: number;
  readonly random: () => number;
  readonly scheduler: SchedulerLike;
}

/**
 * Admits at once, or waits for it: woken when a place comes free (oldest waiter first), else looking again when a gate
 * said so, else polling with jitter (B4).
 */
export function admitWhenRunnable<A>(options: WaitOptions<A>): Observable<A> {
  const { tryAdmit, patience$, refuseWait, line, pollEveryMs, random, scheduler } = options;

  const wait = (refusal: NoneAdmitted): Observable<A> => {
    let latest = refusal;
    const lookInMs = (): number => Math.min(latest.retryAfterMs ?? Infinity, latest.certain ? Infinity : pollMs(pollEveryMs, random));
    const look$ = defer(() => timer(lookInMs(), scheduler)).pipe(repeat());
    const stay = (again: NoneAdmitted): Observable<never> =>
      patience$.pipe(
        concatMap(() => {
          latest = again;
          refuseWait(again);
          return EMPTY;
        }),
      );
    return merge(stay(refusal), merge(line.place$(), look$).pipe(exhaustMap(() => tryAdmit().pipe(catchError(onRefusal(stay)))))).pipe(first());
  };

  return tryAdmit().pipe(catchError(onRefusal(wait)));
}

function onRefusal<B>(then: (refusal: NoneAdmitted) => Observable<B>): (error: unknown) => Observable<B> {
  return (error) => (error instanceof NoneAdmitted ? then(error) : throwError(() => error));
}
