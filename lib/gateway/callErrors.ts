import { AllSourcesExhausted, CallDeadlineExceeded, StreamInterrupted, errorFacts, isGatewayError } from '../model/errors.js';
import type { AttemptError, ErrorFacts, ExhaustedReason } from '../model/errors.js';
import type { CallState } from './callState.js';

/** What was passed on cannot be taken back, so that nothing is tried again (H12). */
export function brokenOff(call: CallState<unknown>, error: AttemptError): AttemptError | StreamInterrupted {
  if (error.code === 'request') return error;
  const { partial: { increments, chars } = { increments: 0, chars: 0 }, ...facts } = factsOf(call);
  const passed = `increments: ${increments}, characters: ${chars}`;
  return new StreamInterrupted(`the answer of ${error.source ?? 'the source'} broke off after part of it had been passed on (${passed}): ${error.message}`, { ...facts, partial: { increments, chars } });
}

export function exhausted(call: CallState<unknown>, reason: ExhaustedReason, message: string, facts: ErrorFacts = {}): AllSourcesExhausted {
  return new AllSourcesExhausted(message, { ...factsOf(call), ...facts, reason });
}

export function tooLate(call: CallState<unknown>, message: string, facts: ErrorFacts = {}): CallDeadlineExceeded {
  return new CallDeadlineExceeded(message, { ...factsOf(call), ...facts });
}

/** A call's error tells what its last failure told (R7), and how much of an answer was passed on. */
export function factsOf({ id, attempts, lastFailure, committed }: CallState<unknown>): ErrorFacts {
  const ofLast = lastFailure === undefined ? {} : { ...errorFacts(lastFailure), cause: lastFailure };
  const passed = committed === undefined ? {} : { source: committed.admitted.source.id, partial: committed.exchange.reply.partial() };
  return { ...ofLast, ...passed, callId: id, attempts };
}

export function isAttemptError(error: unknown): error is AttemptError {
  return isGatewayError(error) && ['transient', 'rate_limited', 'source', 'request'].includes(error.code);
}
