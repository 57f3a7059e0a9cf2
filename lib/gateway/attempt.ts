import { EMPTY, NEVER, catchError, defer, finalize, subscribeOn, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { GovernanceBackendError, StreamLivenessTimeout, TransientError, annotate, toAttemptError } from '../model/errors.js';
import type { AttemptTrace } from '../model/tracing.js';
import { concludeWith } from '../operators/concludeWith.js';
import type { Ending } from '../operators/concludeWith.js';
import { graceAfter } from '../operators/graceAfter.js';
import { livenessTimeout } from '../operators/livenessTimeout.js';
import { openStallMeter } from '../operators/stallMetrics.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import { subscribeWithin } from '../operators/subscribeWithin.js';
import { Books } from './attemptBooks.js';
import { isFigures, lastIncrementMs } from './attemptSpec.js';
import type { AttemptSpec, Begun, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { heard } from './heard.js';
import { heldClock } from './heldClock.js';
import type { OpenStream, Ports } from './ports.js';

/** From the finish reason on, usage and the end marker get this long (H15). */
const finishGraceMs = 1000;

export function openAttempt<A>(call: CallState<A>, spec: Omit<AttemptSpec<A>, 'id' | 'exchange' | 'clock' | 'held$'>, { scheduler }: Ports): AttemptSpec<A> {
  const { admitted, role, round, trigger, onBooked } = spec;
  const { clock, held$ } = clockOf(call, scheduler);
  return { id: call.nextAttemptId(), admitted, role, round, trigger, onBooked, exchange: call.task.open(admitted.source, call.id), clock, held$ };
}

/**
 * One request to one source; marks of what comes (`heard.ts`), then its one completion. It is sent one turn after
 * admission, so that a caller who leaves in the turn in which he came has sent nothing.
 */
export function attempt<A>(call: CallState<A>, spec: AttemptSpec<A>, ports: Ports): Observable<Progress<A>> {
  return defer(() => {
    let begun = false;
    call.live.add(spec);
    return defer(() => {
      if (spec.admitted.permit.expired?.() === true) return throwError(() => expired(spec));
      begun = true;
      return sent(call, spec, ports);
    }).pipe(
      subscribeOn(ports.scheduler),
      finalize(() => {
        call.live.delete(spec);
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
  const { exchange, clock, held$, admitted: { permit } } = spec;

  return defer(() => {
    const meter = openStallMeter({ thresholdMs: policy.stallThresholdMs, scheduler: clock });
    const { figures } = meter;
    const books = new Books(call, spec, ports);
    let trace: AttemptTrace | undefined;

    const context = { attemptId: spec.id, ...deadlineOf(call), onUnsent: () => books.unsent(), ...(held$ === undefined ? {} : { held$ }) };
    const look = (): OpenStream => openStream(call, spec, figures, scheduler.now());
    const part$ = defer(() => {
      ports.open?.add(look);
      if (!books.start()) return NEVER;
      trace = ports.tracing?.attempt(spec.id);
      return trace === undefined ? exchange.part$(context) : exchange.part$({ ...context, trace }).pipe(subscribeWithin(trace.within));
    });
    const onIncrement = ({ count, lastMs }: StallFigures): void => {
      trace?.increment(lastMs);
      if (count === 1) permit.progress();
    };
    return part$.pipe(
      heard(call, spec, { meter, onIncrement, silenceMs: policy.hedgeStallAfterMs ?? Infinity, scheduler }),
      watchdog(spec, call.task.streamed),
      graceAfter({ when: (mark) => isFinished(mark, spec), unless: (mark) => goesOn(mark, spec), graceMs: finishGraceMs, scheduler: clock }),
      // The permit is settled between validity and result, so that a winner is never booked as cancelled.
      concludeWith({
        conclude(end) {
          ports.open?.delete(look);
          // Whoever hears of the end may ask this source again.
          call.live.delete(spec);
          const ending = judged(end, call, spec);
          const done = books.close(ending, figures, clock.now());
          if (ending.type === 'failed') throw ending.error;
          return done;
        },
      }),
    );
  });
}

/** A failure becomes an error of our own, with what is known of the attempt; an answer without any increment is one (H4). */
function judged<A>(ending: Ending, call: CallState<A>, spec: AttemptSpec<A>): Ending {
  const failed = (error: unknown): Ending => ({ type: 'failed', error: annotate(toAttemptError(error), factsOf(call, spec)) });
  if (ending.type === 'failed') return failed(ending.error);
  const isEmpty = ending.type === 'completed' && spec.exchange.reply.increments === 0;
  return isEmpty ? failed(new TransientError('the answer ended without any output')) : ending;
}

type Mark = StallFigures | Begun;

const isFinished = (mark: Mark, { exchange: { reply } }: AttemptSpec<unknown>): boolean => isFigures(mark) && reply.finished;
const goesOn = (mark: Mark, { exchange: { reply } }: AttemptSpec<unknown>): boolean => isFigures(mark) && mark.count > 0 && !reply.finished;

function watchdog(spec: AttemptSpec<unknown>, streamed: boolean): MonoTypeOperatorFunction<Mark> {
  const { admitted: { source }, clock: scheduler } = spec;
  const { timeoutMs, ttftTimeoutMs, interTokenTimeoutMs } = source.limits;
  return livenessTimeout<Mark>({
    firstMs: streamed ? ttftTimeoutMs : undefined,
    betweenMs: streamed ? (interTokenTimeoutMs ?? timeoutMs) : undefined,
    totalMs: timeoutMs,
    counts: (mark) => goesOn(mark, spec),
    until: (mark) => isFinished(mark, spec),
    lastMs: lastIncrementMs,
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
function clockOf({ task: { held$ } }: CallState<unknown>, scheduler: SchedulerLike): Pick<AttemptSpec<unknown>, 'clock' | 'held$'> {
  return held$ === undefined ? { clock: scheduler } : heldClock(scheduler, held$.pipe(catchError(() => EMPTY)));
}

function deadlineOf(call: CallState<unknown>): { deadlineMs?: number } {
  const deadlineMs = call.deadlineLeftMs();
  return deadlineMs === Infinity ? {} : { deadlineMs };
}
