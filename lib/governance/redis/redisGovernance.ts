import { randomUUID } from 'node:crypto';
import { defer, forkJoin, map, of, share, tap } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { RedisTarget } from '../../model/redisTarget.js';
import { createAdmission } from '../admit.js';
import { createBreakerGate, probeLeaseMs } from '../breaker/breakerGate.js';
import type { Governance, GovernanceScope } from '../governance.js';
import { createHedgeCap } from '../hedging/hedgeCap.js';
import { longestParkMs } from '../parking.js';
import { createWaitingLine } from '../waitingLine.js';
import { openConnection } from './connection.js';
import type { RedisConnection } from './connection.js';
import { createDeliveries } from './deliveries.js';
import { createLeases } from './leases.js';
import { createRedisGate } from './redisGate.js';
import { sharedSource } from './sharedSource.js';
import type { SharedSource } from './sharedSource.js';
import { createSightings } from './sightings.js';

export interface RedisOptions {
  readonly target: RedisTarget;
  /** Processes that share limits have the same scope, and the same ids for the same sources. */
  readonly scope: string;
  /** How long a permit outlives its process. */
  readonly leaseTtlMs: number;
  readonly scheduler: SchedulerLike;
  /** How often who waits asks; default 500. */
  readonly pollMs?: number;
  /** A decision that takes longer is none (G6); default 250. */
  readonly decisionLimitMs?: number;
  /** How long a request and its tokens count; default: a minute, and as long as they may be on their way. */
  readonly windowMs?: number;
  /** For so long one reading of the scope's progress serves all who ask; default 1000. */
  readonly ageKnownMs?: number;
  /** Only for tests: the time that scripts go by instead of the server's. */
  readonly serverNow?: () => number;
}

const decisionMs = 250;
const minuteMs = 60_000;
/** From grant to source: half for this process to send it, and half for a connection that another of a minute later finds made. */
const onItsWayMs = 1000;
const drainLimitMs = 1000;
/** Who waits is remembered for two of its polls, and for so long at least. */
const leastRememberedMs = 2000;
/** The first of many who come back for the same place is refused for all of them. */
const spreadMs = 50;

/**
 * Keeps the admission state of a fleet in Redis, on the server's clock: one script a decision, leases that end with their
 * holder. Without Redis nothing is admitted (G6).
 */
export function createRedisGovernance(
  { sources: upstreams, breaker, hedgeMaxRatio, now, random, report }: GovernanceScope,
  { target, scope, leaseTtlMs: ttlMs, scheduler, pollMs = 500, decisionLimitMs: limitMs = decisionMs, windowMs = minuteMs + onItsWayMs, ageKnownMs = 1000, serverNow }: RedisOptions,
): Governance & { close(): Promise<void> } {
  const forgottenMs = Math.max(leastRememberedMs, 2 * pollMs);
  const sources = new Map(upstreams.map((upstream) => [upstream.id, sharedSource(upstream, { scope, breaker, ttlMs, windowMs, forgottenMs })]));
  const connection = openConnection({ target, scheduler, report, serverNow });
  const deliveries = createDeliveries({ connection, scheduler, giveUpMs: ttlMs, random });
  const leases = createLeases({ sources: [...sources.values()], connection, ttlMs, scheduler, report });
  const sightings = createSightings({ now, report });
  const localBreaker = createBreakerGate({
    sources: upstreams.map(({ id, limits }) => ({ id, probeLeaseMs: probeLeaseMs(limits) })),
    policy: breaker,
    now,
    random,
    // It is heard of only where it decides.
    report: () => undefined,
  });
  const gate = createRedisGate({ sourceOf: (id) => known(sources, id), connection, deliveries, leases, sightings, localBreaker, holder: randomUUID(), now, random, forgottenMs, limitMs, lateLimitMs: onItsWayMs / 2 });
  const age$ = scopeAge({ connection, sources: [...sources.values()], now, limitMs, knownMs: ageKnownMs });
  const hedgeCap = hedgeMaxRatio === undefined ? [] : [createHedgeCap({ ratio: hedgeMaxRatio })];
  const line = createWaitingLine({ answersLater: true, spreadMs });

  return {
    admission: createAdmission({ gates: [gate, ...hedgeCap], line }),
    parking: {
      park(sourceId, forMs) {
        const { keys, rules } = known(sources, sourceId);
        const parkMs = Math.min(forMs, longestParkMs);
        const endMs = now() + parkMs;
        sightings.park(sourceId, parkMs);
        deliveries.deliver({ script: 'park', keys, ask: () => ({ ...rules, forMs: Math.max(0, Math.ceil(endMs - now())) }) });
      },
      parked: () => sightings.parked(),
    },
    progress: { ageMs: () => age$ },
    // Earlier than the limit of one source, after which the next one would be asked.
    decide: (decision$) => decision$.pipe(connection.within({ limitMs, earlierMs: 1 })),
    line,
    permits: () => leases.counts(),
    breakers: () => ({ ...localBreaker.phases(), ...Object.fromEntries(sightings.phases) }),
    paced: () => Object.fromEntries(sightings.concurrencies),
    async close() {
      gate.giveAllBack();
      await deliveries.drained(drainLimitMs);
      connection.close();
    },
  };
}

interface AgeOptions {
  readonly connection: RedisConnection;
  readonly sources: readonly SharedSource[];
  readonly now: () => number;
  readonly limitMs: number;
  readonly knownMs: number;
}

/** The scope's last success is that of the source that succeeded last (B3); one reading, no older for it, serves all who ask soon after. */
function scopeAge({ connection, sources, now, limitMs, knownMs }: AgeOptions): Observable<number> {
  if (sources.length === 0) return of(Infinity);
  let readMs = -Infinity;
  let ageThenMs = Infinity;
  const ages$ = sources.map(({ keys, rules }) => connection.run<{ ageMs?: number }>({ script: 'age', keys, ask: rules, limitMs }));
  const read$ = forkJoin(ages$).pipe(
    map((ages) => Math.min(...ages.map(({ ageMs = Infinity }) => ageMs))),
    tap({
      next: (ageMs) => {
        ageThenMs = ageMs;
        readMs = now();
      },
    }),
    share(),
  );
  return defer(() => (now() - readMs < knownMs ? of(ageThenMs) : read$));
}

function known(sources: ReadonlyMap<string, SharedSource>, id: string): SharedSource {
  const source = sources.get(id);
  if (source === undefined) throw new Error(`there is no source ${id}`);
  return source;
}
