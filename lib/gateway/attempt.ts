import { EMPTY, NEVER, catchError, defer, finalize, subscribeOn, throwError } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import { GovernanceBackendError, StreamLivenessTimeout, TransientError, annotate, toAttemptError } from '../model/errors.js';
import type { Sign } from '../model/reply.js';
import type { Upstream } from '../model/source.js';
import type { AttemptTrace } from '../model/tracing.js';
import { concludeWith } from '../operators/concludeWith.js';
import type { Ending } from '../operators/concludeWith.js';
import { graceAfter } from '../operators/graceAfter.js';
import { livenessTimeout } from '../operators/livenessTimeout.js';
import { openStallMeter } from '../operators/stallMetrics.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import { subscribeWithin } from '../operators/subscribeWithin.js';
import { openBooks } from './attemptBooks.js';
import type { AttemptSpec, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { heard } from './heard.js';
import { heldClock } from './heldClock.js';
import type { OpenStream, Ports } from './ports.js';

/** From the finish reason on, usage and the end marker get this long (H15). */
const finishGraceMs = 1000;

export function openAttempt<A>(call: CallState<A>, spec: Omit<AttemptSpec<A>, 'id' | 'exchange' | 'clock' | 'held$'>, { scheduler }: Ports): AttemptSpec<A> {
  const id = call.nextAttemptId();
  return { ...spec, id, exchange: call.task.open(spec.admitted.source, call.id), ...clockOf(call, scheduler) };
}

/**
 * One request to one source; its figures with each increment, then its one completion. It is sent one turn after
 * admission, so that a caller who leaves in the turn in which he came has sent nothing.
 */
export function attempt<A>(call: CallState<A>, spec: AttemptSpec<A>, ports: Ports): Observable<Progress<A>> {
  return defer(() => {
    let begun = false;
    return defer(() => {
      if (spec.admitted.permit.expired?.() === true) return throwError(() => expired(spec));
      begun = true;
      return sent(call, spec, ports);
    }).pipe(
      subscribeOn(ports.scheduler),
      finalize(() => {
        if (!begun) spec.admitted.permit.settle({ type: 'unsent' });
      }),
    );
  });
}

/** This process stood still between admission and sending, so that the place may be somebody else's by now (G6). */
function expired({ admitted: { source } }: AttemptSpec<unknown>): GovernanceBackendError {
  return new GovernanceBackendError(`the permit for ${source.id} ran out before its request was sent, since this process stood still for too long; nothing was sent`);
}

/** From here on the request is out: held to its limits, measured, booked once. */
function sent<A>(call: CallState<A>, spec: AttemptSpec<A>, ports: Ports): Observable<Progress<A>> {
  const { scheduler, policy } = ports;
  const { exchange, admitted, clock, held$ } = spec;
  const { source, permit } = admitted;

  return defer(() => {
    const meter = openStallMeter({ thresholdMs: policy.stallThresholdMs, scheduler: clock });
    const { figures } = meter;
    const books = openBooks(call, spec, ports);
    let trace: AttemptTrace | undefined;

    const context = { attemptId: spec.id, ...deadlineOf(call), onUnsent: books.unsent, ...(held$ === undefined ? {} : { held$ }) };
    const look = (): OpenStream => openStream(call, spec, figures, scheduler.now());
    const sign$ = defer(() => {
      ports.open?.add(look);
      if (!books.start()) return NEVER;
      trace = ports.tracing?.attempt(spec.id);
      return trace === undefined ? exchange.sign$(context) : exchange.sign$({ ...context, trace }).pipe(subscribeWithin(trace.within));
    });
    const onIncrement = ({ count, lastMs }: StallFigures): void => {
      trace?.increment(lastMs);
      if (count === 1) permit.progress();
    };
    return sign$.pipe(
      watchdog(source, call.task.streamed, clock),
      graceAfter({ when: isFinish, unless: isIncrement, graceMs: finishGraceMs, scheduler: clock }),
      heard(call, spec, { meter, onIncrement, silenceMs: policy.hedgeStallAfterMs ?? Infinity, scheduler }),
      // The permit is settled between validity and result, so that a winner is never booked as cancelled.
      concludeWith({
        conclude(thrown) {
          ports.open?.delete(look);
          const ending = named(thrown, factsOf(call, spec));
          const done = books.close(ending, figures, clock.now());
          if (ending.type === 'failed') throw ending.error;
          return done;
        },
      }),
    );
  });
}

/** A failure as an error of our own, with what is known of the attempt. */
function named(ending: Ending, facts: Parameters<typeof annotate>[1]): Ending {
  return ending.type === 'failed' ? { type: 'failed', error: annotate(toAttemptError(ending.error), facts) } : ending;
}

const isFinish = (sign: Sign): boolean => sign === 'finish';
const isIncrement = (sign: Sign): boolean => sign === 'increment';

function watchdog(source: Upstream, streamed: boolean, scheduler: SchedulerLike): OperatorFunction<Sign, Sign> {
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

function openStream<A>(call: CallState<A>, { id, role, round, admitted, clock }: AttemptSpec<A>, { startMs, lastMs, count }: StallFigures, nowMs: number): OpenStream {
  return { callId: call.id, attemptId: id, source: admitted.source.id, role, round, openMs: nowMs - startMs, silentMs: clock.now() - lastMs, increments: count };
}

function factsOf<A>(call: CallState<A>, { admitted, exchange: { reply } }: AttemptSpec<A>): Parameters<typeof annotate>[1] {
  return {
    source: admitted.source.id,
    callId: call.id,
    attempts: call.attempts,
    partial: reply.partial(),
    ...(reply.providerRequestId === null ? {} : { providerRequestId: reply.providerRequestId }),
  };
}

/** What a reader's own Observable fails with is no failure of the source: it holds no more. */
function clockOf({ task: { held$ } }: CallState<unknown>, scheduler: SchedulerLike): { clock: SchedulerLike; held$?: Observable<boolean> } {
  return held$ === undefined ? { clock: scheduler } : heldClock(scheduler, held$.pipe(catchError(() => EMPTY)));
}

function deadlineOf(call: CallState<unknown>): { deadlineMs?: number } {
  const deadlineMs = call.deadlineLeftMs();
  return deadlineMs === Infinity ? {} : { deadlineMs };
}
