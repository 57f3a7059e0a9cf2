import { EMPTY, catchError, concat, defer, map, merge, mergeMap, of, repeat, retry, takeUntil, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from 'rxjs';
import { GatewayClosedError, isGatewayError } from '../model/errors.js';
import type { ErrorFacts } from '../model/errors.js';
import type { Upstream } from '../model/source.js';
import type { StreamPiece, StreamStart } from '../model/streamItem.js';
import { NoneAdmitted, admitFirst, decided } from '../governance/admit.js';
import type { Admitted } from '../governance/admit.js';
import { admitWhenRunnable, isPatient, patience } from '../governance/backpressure.js';
import type { Gate } from '../governance/gate.js';
import type { Governance } from '../governance/governance.js';
import { concludeWith } from '../operators/concludeWith.js';
import type { Ending } from '../operators/concludeWith.js';
import { dueAfter } from '../operators/dueAfter.js';
import { withShortcut } from '../operators/withShortcut.js';
import { aborted } from './aborted.js';
import { isCompleted } from './attemptSpec.js';
import type { Completed, Passed } from './attemptSpec.js';
import { brokenOff, exhausted, factsOf, isAttemptError, tooLate } from './callErrors.js';
import { CallState } from './callState.js';
import type { Ports } from './ports.js';
import { round } from './round.js';
import type { Task } from './task.js';

/** What ends a call from outside. */
export interface CallEnds {
  readonly signal?: AbortSignal | undefined;
  /** Emits when the gateway closes. */
  readonly closing$: Observable<unknown>;
}

/** A call that has been answered, with what the call as a whole knows. */
export interface Answered<A> {
  readonly call: CallState<A>;
  readonly winner: Completed<A>;
  /** From entering to the answer, waits included. */
  readonly callMs: number;
}

/** What one subscription asks for, and what it makes of the answer. */
export interface Asked<A, R> {
  readonly task: Task<A>;
  respond(this: void, answered: Answered<A>): R;
}

/**
 * A call: rounds until one is answered, unless the caller, the gateway's closing or the deadline ends it first. All that
 * it owned is given back before its answer or its error is delivered (X2). Before that comes only what `stream$` passes on:
 * the first attempt to speak is `committed` (`heard.ts`), and from then on a failure is the call's (H12).
 */
export function answerCall<A, R>({ task, respond }: Asked<A, R>, ends: CallEnds, ports: Ports): Observable<StreamPiece | R> {
  return withShortcut((pass) => {
    const call = new CallState(task, ports, pass);
    // Inside of what is concluded: whoever is told of the start may end the call.
    const work$ = defer(() => {
      ports.report({ type: 'call-started', callId: call.id, scope: call.scope, operation: task.operation, model: task.model, streamed: task.streamed });
      return rounds(call, ports).pipe(untilEnded(call, ends, ports));
    });
    return work$.pipe(
      concludeWith<StreamStart, R, Completed<A>>({
        keeps: isCompleted,
        conclude(ending, winner) {
          call.over = true;
          const callMs = ports.scheduler.now() - call.enteredMs;
          ports.report({ type: 'call-ended', callId: call.id, ...outcomeOf(ending, ends), ...totalsOf(call, ending), callMs });
          return winner && respond({ call, winner, callMs: Math.trunc(callMs) });
        },
      }),
    );
  });
}

/** Ends the work from outside; at the deadline an answer that is held is better than none. */
function untilEnded<A>(call: CallState<A>, ends: CallEnds, ports: Ports): MonoTypeOperatorFunction<Passed<A>> {
  const outside$ = ends.signal === undefined ? closed(call, ends) : merge(aborted(ends.signal), closed(call, ends));
  const { callDeadlineMs } = ports.policy;
  if (callDeadlineMs === null) return takeUntil(outside$);
  return (work$) => concat(work$.pipe(takeUntil(merge(outside$, deadline(call, callDeadlineMs, ports.scheduler)))), heldAtDeadline(call));
}

/** The retry loop: admission, with the stall budget before it, then the round itself; once more while the task wants more. */
function rounds<A>(call: CallState<A>, ports: Ports): Observable<Passed<A>> {
  // Deferred, since `retry` holds what it repeats for as long as the stream lives.
  const answer$ = defer(() => admitPrimary(call, ports).pipe(mergeMap((admitted) => round(call, admitted, ports)))).pipe(
    retry({ delay: (error: unknown) => nextRound(call, error, ports) }),
  );
  if (call.task.take === undefined) return answer$;
  return answer$.pipe(
    repeat({ delay: () => (call.wantsMore() ? of(undefined) : EMPTY) }),
    // Of a call that takes several requests, one each time.
    concludeWith<StreamStart, Completed<A>, Completed<A>>({ keeps: isCompleted, conclude: (ending, completed) => completed }),
  );
}

/** Emits when the next round may start, or fails with what the caller gets (R2-R5). */
function nextRound(call: CallState<unknown>, error: unknown, { scheduler, report }: Ports): Observable<unknown> {
  if (!isAttemptError(error)) return throwError(() => error);
  if (call.committed !== undefined) return throwError(() => brokenOff(call, error));
  const next = call.afterRound(error);
  switch (next.type) {
    case 'throw':
      return throwError(() => error);
    case 'give-up':
      return throwError(() => exhausted(call, 'retry_exhausted', `gave up after ${call.attempts} attempts: ${error.message}`));
    case 'too-late':
      return throwError(() => tooLate(call, 'the next try would start after the deadline'));
    case 'again':
      if (next.delayMs > 0) report({ type: 'retry-scheduled', callId: call.id, round: call.rounds, source: error.source ?? null, failureClass: error.code, delayMs: next.delayMs });
      return next.delayMs > 0 ? timer(next.delayMs, scheduler) : of(undefined);
    default:
      return next satisfies never;
  }
}

/** Admits the first runnable source, or waits for one as the settings say (B4). */
function admitPrimary(call: CallState<unknown>, ports: Ports): Observable<Admitted<Upstream>> {
  const { policy, scheduler, governance, report } = ports;
  const patience$ = patienceOf(call, ports);
  const admitted$ = defer(() => admitRunnable(call, governance));
  let told = false;
  return admitWhenRunnable({
    // Whatever it waited for before, a chat round begins with the stall budget (B3): its 429s have no other bound.
    tryAdmit: () => (!policy.onlyTransientBurns || isPatient({ clock: call.clock, stallWindowMs: policy.stallWindowMs }) ? admitted$ : patience$.pipe(mergeMap(() => admitted$))),
    patience$,
    refuseWait: (refusal) => {
      refuseWait(call, refusal, ports);
      if (!told) report({ type: 'call-waiting', callId: call.id, gate: refusal.gate, reason: refusal.message, retryAfterMs: refusal.retryAfterMs ?? null });
      told = true;
    },
    pauseMs: (askedMs) => call.pauseMs(askedMs),
    line: governance.line,
    pollEveryMs: policy.pollEveryMs,
    random: policy.random,
    scheduler,
  }).pipe(catchError((error: unknown) => refusedOneTurnLater(error, scheduler)));
}

/** A refusal in the turn of the subscription would make callers who ask again in `error` recurse without end. */
function refusedOneTurnLater(error: unknown, scheduler: SchedulerLike): Observable<never> {
  return timer(0, scheduler).pipe(
    map(() => {
      throw error;
    }),
  );
}

function admitRunnable(call: CallState<unknown>, governance: Governance): Observable<Admitted<Upstream>> {
  if (call.allOut()) return throwError(() => exhausted(call, 'no_runnable_source', `every source is out for this call${lastWords(call)}`));
  const { sources, resting } = call.runnable();
  return decided(governance, admitFirst({ sources, refused: resting, gate: governance.admission, ticketFor: (source) => call.ticketFor(source, 'primary', call.rounds + 1) }));
}

/** Throws where this refusal must not be waited for (R3, R5, B4). */
function refuseWait(call: CallState<unknown>, { message, hopeless, retryAfterMs, notBeforeMs }: NoneAdmitted, { policy }: Ports): void {
  const retryAfter = retryAfterMs === undefined ? {} : { retryAfterS: retryAfterMs / 1000 };
  if (policy.backpressure === 'fail_fast') throw exhausted(call, 'no_runnable_source', message, retryAfter);
  if (notBeforeMs > 0 && notBeforeMs >= call.deadlineLeftMs()) throw tooLate(call, `no source may be asked before the deadline: ${message}`, retryAfter);
  if (hopeless) throw exhausted(call, 'no_runnable_source', message, retryAfter);
}

function lastWords({ lastFailure }: CallState<unknown>): string {
  return lastFailure === undefined ? '' : `; the last one said: ${lastFailure.message}`;
}

function patienceOf(call: CallState<unknown>, { policy, governance }: Ports): Observable<void> {
  return patience({
    clock: call.clock,
    progress: governance.progress,
    stallWindowMs: policy.stallWindowMs,
    stalled: (stalledMs) =>
      exhausted(call, 'stalled', `waited ${(stalledMs / 1000).toFixed(1)} s in all, and nobody of the scope had an answer meanwhile`, earliest(call, governance.admission)),
  });
}

/** When asking again can help, where every source would be refused now. */
function earliest(call: CallState<unknown>, gate: Gate): ErrorFacts {
  const { sources, resting } = call.runnable();
  const refusals = sources.flatMap((source) => gate.refusal?.(call.ticketFor(source, 'primary', call.rounds + 1)) ?? []);
  if (refusals.length < sources.length) return {};
  const { retryAfterMs } = new NoneAdmitted([...resting, ...refusals]);
  return retryAfterMs === undefined ? {} : { retryAfterS: retryAfterMs / 1000 };
}

/** Emits at the deadline; only when that has torn the attempts down is it known whether one of them had an answer. */
function deadline(call: CallState<unknown>, callDeadlineMs: number, scheduler: SchedulerLike): Observable<undefined> {
  return dueAfter(callDeadlineMs, scheduler).pipe(
    map(() => {
      call.endedBy = 'deadline';
      return undefined;
    }),
  );
}

/** An answer that was waiting for a better one, or for its end marker, is better than none (H4, H15). */
function heldAtDeadline<A>(call: CallState<A>): Observable<Completed<A>> {
  return defer(() => {
    if (call.endedBy !== 'deadline') return EMPTY;
    if (call.held === undefined) throw tooLate(call, 'the deadline has passed');
    return of(call.held);
  });
}

function closed(call: CallState<unknown>, { closing$ }: CallEnds): Observable<never> {
  return closing$.pipe(
    map(() => {
      call.endedBy = 'closed';
      throw new GatewayClosedError('the gateway was closed during the call', factsOf(call));
    }),
  );
}

/** What the call took in all, and who answered it. */
function totalsOf(call: CallState<unknown>, { type }: Ending): { source: string | null; attempts: number; hedges: number; waitedMs: number } {
  const winner = type === 'completed' ? (call.winner ?? call.held) : undefined;
  return { source: winner?.source.id ?? null, attempts: call.attempts, hedges: call.hedges, waitedMs: Math.trunc(call.clock.stalledMs()) };
}

function outcomeOf(ending: Ending, { signal }: CallEnds): { outcome: 'ok' | 'failed' | 'cancelled'; code: string | null } {
  if (ending.type === 'completed') return { outcome: 'ok', code: null };
  if (ending.type === 'unsubscribed' || signal?.aborted === true) return { outcome: 'cancelled', code: null };
  return { outcome: 'failed', code: isGatewayError(ending.error) ? ending.error.code : null };
}
