import { asyncScheduler } from 'rxjs';
import type { OperatorFunction, SchedulerLike, Unsubscribable } from 'rxjs';
import { operate } from './operate.js';
import { whenUsedUp } from './whenUsedUp.js';

/** Which wait was too long: the one for the first value, or one between two values (or after the last). */
export type SilenceKind = 'first' | 'between';

/** How long is too long. */
export interface SilenceOptions<T = unknown> {
  /** Longest wait for the first value, in milliseconds; `null`: not watched. */
  readonly firstMs: number | null;
  /** Longest wait after a value, in milliseconds; `null`: not watched. */
  readonly betweenMs: number | null;
  /** Of a source that does not emit each of its signs of life, the time of the last one; default: the time of its last value. */
  readonly lastMs?: (latest: T) => number;
  /** The one clock; default: RxJS's `asyncScheduler`, which is virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
}

/**
 * Emits once for each silence that lasts too long, and completes with its source.
 *
 *     source:     --a-b-----------c------|
 *     firstMs:    ----|
 *     betweenMs:      ------|
 *     result:     ----------b-----------b|      b = 'between'
 *
 * In its plain form this is `map(() => betweenMs), startWith(firstMs), switchMap(ms => timer(ms))`. Here a value is only
 * noted, because the inner subscriber that `switchMap` makes per value is what costs; the timer tops up for what was noted
 * since. Nothing of that can be seen from outside.
 *
 * A value at the very instant of the limit wins. Errors pass through. Unsubscribing stops the timer and the source.
 *
 *     value$.pipe(silence({ firstMs: 5_000, betweenMs: 20_000 })).subscribe((kind) => console.warn('silent', kind));
 */
export function silence<T>(options: SilenceOptions<T>): OperatorFunction<T, SilenceKind> {
  const { firstMs, betweenMs, lastMs, scheduler = asyncScheduler } = options;

  return operate((out, source) => {
    let latest: { readonly value: T } | undefined;
    let notedMs = scheduler.now();
    let quiet: Unsubscribable | undefined;

    const sinceMs = (): number => (latest === undefined || lastMs === undefined ? notedMs : lastMs(latest.value));

    function watch(kind: SilenceKind, limitMs: number | null): Unsubscribable | undefined {
      if (limitMs === null) return undefined;
      const act = (): void => {
        quiet = undefined;
        out.next(kind);
      };
      return whenUsedUp({ leftMs: () => sinceMs() + limitMs - scheduler.now(), act, scheduler });
    }

    quiet = watch('first', firstMs);
    source.add(() => quiet?.unsubscribe());
    return {
      next(value) {
        notedMs = scheduler.now();
        const isFirst = latest === undefined;
        if (isFirst || lastMs !== undefined) latest = { value };
        if (isFirst) quiet?.unsubscribe();
        if (isFirst || quiet === undefined) quiet = watch('between', betweenMs);
      },
    };
  });
}
