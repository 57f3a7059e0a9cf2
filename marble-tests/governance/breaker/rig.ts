import type { BreakerPolicy } from '../../../lib/governance/breaker/breaker.js';
import { createBreakerGate } from '../../../lib/governance/breaker/breakerGate.js';
import type { BreakerGate, BreakerGateOptions } from '../../../lib/governance/breaker/breakerGate.js';
import type { Outcome } from '../../../lib/governance/gate.js';
import type { GatewayEventBody } from '../../../lib/model/events.js';
import { admit } from '../quota/ask.js';

export const failure: Outcome = { type: 'failure', totalTokens: null };
export const rateLimited: Outcome = { type: 'rate-limited', totalTokens: null };
export const cancelled: Outcome = { type: 'cancelled', totalTokens: null };

export const threeInARow: BreakerPolicy = { failures: 3, cooldownMs: 30_000, cooldownMaxMs: 300_000, ratio: 1, windowMs: 60_000, minCalls: 1000 };

export interface Rig {
  readonly gate: BreakerGate;
  /** Sets the clock. */
  readonly at: (ms: number) => BreakerGate;
  readonly events: GatewayEventBody[];
  /** The phases that were told of and not asked for yet, with the cool-down where there is one. */
  readonly told: () => string[];
}

/** Breakers of `a/1` and `b/1` on a clock that the test sets. */
export function breakers(options: Partial<BreakerGateOptions> = {}): Rig {
  let nowMs = 0;
  const events: GatewayEventBody[] = [];
  const { report = () => undefined } = options;
  const gate = createBreakerGate({
    sources: [{ id: 'a/1' }, { id: 'b/1' }],
    policy: threeInARow,
    now: () => nowMs,
    random: () => 1,
    ...options,
    report: (event) => {
      events.push(event);
      report(event);
    },
  });
  return {
    gate,
    at: (ms) => {
      nowMs = ms;
      return gate;
    },
    events,
    told: () => events.splice(0).map((event) => (event.type === 'breaker-changed' ? `${event.source} ${event.from} > ${event.to} ${event.coolDownMs ?? '-'}` : event.type)),
  };
}

/** As many failures at 0 s as the policy takes: the breaker of `a/1` is open until 30 s. */
export function openBreaker(options: Partial<BreakerGateOptions> = {}): Rig {
  const rig = breakers(options);
  const { failures } = options.policy ?? threeInARow;
  for (let count = 0; count < failures; count += 1) admit(rig.gate).settle(failure);
  rig.events.length = 0;
  return rig;
}
