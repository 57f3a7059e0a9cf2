import type { OperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { operate } from './operate.js';
import { TimedInlet } from './timedInlet.js';

/** Which wait was too long: the one for the first value, or one between two values (or after the last). */
export type SilenceKind = 'first' | 'between';

/** How long is too long. */
export interface SilenceOptions<T = unknown> {
  /** Longest wait for the first value, in milliseconds; `null`: not watched. */
  readonly firstMs: number | null;
  /** Longest wait after a value, in milliseconds; `null`: not watched. */
  readonly betweenMs: number | null;
  /** The values that are signs of life; default: all. */
  readonly counts?: (value: T) => boolean;
  /** Of a source that does not emit each of its signs of life, the time of the last one; default: the time of its last value. */
  readonly lastMs?: (latest: T) => number;
  /** Turns of the scheduler that it takes before it tells, so that others that are due at the same instant are first; default 1. */
  readonly turns?: number;
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
  return operate((out) => new Listening(options, out));
}

class Listening<T> extends TimedInlet<T, SilenceKind> {
  private kind: SilenceKind = 'first';
  /** It has been told of, and is over with the next value. */
  private told = false;
  private latest: T | undefined;
  private notedMs: number;
  private readonly options: SilenceOptions<T>;

  constructor(options: SilenceOptions<T>, out: Subscriber<SilenceKind>) {
    super(out, options.scheduler, options.turns);
    this.options = options;
    this.notedMs = this.scheduler.now();
    this.countdown.start();
  }

  leftMs(): number {
    const { firstMs, betweenMs, lastMs } = this.options;
    const sinceMs = this.kind === 'first' || lastMs === undefined ? this.notedMs : lastMs(this.latest as T);
    return sinceMs + ((this.kind === 'first' ? firstMs : betweenMs) ?? Infinity) - this.scheduler.now();
  }

  runOut(): void {
    this.told = true;
    this.out.next(this.kind);
  }

  protected onNext(value: T): void {
    if (this.options.counts?.(value) === false) return;
    this.notedMs = this.scheduler.now();
    this.latest = value;
    if (this.kind === 'between' && !this.told) return;
    this.kind = 'between';
    this.told = false;
    this.countdown.start();
  }
}
