import { connect, defer, delayWhen, filter, identity, map, merge, mergeMap, take, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import type { Sign } from '../model/reply.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import type { AttemptSpec, Begun } from './attemptSpec.js';
import type { CallState } from './callState.js';

/**
 * Beside what `measured` makes of an answer, passes the answer itself on, if its reader wants it as it comes: nothing before
 * the first increment, which commits the call to this attempt, then all that came before it, then each delta (H12).
 *
 *     signs:    -.-i-i-.-|           i = increment, . = anything else
 *     passed:   ---(s.i)-i-.-|       s = start
 *
 * At the same instant the primary speaks first, so that a backup takes one more turn.
 */
export function alsoPassedOn<A>(
  call: CallState<A>,
  spec: AttemptSpec<A>,
  { measured, scheduler }: { measured: OperatorFunction<Sign, StallFigures>; scheduler: SchedulerLike },
): OperatorFunction<Sign, StallFigures | Begun | ChatDelta> {
  const { said } = spec.exchange;
  if (said === undefined) return measured;
  // The figures first: what a reader does with a delta takes time of its own.
  return connect((sign$) => merge(sign$.pipe(measured), passedOn(sign$, said)));

  function passedOn(sign$: Observable<Sign>, delta: () => ChatDelta): Observable<Begun | ChatDelta> {
    return defer(() => {
      const early: ChatDelta[] = [];
      const committed = (): boolean => call.committed === spec;
      const goesOn = (piece: ChatDelta): boolean => {
        if (!committed()) early.push(piece);
        return committed();
      };
      const commit = (): (Begun | ChatDelta)[] => {
        call.committed = spec;
        return [{ type: 'start' }, ...early];
      };
      const first$ = sign$.pipe(filter((sign) => sign === 'increment'), take(1), inTurn(spec, scheduler), mergeMap(commit));
      return merge(sign$.pipe(map(delta), filter(goesOn)), first$);
    });
  }
}

function inTurn<T>({ role }: AttemptSpec<unknown>, scheduler: SchedulerLike): MonoTypeOperatorFunction<T> {
  return role === 'primary' ? identity : delayWhen(() => timer(0, scheduler));
}
