import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import { operate } from '../operators/operate.js';
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
export function heard<A>(
  call: CallState<A>,
  spec: AttemptSpec<A>,
  { meter: { figures, note }, onIncrement, silenceMs, scheduler }: HeardOptions,
): OperatorFunction<unknown, StallFigures | Begun> {
  const { role, exchange } = spec;
  return operate((out) => {
    let early: ChatDelta[] | undefined = [];
    let onTurn: (() => void) | undefined;

    function measure(): void {
      const gapMs = note();
      onIncrement(figures);
      if (figures.count === 1 || gapMs >= silenceMs || afterFinish) out.next(figures);
    }

    function commit(): void {
      call.committed = spec;
      out.next({ type: 'start' });
      early?.forEach((delta) => call.pass(delta));
      early = undefined;
      onTurn?.();
    }

    function pass(delta: ChatDelta, isIncrement: boolean): void {
      if (early === undefined) {
        call.pass(delta);
        return;
      }
      early.push(delta);
      if (!isIncrement || onTurn !== undefined) return;
      if (role === 'primary') {
        commit();
        return;
      }
      onTurn = () => undefined;
      out.add(scheduler.schedule(commit));
    }

    let afterFinish = false;
    out.next(figures);
    return {
      next(part) {
        const sign = exchange.read(part);
        // The figures first: what a reader does with a delta takes time of its own.
        if (sign === 'increment') measure();
        else if (sign === 'finish') {
          afterFinish = true;
          out.next(figures);
        }
        if (exchange.said !== undefined) pass(exchange.said(part), sign === 'increment');
      },
      complete() {
        const end = (): void => out.complete();
        if (onTurn !== undefined && early !== undefined) onTurn = end;
        else end();
      },
    };
  });
}
