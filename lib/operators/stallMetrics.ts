import { asyncScheduler } from 'rxjs';
import type { OperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import { Inlet, operate } from './operate.js';

/** Figures of the gaps between values; times in milliseconds of the scheduler, not rounded. */
export interface StallFigures {
  /** The subscription's time. */
  readonly startMs: number;
  /** Number of values so far. */
  readonly count: number;
  /** The last value's time; the start while there is none. */
  readonly lastMs: number;
  /** First value − start; `null` without a value. */
  readonly firstMs: number | null;
  /** Sum of the gaps strictly over the threshold; `null` with fewer than two values. */
  readonly stallMs: number | null;
  /** Number of those gaps; `null` with fewer than two values. */
  readonly stallCount: number | null;
  /** The longest gap; `null` with fewer than two values. */
  readonly maxGapMs: number | null;
  /** `[offset, length]` of the wait for the first value, and of every later wait that is longer, in whole milliseconds, than all those between values before it. */
  readonly recordGaps: readonly (readonly [number, number])[];
}

/**
 * Tells, after each value, how long the source was silent between its values; the last emission holds the whole stream.
 *
 *     source:       --a-b-----c-|
 *     thresholdMs:  ---|
 *     result:       --x-y-----z-|      z = { firstMs: 2, stallMs: 6, stallCount: 1, maxGapMs: 6 }
 *
 * A gap counts when it is strictly longer than `thresholdMs`; the wait for the first value and the one after the last are none.
 * Every emission is the same object, grown in place: copy what you keep. A source without a value gives empty figures at
 * completion. Errors pass through; unsubscribing unsubscribes. `scheduler` is the clock; default: `asyncScheduler`.
 *
 *     value$.pipe(stallMetrics({ thresholdMs: 1_000 }), last()).subscribe(({ stallMs }) => console.log(stallMs));
 */
export function stallMetrics<T>(options: { readonly thresholdMs: number; readonly scheduler?: SchedulerLike }): OperatorFunction<T, StallFigures> {
  const { thresholdMs, scheduler = asyncScheduler } = options;
  return operate((out) => new Metered(openStallMeter({ thresholdMs, scheduler }), out));
}

class Metered<T> extends Inlet<T, StallFigures> {
  private readonly meter: StallMeter;

  constructor(meter: StallMeter, out: Subscriber<StallFigures>) {
    super(out);
    this.meter = meter;
  }

  protected onNext(): void {
    this.meter.note();
    this.out.next(this.meter.figures);
  }

  protected override onComplete(): void {
    if (this.meter.figures.count === 0) this.out.next(this.meter.figures);
    this.out.complete();
  }
}

/** The same for whoever has other things to do with each value. */
export interface StallMeter {
  /** One object, grown in place. */
  readonly figures: StallFigures;
  /** A value has come; tells how long after the one before, or after the start. */
  note(this: void): number;
}

export function openStallMeter({ thresholdMs, scheduler }: { readonly thresholdMs: number; readonly scheduler: SchedulerLike }): StallMeter {
  const figures = emptyFigures(scheduler.now());
  return { figures, note: () => addGap(figures, scheduler.now(), thresholdMs) };
}

type Growing = { -readonly [K in keyof StallFigures]: StallFigures[K] } & { recordGaps: (readonly [number, number])[] };

/** Figures of a stream in which nothing has come yet. */
function emptyFigures(startMs: number): Growing {
  return { startMs, count: 0, lastMs: startMs, firstMs: null, stallMs: null, stallCount: null, maxGapMs: null, recordGaps: [] };
}

/** In whole milliseconds: an even stream would else have a record with every tenth delta, each a hair longer than the one before. */
export function isRecord(gapMs: number, longestMs: number | null): boolean {
  return Math.trunc(gapMs) > Math.trunc(longestMs ?? 0);
}

/** Grows the accumulator in place: one per subscription, not one per value. */
function addGap(figures: Growing, nowMs: number, thresholdMs: number): number {
  const fromMs = figures.lastMs;
  const gapMs = nowMs - fromMs;
  figures.count += 1;
  figures.lastMs = nowMs;
  if (figures.firstMs === null) {
    figures.firstMs = gapMs;
    if (gapMs > 0) figures.recordGaps.push([0, gapMs]);
    return gapMs;
  }
  const { maxGapMs, stallMs, stallCount } = figures;
  // Written only where they change: a number that may be null is an object of its own, anew with each write.
  if (maxGapMs === null || gapMs > maxGapMs) {
    // The first wait hides none of the later ones, since it has a threshold of its own.
    if (isRecord(gapMs, maxGapMs)) figures.recordGaps.push([fromMs - figures.startMs, gapMs]);
    figures.maxGapMs = gapMs;
  }
  if (stallMs === null || stallCount === null || gapMs > thresholdMs) {
    const stalled = gapMs > thresholdMs;
    figures.stallMs = (stallMs ?? 0) + (stalled ? gapMs : 0);
    figures.stallCount = (stallCount ?? 0) + (stalled ? 1 : 0);
  }
  return gapMs;
}
