import { EMPTY, NEVER, catchError, concat, defer, filter, finalize, map, of, subscribeOn, tap, throwError } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import { StreamLivenessTimeout, TransientError, annotate, toAttemptError } from '../model/errors.js';
import { createFold } from '../model/fold.js';
import type { AnswerFold, Sign } from '../model/fold.js';
import type { Source } from '../model/source.js';
import { finalizeWith } from '../operators/finalizeWith.js';
import { graceAfter } from '../operators/graceAfter.js';
import { livenessTimeout } from '../operators/livenessTimeout.js';
import { emptyFigures, stallMetrics } from '../operators/stallMetrics.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import { openBooks } from './attemptBooks.js';
import type { AttemptSpec, Completed, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import type { Ports } from './ports.js';

/** From the finish reason on, usage and the end marker get this long (H15). */
const finishGraceMs = 1000;

export function openAttempt(call: CallState, spec: Omit<AttemptSpec, 'id' | 'fold'>): AttemptSpec {
  const id = call.nextAttemptId();
  return { ...spec, id, fold: createFold(id) };
}

/**
 * One request to one source; its figures with each increment, then its one completion. It is sent one turn after
 * admission, so that a caller who leaves in the turn in which he came has sent nothing.
 */
export function attempt(call: CallState, spec: AttemptSpec, ports: Ports): Observable<Progress> {
  return sent(call, spec, ports).pipe(
    subscribeOn(ports.scheduler),
    finalize(() => spec.admitted.permit.settle({ type: 'cancelled' })),
  );
}

/** From here on the request is out: held to its limits, measured, booked once. */
function sent(call: CallState, spec: AttemptSpec, ports: Ports): Observable<Progress> {
  const { scheduler, policy } = ports;
  const { fold, admitted } = spec;
  const { source, permit } = admitted;

  return defer(() => {
    const books = openBooks(call, spec, ports);
    let figures: StallFigures = emptyFigures(scheduler.now());
    let done: Completed | undefined;

    const context = { attemptId: spec.id, ...deadlineOf(call), onUnsent: books.unsent };
    const deltas$ = defer(() => (books.start() ? source.stream(call.request, context) : NEVER));
    const increments$ = deltas$.pipe(
      map(fold.add),
      watchdog(source, call.request.stream, scheduler),
      graceAfter({ when: isFinish, unless: isIncrement, graceMs: finishGraceMs, scheduler }),
      filter(isIncrement),
      stallMetrics({ thresholdMs: policy.stallThresholdMs, scheduler }),
      tap({
        next: (grown) => {
          figures = grown;
          if (grown.count === 1) permit.progress();
        },
      }),
      mustHaveOutput(fold),
      catchError((thrown: unknown) => throwError(() => annotate(toAttemptError(thrown), factsOf(call, spec)))),
      finalizeWith((ending) => { done = books.close(ending, figures); }),
    );
    // The permit is settled between validity and result, so that a winner is never booked as cancelled.
    return concat(increments$, defer(() => (done === undefined ? EMPTY : of(done))));
  });
}

const isFinish = (sign: Sign): boolean => sign === 'finish';
const isIncrement = (sign: Sign): boolean => sign === 'increment';

function watchdog(source: Source, streamed: boolean, scheduler: SchedulerLike): OperatorFunction<Sign, Sign> {
  const { timeoutMs, ttftTimeoutMs, interTokenTimeoutMs } = source.limits;
  return livenessTimeout({
    ...(streamed ? { firstMs: ttftTimeoutMs, betweenMs: interTokenTimeoutMs ?? timeoutMs } : {}),
    totalMs: timeoutMs,
    counts: isIncrement,
    until: isFinish,
    timeoutError: (expired) => {
      const cause = new StreamLivenessTimeout(expired);
      return new TransientError(`${source.id} ${expired.limit === 'total' ? 'took too long' : 'fell silent'}: ${cause.message}`, { cause });
    },
    scheduler,
  });
}

/** A stream that ends without any increment is not a completion (H4). */
function mustHaveOutput(fold: AnswerFold): OperatorFunction<StallFigures, StallFigures> {
  return (figures$) =>
    concat(figures$, defer(() => (fold.increments > 0 ? EMPTY : throwError(() => new TransientError('the answer ended without any output')))));
}

function factsOf(call: CallState, { admitted, fold }: AttemptSpec): Parameters<typeof annotate>[1] {
  return {
    source: admitted.source.id,
    callId: call.id,
    attempts: call.attempts,
    partial: fold.partial(),
    ...(fold.providerRequestId === null ? {} : { providerRequestId: fold.providerRequestId }),
  };
}

function deadlineOf(call: CallState): { deadlineMs?: number } {
  const deadlineMs = call.deadlineLeftMs();
  return deadlineMs === Infinity ? {} : { deadlineMs };
}
