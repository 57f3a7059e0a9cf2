import type { OperatorFunction, SchedulerLike } from 'rxjs';
import { TransientError } from '../model/errors.js';
import type { ChatDelta } from '../model/delta.js';
import type { Sign } from '../model/reply.js';
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
 * What the round hears of an answer. Each increment is noted and nothing more: the figures, which are one object that grows,
 * come with the first increment and with those that end a silence. If the reader wants the answer as it comes, he is
 * passed nothing before the first increment, which commits the call to this attempt, then all that came before it, then
 * each delta (H12).
 *
 *     signs:    -.-i-i-.-|           i = increment, . = anything else
 *     whole:    ---f-----|           f = figures
 *     passed:   ---(fs.i)-i-.-|      s = start
 *
 * At the same instant the primary speaks first, so that a backup takes one more turn. An answer without an increment is
 * none (H4).
 */
export function heard<A>(
  call: CallState<A>,
  spec: AttemptSpec<A>,
  { meter: { figures, note }, onIncrement, silenceMs, scheduler }: HeardOptions,
): OperatorFunction<Sign, StallFigures | Begun | ChatDelta> {
  const { role, exchange: { said, reply } } = spec;
  return operate((out) => {
    let early: ChatDelta[] | undefined = [];
    let onTurn: (() => void) | undefined;

    function measure(): void {
      const gapMs = note();
      onIncrement(figures);
      if (figures.count === 1 || gapMs >= silenceMs) out.next(figures);
    }

    function commit(): void {
      call.committed = spec;
      out.next({ type: 'start' });
      early?.forEach((delta) => out.next(delta));
      early = undefined;
      onTurn?.();
    }

    function pass(delta: ChatDelta, sign: Sign): void {
      if (early === undefined) {
        out.next(delta);
        return;
      }
      early.push(delta);
      if (sign !== 'increment' || onTurn !== undefined) return;
      if (role === 'primary') {
        commit();
        return;
      }
      onTurn = () => undefined;
      out.add(scheduler.schedule(commit));
    }

    return {
      next(sign) {
        // The figures first: what a reader does with a delta takes time of its own.
        if (sign === 'increment') measure();
        if (said !== undefined) pass(said(), sign);
      },
      complete() {
        if (reply.increments === 0) throw new TransientError('the answer ended without any output');
        const end = (): void => out.complete();
        if (onTurn !== undefined && early !== undefined) onTurn = end;
        else end();
      },
    };
  });
}
