import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { outcomeOf } from './outcomes.js';
import type { HedgeFigures, OutcomeCounts } from './reportFigures.js';

export interface HedgeCount {
  add(call: readonly StoredAttempt[]): void;
  figures(): HedgeFigures;
}

/** What hedging did: backups by trigger and by end, and what the attempts cost that lost. */
export function createHedgeCount(): HedgeCount {
  const sums = { calls: 0, won: 0, wasted: 0, failed: 0, winnersTokens: 0 };
  const started = { first_increment: 0, stall: 0 };
  const losers = { attempts: 0, tokensReported: 0, tokensEstimated: 0, unknown: 0, wallMs: 0 };

  function addBackup(backup: StoredAttempt): void {
    if (backup.hedge_trigger !== null) started[backup.hedge_trigger] += 1;
    sums[endOf(outcomeOf(backup))] += 1;
  }

  function addLoser(loser: StoredAttempt): void {
    losers.attempts += 1;
    losers.wallMs += loser.latency_ms ?? 0;
    if (loser.total_tokens !== null) losers.tokensReported += loser.total_tokens;
    else if (loser.estimated_tokens !== null) losers.tokensEstimated += loser.estimated_tokens;
    else losers.unknown += 1;
  }

  return {
    add(call) {
      if (call.some(isBackup)) sums.calls += 1;
      for (const attempt of call) {
        const outcome = outcomeOf(attempt);
        if (isBackup(attempt)) addBackup(attempt);
        if (outcome === 'won') sums.winnersTokens += attempt.total_tokens ?? 0;
        if (outcome === 'lost' || outcome === 'hedge_cancelled') addLoser(attempt);
      }
    },
    figures: () => ({ ...sums, started: { ...started }, losers: { ...losers } }),
  };
}

function isBackup({ role }: StoredAttempt): boolean {
  return role === 'backup';
}

function endOf(outcome: keyof OutcomeCounts | null): 'won' | 'wasted' | 'failed' {
  switch (outcome) {
    case 'won':
      return 'won';
    case 'lost':
    case 'hedge_cancelled':
    case 'caller_cancelled':
    case 'deadline':
      return 'wasted';
    default:
      return 'failed';
  }
}
