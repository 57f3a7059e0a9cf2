import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import type { OutcomeCounts } from './reportFigures.js';
import type { Sum } from './timeSplit.js';

export function noOutcomes(): Sum<OutcomeCounts> {
  return { won: 0, lost: 0, transient: 0, rate_limited: 0, source: 0, request: 0, hedge_cancelled: 0, caller_cancelled: 0, deadline: 0 };
}

export function countOutcome(counts: Sum<OutcomeCounts>, attempt: StoredAttempt): void {
  const kind = outcomeOf(attempt);
  if (kind !== null) counts[kind] += 1;
}

/** Attempts that ended in error, losers and those that their caller left not counted. */
export function failedOf({ transient, rate_limited: limited, source, request, deadline }: OutcomeCounts): number {
  return transient + limited + source + request + deadline;
}

/** `null`: an error of a class that this version does not know. */
export function outcomeOf({ outcome, won, error_class }: StoredAttempt): keyof OutcomeCounts | null {
  if (outcome === 'error') return error_class;
  return won ? 'won' : 'lost';
}
