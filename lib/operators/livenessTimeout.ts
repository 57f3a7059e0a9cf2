import { asyncScheduler } from 'rxjs';
import type { MonoTypeOperatorFunction, SchedulerLike, Unsubscribable } from 'rxjs';
import { operate } from './operate.js';
import { whenUsedUp } from './whenUsedUp.js';

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
  /** Of a source that does not emit each of its signs of life, the time of the last one; default: the time of its last value that counts. */
  readonly lastMs?: (latest: T) => number;
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
  const { counts = () => true, until = () => false, lastMs: lastOf, timeoutError = toTimeoutError } = options;

  return operate((out, source) => {
    const startMs = scheduler.now();
    let notedMs = startMs;
    let latest: { readonly value: T } | undefined;
    let phase: Phase = 'first';
    let overdue = false;
    let silent: Unsubscribable | undefined;

    const errorOf = (expired: Expired): unknown => {
      try {
        return timeoutError(expired);
      } catch (error) {
        return error;
      }
    };
    const fail = (limit: Expired['limit'], limitMs: number, sinceMs: number): void => out.error(errorOf({ limit, limitMs, waitedMs: scheduler.now() - sinceMs }));
    const failTotal = (): void => fail('total', totalMs ?? 0, startMs);

    const lastMs = (): number => (latest === undefined || lastOf === undefined ? notedMs : lastOf(latest.value));

    function watchSilence(): Unsubscribable | undefined {
      if (phase === 'first' && firstMs !== undefined) {
        return whenUsedUp({ leftMs: () => startMs + firstMs - scheduler.now(), act: () => fail('first', firstMs, startMs), scheduler });
      }
      if (phase === 'between' && betweenMs !== undefined) {
        return whenUsedUp({ leftMs: () => lastMs() + betweenMs - scheduler.now(), act: () => fail('between', betweenMs, lastMs()), scheduler });
      }
      return undefined;
    }

    function enter(next: Phase): void {
      phase = next;
      silent?.unsubscribe();
      silent = watchSilence();
      if (overdue && next !== 'over') failTotal();
    }

    function watchTotal(limitMs: number): Unsubscribable {
      const act = (): void => {
        overdue = true;
        if (phase !== 'over') failTotal();
      };
      return whenUsedUp({ leftMs: () => startMs + limitMs - scheduler.now(), act, scheduler });
    }

    silent = watchSilence();
    const total = totalMs === undefined ? undefined : watchTotal(totalMs);
    source.add(() => {
      silent?.unsubscribe();
      total?.unsubscribe();
    });
    return {
      next(value) {
        if (until(value)) {
          if (phase !== 'over') enter('over');
        } else if (counts(value)) {
          notedMs = scheduler.now();
          if (lastOf !== undefined) latest = { value };
          if (phase !== 'between') enter('between');
        }
        out.next(value);
      },
    };
  });
}

/** Which limit holds: the one for the first value, the one between values, or none any more. */
type Phase = 'first' | 'between' | 'over';

function toTimeoutError(expired: Expired): Error {
  const { limit, limitMs, waitedMs } = expired;
  return Object.assign(new Error(`waited ${waitedMs} ms, the limit "${limit}" is ${limitMs} ms`), { name: 'TimeoutError', ...expired });
}
