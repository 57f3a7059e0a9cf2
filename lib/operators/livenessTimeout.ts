import type { MonoTypeOperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { operate } from './operate.js';
import { TimedInlet } from './timedInlet.js';

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
  return operate((out) => new Watched(options, out));
}

/** Which limit holds: the one for the first value, the one between values, or none any more. */
type Phase = 'first' | 'between' | 'over';

class Watched<T> extends TimedInlet<T, T> {
  private phase: Phase = 'first';
  private latest: T | undefined;
  private notedMs: number;
  private readonly startMs: number;
  private readonly options: LivenessOptions<T>;

  constructor(options: LivenessOptions<T>, out: Subscriber<T>) {
    super(out, options.scheduler);
    this.options = options;
    this.startMs = this.notedMs = this.scheduler.now();
    this.countdown.start();
  }

  leftMs(): number {
    return Math.min(this.silenceLeftMs(), this.phase === 'over' ? Infinity : this.totalLeftMs());
  }

  runOut(): void {
    if (this.silenceLeftMs() > 0) this.failTotal();
    else if (this.phase === 'first') this.fail('first', this.options.firstMs, this.startMs);
    else this.fail('between', this.options.betweenMs, this.lastMs());
  }

  protected onNext(value: T): void {
    const { until, counts } = this.options;
    if (until?.(value) === true) {
      if (this.phase !== 'over') this.enter('over');
    } else if (counts === undefined || counts(value)) {
      this.latest = value;
      this.notedMs = this.scheduler.now();
      if (this.phase !== 'between') this.enter('between');
    }
    this.out.next(value);
  }

  private enter(next: Phase): void {
    const wentOn = this.phase === 'over';
    this.phase = next;
    // It would have failed while nothing was watched.
    if (wentOn && this.totalLeftMs() <= 0) this.failTotal();
    else this.countdown.start();
  }

  private lastMs(): number {
    const { lastMs } = this.options;
    return lastMs === undefined ? this.notedMs : lastMs(this.latest as T);
  }

  private silenceLeftMs(): number {
    const { firstMs = Infinity, betweenMs = Infinity } = this.options;
    if (this.phase === 'over') return Infinity;
    const endMs = this.phase === 'first' ? this.startMs + firstMs : this.lastMs() + betweenMs;
    return endMs - this.scheduler.now();
  }

  private totalLeftMs(): number {
    return this.startMs + (this.options.totalMs ?? Infinity) - this.scheduler.now();
  }

  private failTotal(): void {
    this.fail('total', this.options.totalMs, this.startMs);
  }

  private fail(limit: Expired['limit'], limitMs = 0, sinceMs: number): void {
    const { timeoutError = toTimeoutError } = this.options;
    try {
      this.out.error(timeoutError({ limit, limitMs, waitedMs: this.scheduler.now() - sinceMs }));
    } catch (error) {
      this.out.error(error);
    }
  }
}

function toTimeoutError(expired: Expired): Error {
  const { limit, limitMs, waitedMs } = expired;
  return Object.assign(new Error(`waited ${waitedMs} ms, the limit "${limit}" is ${limitMs} ms`), { name: 'TimeoutError', ...expired });
}
