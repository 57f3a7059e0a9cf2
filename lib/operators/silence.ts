import { EMPTY, asyncScheduler, defer, endWith, filter, map, startWith, switchMap } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import { quietFor } from './quietFor.js';

/** Which wait was too long: the one for the first value, or one between two values (or after the last). */
export type SilenceKind = 'first' | 'between';

/** How long is too long. */
export interface SilenceOptions {
  /** Longest wait for the first value, in milliseconds; `null`: not watched. */
  readonly firstMs: number | null;
  /** Longest wait after a value, in milliseconds; `null`: not watched. */
  readonly betweenMs: number | null;
  /** The one clock; default: RxJS's `asyncScheduler`, which is virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
}

/** Of the values that come close together only one in this share of the limit restarts the timer. */
const marksPerLimit = 32;

/**
 * Emits once for each silence that lasts too long, and completes with its source.
 *
 *     source:     --a-b-----------c------|
 *     firstMs:    ----|
 *     betweenMs:      ------|
 *     result:     ----------b-----------b|      b = 'between'
 *
 * In its plain form this is `map(() => betweenMs), startWith(firstMs), switchMap(ms => timer(ms))`. Here a value is only
 * noted, and at most 32 marks per limit are switched, because the inner subscriber that `switchMap` makes per value is
 * what costs; the timer tops up for what was noted since. Nothing of that can be seen from outside.
 *
 * A value at the very instant of the limit wins. Errors pass through. Unsubscribing stops the timer and the source.
 *
 *     value$.pipe(silence({ firstMs: 5_000, betweenMs: 20_000 })).subscribe((kind) => console.warn('silent', kind));
 */
export function silence<T>(options: SilenceOptions): OperatorFunction<T, SilenceKind> {
  const { firstMs, betweenMs, scheduler = asyncScheduler } = options;
  const markEveryMs = betweenMs === null ? Infinity : betweenMs / marksPerLimit;

  return (value$) =>
    defer(() => {
      let lastMs = scheduler.now();
      let markedMs = -Infinity;
      const isMark = (): boolean => {
        lastMs = scheduler.now();
        if (lastMs - markedMs < markEveryMs) return false;
        markedMs = lastMs;
        return true;
      };
      const tooLong$ = (kind: SilenceKind, limitMs: number | null): Observable<SilenceKind> =>
        limitMs === null
          ? EMPTY
          : quietFor({ leftMs: () => lastMs + limitMs - scheduler.now(), scheduler }).pipe(map(() => kind));

      return value$.pipe(
        filter(isMark),
        map(() => tooLong$('between', betweenMs)),
        startWith(tooLong$('first', firstMs)),
        endWith(EMPTY),
        switchMap((quiet$) => quiet$),
      );
    });
}
