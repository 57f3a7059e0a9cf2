import { EMPTY, Subject, catchError, defer, exhaustMap, filter, finalize, ignoreElements, map, merge, of, switchMap, take, tap, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { NoneAdmitted } from './admit.js';
import type { Progress } from './progress.js';
import { pollMs } from './retry/backoff.js';
import type { StallClock } from './stallClock.js';
import type { Turn, WaitingLine } from './waitingLine.js';

export interface PatienceOptions {
  readonly clock: StallClock;
  readonly progress: Progress;
  readonly stallWindowMs: number;
  /** Makes the error of a call that waited too long. */
  readonly stalled: (stalledMs: number) => unknown;
}

/** What `patience` says without asking anybody: that the call has not waited for long itself. */
export function isPatient({ clock, stallWindowMs }: Pick<PatienceOptions, 'clock' | 'stallWindowMs'>): boolean {
  return clock.stalledMs() <= stallWindowMs;
}

/** Passes while the call may go on waiting: its own stall clock or its scope's progress is within the window (B3). */
export function patience({ clock, progress, stallWindowMs, stalled }: PatienceOptions): Observable<void> {
  return defer(() => {
    if (isPatient({ clock, stallWindowMs })) return of(undefined);
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
  /** How long this caller rests where a source asked for `askedMs`, whoever else is woken; default: just that. */
  readonly pauseMs?: (askedMs: number) => number;
  readonly line: WaitingLine;
  readonly pollEveryMs: number;
  readonly random: () => number;
  readonly scheduler: SchedulerLike;
}

/**
 * Admits at once, or waits for it: woken when a place comes free, else looking again when a gate said so, else polling
 * with jitter; the oldest waiter first (B4). Who knows when asking can help at the earliest is not woken before.
 */
export function admitWhenRunnable<A>(options: WaitOptions<A>): Observable<A> {
  const { tryAdmit, patience$, refuseWait, pauseMs = (askedMs: number) => askedMs, line, pollEveryMs, random, scheduler } = options;
  const { spreadMs = 0 } = line;

  const lookInMs = ({ retryAfterMs = Infinity, notBeforeMs, certain, asked }: NoneAdmitted): number => {
    if (certain) return asked ? pauseMs(notBeforeMs) : notBeforeMs + spreadMs * random();
    return Math.max(notBeforeMs, Math.min(retryAfterMs, pollMs(pollEveryMs, random)));
  };

  const wait = (first: NoneAdmitted): Observable<A> =>
    defer(() => {
      // A Subject, since each refusal, however late a gate gave it, says anew when to look again.
      const lookIn$ = new Subject<number>();
      let restUntilMs = -Infinity;
      let asked = false;
      const look$ = lookIn$.pipe(
        switchMap((inMs) => timer(inMs, scheduler)),
        // What has come free by time belongs to the oldest too; one who is among them has asked then.
        filter(() => {
          asked = false;
          line.advance();
          return !asked;
        }),
        map((): Turn => ({ taken: false })),
      );
      const place$ = line.place$().pipe(
        filter(() => scheduler.now() >= restUntilMs),
        tap({ next: () => { asked = true; } }),
      );
      const stay = (refusal: NoneAdmitted): Observable<never> =>
        patience$.pipe(
          tap({
            next: () => {
              refuseWait(refusal);
              const inMs = lookInMs(refusal);
              // Till then no place that is given back can help, so that a storm of them costs one look each.
              restUntilMs = refusal.certain ? scheduler.now() + inMs : -Infinity;
              lookIn$.next(inMs);
            },
          }),
          ignoreElements(),
        );
      const try$ = merge(place$, look$).pipe(
        exhaustMap((turn) => {
          const end = line.begin === undefined ? nothing : line.begin();
          if (end === undefined) {
            // Another one's answer will tell; this one looks again when it would have been told.
            lookIn$.next(pollMs(pollEveryMs, random));
            return EMPTY;
          }
          turn.taken = true;
          return tryAdmit().pipe(catchError(onRefusal(stay)), finalize(end));
        }),
      );
      return merge(try$, stay(first)).pipe(take(1));
    });

  return defer(tryAdmit).pipe(catchError(onRefusal(wait)));
}

const nothing = (): void => undefined;

function onRefusal<B>(then: (refusal: NoneAdmitted) => Observable<B>): (error: unknown) => Observable<B> {
  return (error) => (error instanceof NoneAdmitted ? then(error) : throwError(() => error));
}
