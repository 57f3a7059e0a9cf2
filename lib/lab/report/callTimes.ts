import type { StoredAttempt } from '../../telemetry/attemptReader.js';

/** A call as its attempts tell it; times in ms. */
export interface CallTimes {
  /** When the call was entered: its first start less what it had waited by then; since 1970. */
  readonly enteredAtMs: number;
  /** From there to the end of its last attempt. */
  readonly callMs: number;
  /** The attempt that answered it; `undefined` where it failed. */
  readonly winner: StoredAttempt | undefined;
}

/** `call` is in order, and has at least one attempt. */
export function callTimes(call: readonly StoredAttempt[]): CallTimes {
  const first = call.reduce((earliest, attempt) => (attempt.startedAtMs < earliest.startedAtMs ? attempt : earliest));
  const enteredAtMs = first.startedAtMs - (first.waited_ms ?? 0);
  const endAtMs = call.reduce((latestMs, attempt) => Math.max(latestMs, attempt.startedAtMs + (attempt.latency_ms ?? 0)), first.startedAtMs);
  // A call for embeddings may have answered rounds and fail nevertheless.
  const lastRound = call.at(-1)?.round;
  const winner = call.find((attempt) => attempt.round === lastRound && attempt.outcome === 'ok' && attempt.won);
  return { enteredAtMs, callMs: endAtMs - enteredAtMs, winner };
}
