import type { OperatorFunction, SchedulerLike, Subscriber } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import { Inlet, operate } from '../operators/operate.js';
import type { StallFigures, StallMeter } from '../operators/stallMetrics.js';
import type { AttemptSpec, Begun } from './attemptSpec.js';
import type { CallState } from './callState.js';

export interface HeardOptions {
  readonly meter: StallMeter;
  /** Called with each increment, which the meter has noted. */
  readonly onIncrement: (figures: StallFigures) => void;
  /** An increment after so long a silence is told as the first is, since somebody may wait for it. */
  readonly silenceMs: number;
  readonly scheduler: SchedulerLike;
}

/**
 * What is heard of an answer while it comes. Each increment is noted and nothing more. The figures, one object that grows, are
 * told as marks: at the start, with the first increment and with each that ends a silence, with a finish reason and with what
 * still follows it.
 *
 *     parts:   -.-i-i-.-i-F.|        i = increment, F = finish reason, . = anything else
 *     result:  f--f-------f---|      f = figures
 *
 * If the reader wants the answer as it comes, nothing is passed on to him before the first increment, which commits the call
 * to this attempt, then all that came before it, then each delta, by the call's shortcut (H12). At the same instant the
 * primary speaks first, so that a backup takes one more turn.
 *
 *     result:  f--(fs)----f---|      s = start
 *     reader:  ---(.i)i-.-iF.
 */
export function heard<A>(call: CallState<A>, spec: AttemptSpec<A>, options: HeardOptions): OperatorFunction<unknown, StallFigures | Begun> {
  return operate((out) => new Ear(call, spec, options, out));
}

class Ear<A> extends Inlet<unknown, StallFigures | Begun> {
  private finished = false;
  /** What came before the first increment's turn; none once the answer is passed on. */
  private early: ChatDelta[] | undefined = [];
  private awaitsTurn = false;
  private ended = false;
  private readonly call: CallState<A>;
  private readonly spec: AttemptSpec<A>;
  private readonly options: HeardOptions;

  constructor(call: CallState<A>, spec: AttemptSpec<A>, options: HeardOptions, out: Subscriber<StallFigures | Begun>) {
    super(out);
    this.call = call;
    this.spec = spec;
    this.options = options;
    this.mark();
  }

  protected onNext(part: unknown): void {
    const { exchange } = this.spec;
    const sign = exchange.read(part);
    // The figures first: what a reader does with a delta takes time of its own.
    if (sign === 'increment') this.measure();
    else if (sign === 'finish') {
      this.finished = true;
      this.mark();
    }
    if (exchange.said !== undefined) this.pass(exchange.said(part), sign === 'increment');
  }

  protected override onComplete(): void {
    this.ended = true;
    if (!this.awaitsTurn) this.out.complete();
  }

  private mark(): void {
    this.out.next(this.options.meter.figures);
  }

  private measure(): void {
    const { meter, onIncrement, silenceMs } = this.options;
    const gapMs = meter.note();
    onIncrement(meter.figures);
    if (meter.figures.count === 1 || gapMs >= silenceMs || this.finished) this.mark();
  }

  private pass(delta: ChatDelta, isIncrement: boolean): void {
    if (this.early === undefined) {
      this.call.pass(delta);
      return;
    }
    this.early.push(delta);
    if (!isIncrement || this.awaitsTurn) return;
    if (this.spec.role === 'primary') {
      this.commit();
      return;
    }
    this.awaitsTurn = true;
    this.out.add(this.options.scheduler.schedule(() => this.commit()));
  }

  private commit(): void {
    this.call.committed = this.spec;
    this.awaitsTurn = false;
    this.out.next({ type: 'start' });
    for (const delta of this.early ?? []) this.call.pass(delta);
    this.early = undefined;
    if (this.ended) this.out.complete();
  }
}
