import type { Upstream } from '../../model/source.js';
import type { BreakerPolicy } from '../breaker/breaker.js';
import { probeLeaseMs } from '../breaker/breakerGate.js';
import { longestParkMs } from '../parking.js';
import { sourceKeys } from './sourceKeys.js';

export interface SharedSource {
  readonly id: string;
  readonly keys: readonly string[];
  readonly tpm: number | undefined;
  /** What every script is told of it: this process's own limits, as durations and counts. */
  readonly rules: Readonly<Record<string, unknown>>;
}

export interface SharedRules {
  readonly scope: string;
  readonly breaker: BreakerPolicy;
  readonly ttlMs: number;
  /** How long a request and its tokens count. */
  readonly windowMs: number;
  /** Who waits and has not asked for so long waits no more, or has died. */
  readonly forgottenMs: number;
}

/** What nobody has asked about for a day is forgotten. */
const leastKeptMs = 24 * 3600_000;

export function sharedSource({ id, limits, maxConcurrency, rpm, tpm }: Pick<Upstream, 'id' | 'limits' | 'maxConcurrency' | 'rpm' | 'tpm'>, { scope, breaker, ttlMs, windowMs, forgottenMs }: SharedRules): SharedSource {
  return {
    id,
    keys: sourceKeys(scope, id),
    tpm,
    rules: {
      maxConcurrency,
      rpm,
      tpm,
      ttlMs: Math.ceil(ttlMs),
      windowMs,
      longestParkMs,
      forgottenMs: Math.ceil(forgottenMs),
      probeLeaseMs: probeLeaseMs(limits),
      breaker: finite(breaker),
      keepMs: Math.ceil(Math.max(leastKeptMs, 2 * breaker.cooldownMaxMs)),
    },
  };
}

/** JSON has no word for what is without end; what is left out never comes true. */
function finite(policy: BreakerPolicy): Record<string, number> {
  return Object.fromEntries(Object.entries(policy).filter(([, figure]) => Number.isFinite(figure)));
}
