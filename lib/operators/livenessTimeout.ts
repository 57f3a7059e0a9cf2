import { EMPTY, asyncScheduler, defer, ignoreElements, map, merge, takeUntil, tap } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike } from 'rxjs';
import { dueAfter, quietFor } from './quietFor.js';

/** The limit that passed, its value, and the time that was waited. */
export interface Expired {
  readonly limit: 'first' | 'between' | 'total';
  readonly limitMs: number;
  readonly waitedMs: number;
}

export interface LivenessOptions<T> {
  /** Longest wait for the first value that counts; absent: no such limit. */
  readonly firstMs?: number | undefined;
  /** Longest wait after a value that counts; absent: no such limit. */
  readonly betweenMs?: number | undefined;
  /** Longest life of the subscription; absent: no such limit. */
  readonly totalMs?: number | undefined;
  /** Which values are signs of life; default: all. */
  readonly counts?: (value: T) => boolean;
  /** The value from which on no limit holds any more; default: none. */
  readonly until?: (value: T) => boolean;
  /** The error to fail with; default: an `Error` named `TimeoutError` with these fields. */
  readonly timeoutError?: (expired: Expired) => unknown;
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
 * A value only notes its time; the timer looks at it when it is due, and never sooner than a limit can pass. What comes
 * at the very instant of a limit wins. Fails with `timeoutError(expired)`. Unsubscribing stops timers and source.
 *
 *     deltas$.pipe(livenessTimeout({ firstMs: 120_000, betweenMs: 30_000, totalMs: 300_000 }))
 */
export function livenessTimeout<T>(options: LivenessOptions<T>): MonoTypeOperatorFunction<T> {
  const { firstMs, betweenMs, totalMs, scheduler = asyncScheduler } = options;
  const { counts = () => true, until = () => false, timeoutError = toTimeoutError } = options;

  return (value$) =>
    defer(() => {
      const startMs = scheduler.now();
      let lastMs = startMs;
      let seen = false;
      let over = false;
      const note = (value: T): void => {
        if (until(value)) over = true;
        else if (counts(value)) {
          seen = true;
          lastMs = scheduler.now();
        }
      };
      const fail = (limit: Expired['limit'], limitMs = 0, sinceMs: number): never => {
        throw timeoutError({ limit, limitMs, waitedMs: scheduler.now() - sinceMs });
      };

      const silentLeftMs = (): number => {
        const limitMs = seen ? betweenMs : firstMs;
        return over || limitMs === undefined ? Infinity : lastMs + limitMs - scheduler.now();
      };
      // The first value may come at any time and starts the other limit: look often enough to see it pass.
      const lookInMs = (): number => (over || seen ? silentLeftMs() : Math.min(silentLeftMs(), betweenMs ?? Infinity));
      const silent$ = quietFor({ leftMs: silentLeftMs, lookInMs, scheduler }).pipe(
        map(() => (seen ? fail('between', betweenMs, lastMs) : fail('first', firstMs, startMs))),
      );
      const tooLong$ = totalMs === undefined ? EMPTY : dueAfter(totalMs, scheduler).pipe(
        map(() => over || fail('total', totalMs, startMs)),
        ignoreElements(),
      );

      return value$.pipe(tap({ next: note }), takeUntil(merge(silent$, tooLong$)));
    });
}

function toTimeoutError(expired: Expired): Error {
  const { limit, limitMs, waitedMs } = expired;
  return Object.assign(new Error(`waited ${waitedMs} ms, the limit "${limit}" is ${limitMs} ms`), { name: 'TimeoutError', ...expired });
}
