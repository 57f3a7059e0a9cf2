import { randomUUID } from 'node:crypto';
import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import type { BreakerPolicy } from '../../lib/governance/breaker/breaker.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Permit, Ticket } from '../../lib/governance/gate.js';
import type { Governance, GovernanceScope } from '../../lib/governance/governance.js';
import { createMemoryGovernance } from '../../lib/governance/memory.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import type { GatewayEventBody } from '../../lib/model/events.js';
import { parseRedisUrl } from '../../lib/model/redisTarget.js';
import type { RedisTarget } from '../../lib/model/redisTarget.js';
import { sharedRedisUrl } from '../support/redisServer.js';

export interface WorldSpec {
  readonly sources?: GovernanceScope['sources'];
  readonly breaker?: Partial<BreakerPolicy>;
  readonly hedgeMaxRatio?: number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly leaseTtlMs?: number;
}

/** The admission state of a scope whose time the test sets. */
export interface World {
  readonly governance: Governance;
  readonly events: GatewayEventBody[];
  advance(this: void, ms: number): void;
  /** A permit, or why not. */
  enter(this: void, ticket?: Partial<Ticket>): Promise<Permit | AdmissionRefused>;
  /** Settles when all that was said before has been heard. */
  heard(this: void): Promise<void>;
  close(this: void): Promise<void>;
}

/** Keeps admission state, in one way or another. */
export interface Holder {
  readonly name: string;
  open(spec?: WorldSpec): World;
}

/** Opens never. */
export const patient: BreakerPolicy = { failures: Infinity, cooldownMs: 30_000, cooldownMaxMs: 240_000, ratio: 1, windowMs: 60_000, minCalls: Infinity };

export const ticket: Ticket = { sourceId: 'a/1', callId: 'call', attemptId: 'call-1', role: 'primary', round: 1, estimatedTokens: 100 };

/** Wide enough that leases play no part where they are not the subject. */
const longLeaseMs = 3_600_000_000;
const minuteMs = 60_000;

export function targetOf(url: string): RedisTarget {
  const target = parseRedisUrl(url);
  if (target === undefined) throw new Error(`not an address of Redis: ${url}`);
  return target;
}

export const memoryHolder: Holder = {
  name: 'memory',
  open: (spec = {}) => worldOf(spec, (scope) => ({ ...createMemoryGovernance(scope), close: () => Promise.resolve() })),
};

/** Each world has a scope of its own, so that they share a server and nothing else. */
export function redisHolder(url: () => string = sharedRedisUrl, name = 'Redis'): Holder {
  return {
    name,
    open: (spec = {}) =>
      worldOf(spec, (scope) =>
        createRedisGovernance(scope, {
          target: targetOf(url()),
          scope: `test-${randomUUID()}`,
          leaseTtlMs: spec.leaseTtlMs ?? longLeaseMs,
          scheduler: monotonicScheduler,
          decisionLimitMs: 5000,
          windowMs: minuteMs,
          ageKnownMs: 0,
          serverNow: scope.now,
        }),
      ),
  };
}

export const holders: readonly Holder[] = [memoryHolder, redisHolder()];

function worldOf(spec: WorldSpec, open: (scope: GovernanceScope) => Governance & { close(): Promise<void> }): World {
  const { sources = [{ id: 'a/1', limits: {} }], breaker, hedgeMaxRatio, random = () => 1 } = spec;
  const events: GatewayEventBody[] = [];
  let nowMs = 1_700_000_000_000;
  const governance = open({ sources, breaker: { ...patient, ...breaker }, hedgeMaxRatio, now: () => nowMs, random, report: (event) => events.push(event) });
  return {
    governance,
    events,
    advance: (ms) => { nowMs += ms; },
    enter: (asked = {}) => firstValueFrom(governance.admission.enter({ ...ticket, ...asked })).catch(refusalOnly),
    heard: async () => { await firstValueFrom(governance.progress.ageMs()); },
    close: () => governance.close(),
  };
}

function refusalOnly(error: unknown): AdmissionRefused {
  if (error instanceof AdmissionRefused) return error;
  throw error;
}
