import { mayHedge } from '../config/checks.js';
import { secondsToMs } from '../config/limitsOf.js';
import type { ResolvedSettings, Service } from '../config/settings.js';
import type { Policy } from '../gateway/ports.js';
import type { BreakerPolicy } from '../governance/breaker/breaker.js';

const msOrNull = (seconds: number | undefined): number | null => (seconds === undefined ? null : secondsToMs(seconds));

/** The settings as the engine wants them. Hedging serves chat alone (C6), where only transient failures burn the budget (R3, R4). */
export function policyOf(settings: ResolvedSettings, { serves, random }: { serves: Service; random: () => number }): Policy {
  const hedges = mayHedge(settings.scope, serves);
  return {
    scope: settings.scope,
    stallThresholdMs: settings.stallThresholdMs,
    hedgeAfterMs: hedges ? msOrNull(settings.hedgeAfterS) : null,
    hedgeStallAfterMs: hedges ? msOrNull(settings.hedgeStallAfterS) : null,
    hedgeMaxBackups: settings.hedgeMaxBackups,
    callDeadlineMs: msOrNull(settings.callDeadlineS),
    maxAttempts: settings.maxAttempts,
    onlyTransientBurns: serves === 'chat',
    backoffMs: secondsToMs(settings.backoffS),
    backoffMaxMs: secondsToMs(settings.backoffMaxS),
    backpressure: settings.backpressure,
    stallWindowMs: secondsToMs(settings.stallWindowS),
    pollEveryMs: secondsToMs(settings.pollS),
    random,
  };
}

export function breakerPolicyOf(settings: ResolvedSettings): BreakerPolicy {
  return {
    failures: settings.breakerFailures,
    cooldownMs: secondsToMs(settings.breakerCooldownS),
    cooldownMaxMs: secondsToMs(settings.breakerCooldownMaxS),
    ratio: settings.breakerRatio,
    windowMs: secondsToMs(settings.breakerWindowS),
    minCalls: settings.breakerMinCalls,
  };
}
