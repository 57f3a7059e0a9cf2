import { NEVER, Subject, asyncScheduler, defer, filter, map, merge, mergeMap, startWith, switchMap, takeUntil, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { dueAfter, quietFor } from './quietFor.js';

/** The limit that passed, its value, and the time that was waited. */
export interface Expired {
  readonly limit: 'first' | 'between' | 'total';
  readonly limitMs: number;
  readonly waitedMs: number;
}

/** Limits in milliseconds, and which values they look at. */
export interface LivenessOptions<T> {
  /** Longest wait for the first value that counts; absent: no such limit. */
  readonly firstMs?: number | undefined;
  /** Longest wait after a value that counts; absent: no such limit. */
  readonly betweenMs?: number | undefined;
  /** Longest life of the subscription; absent: no such limit. */
  readonly totalMs?: number | undefined;
  /** Which values are signs of life; default: all. */
  readonly counts?: (value: T) => boolean;
  /** The value from which on no limit holds, until one that counts shows that it goes on; default: none. */
  readonly until?: (value: T) => boolean;
  /** The error to fail with; default: an `Error` named `TimeoutError` with these fields. */
  readonly timeoutError?: (expired: Expired) => unknown;
  /** The one clock; default: RxJS's `asyncScheduler`, which is virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
}

/**
 * Fails when its source is silent for too long, or lives for too long; else it is its source.
 *
 *     source:     --a---b-----------c---|
 *     firstMs:    ----|
 *     betweenMs:        ------|
 *     result:     --a---b-----#
 *
 * A value only notes its time; the timer looks at it when it is due. What comes at the very instant of a limit wins. Fails with
 * `timeoutError(expired)`; errors of the source pass through. Unsubscribing stops timers and source.
 *
 *     value$.pipe(livenessTimeout({ firstMs: 120_000, betweenMs: 30_000, totalMs: 300_000 })).subscribe({ error: console.error });
 */
export function livenessTimeout<T>(options: LivenessOptions<T>): MonoTypeOperatorFunction<T> {
  const { firstMs, betweenMs, totalMs, scheduler = asyncScheduler } = options;
  const { counts = () => true, until = () => false, timeoutError = toTimeoutError } = options;

  return (value$) =>
    defer(() => {
      const startMs = scheduler.now();
      let lastMs = startMs;
      let phase: Phase = 'first';
      // A Subject for the two moments at which another limit begins to hold: nothing else of the stream is multicast.
      const phase$ = new Subject<Phase>();
      const enter = (next: Phase): void => {
        phase = next;
        phase$.next(next);
      };
      const note = (value: T): void => {
        if (until(value)) {
          if (phase !== 'over') enter('over');
        } else if (counts(value)) {
          lastMs = scheduler.now();
          if (phase !== 'between') enter('between');
        }
      };
      const fail = (limit: Expired['limit'], limitMs: number, sinceMs: number): never => {
        throw timeoutError({ limit, limitMs, waitedMs: scheduler.now() - sinceMs });
      };

      const limitOf = (current: Phase): Observable<never> => {
        if (current === 'first' && firstMs !== undefined) {
          return dueAfter(firstMs, scheduler).pipe(map(() => fail('first', firstMs, startMs)));
        }
        if (current === 'between' && betweenMs !== undefined) {
          const leftMs = (): number => lastMs + betweenMs - scheduler.now();
          return quietFor({ leftMs, scheduler }).pipe(map(() => fail('between', betweenMs, lastMs)));
        }
        return NEVER;
      };
      const silent$ = phase$.pipe(startWith(phase), switchMap(limitOf));
      const tooLong$ =
        totalMs === undefined
          ? NEVER
          : dueAfter(totalMs, scheduler).pipe(
              mergeMap(() => phase$.pipe(startWith(phase))),
              filter((current) => current !== 'over'),
              map(() => fail('total', totalMs, startMs)),
            );

      return value$.pipe(tap({ next: note }), takeUntil(merge(silent$, tooLong$)));
    });
}

/** Which limit holds: the one for the first value, the one between values, or none any more. */
type Phase = 'first' | 'between' | 'over';

function toTimeoutError(expired: Expired): Error {
  const { limit, limitMs, waitedMs } = expired;
  return Object.assign(new Error(`waited ${waitedMs} ms, the limit "${limit}" is ${limitMs} ms`), { name: 'TimeoutError', ...expired });
}
