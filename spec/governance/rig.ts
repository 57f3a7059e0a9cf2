import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import type { BreakerPolicy } from '../../lib/governance/breaker/breaker.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Permit, Ticket } from '../../lib/governance/gate.js';
import type { GovernanceScope } from '../../lib/governance/governance.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import { sourceKeys } from '../../lib/governance/redis/sourceKeys.js';
import type { GatewayEventBody } from '../../lib/model/events.js';
import { patient, targetOf, ticket } from './holders.js';

type Source = GovernanceScope['sources'][number];

export interface MemberSpec {
  readonly url: string;
  readonly scope: string;
  readonly limits?: Partial<Source>;
  readonly breaker?: Partial<BreakerPolicy>;
  readonly ttlMs?: number;
  readonly scheduler?: SchedulerLike;
}

/** One process of a fleet, as far as Redis can tell: a governance with a connection of its own, on real time. */
export interface Member {
  readonly governance: ReturnType<typeof createRedisGovernance>;
  readonly events: GatewayEventBody[];
  /** A permit, or why not; fails where nothing is decided. */
  enter(asked?: Partial<Ticket>): Promise<Permit | AdmissionRefused>;
  /** A permit; fails where there is none. */
  admitted(): Promise<Permit>;
}

export function openMember({ url, scope, limits = {}, breaker, ttlMs = 1500, scheduler = monotonicScheduler }: MemberSpec): Member {
  const events: GatewayEventBody[] = [];
  const governance = createRedisGovernance(
    { sources: [{ id: ticket.sourceId, limits: {}, ...limits }], breaker: { ...patient, ...breaker }, now: () => scheduler.now(), random: () => 1, report: (event) => events.push(event) },
    { target: targetOf(url), scope, leaseTtlMs: ttlMs, scheduler, ageKnownMs: 0 },
  );
  const admitted = (asked: Partial<Ticket> = {}): Promise<Permit> => firstValueFrom(governance.admission.enter({ ...ticket, ...asked }));
  return {
    governance,
    events,
    admitted: () => admitted(),
    enter: (asked) =>
      admitted(asked).catch((error: unknown) => {
        if (error instanceof AdmissionRefused) return error;
        throw error;
      }),
  };
}

export function isPermit(answer: Permit | AdmissionRefused): answer is Permit {
  return !(answer instanceof AdmissionRefused);
}

/** What Redis itself holds of the source, read beside the code under test. */
export interface Ledger {
  readonly client: Redis;
  /** Its keys by what they hold. */
  readonly keys: Readonly<Record<'breaker' | 'source' | 'leases' | 'held' | 'window' | 'spending' | 'released', string>>;
  /** Leases that are there, run out or not. */
  leases(): Promise<number>;
  /** Leases that count at this moment of the server's clock. */
  alive(): Promise<number>;
  /** Keys that would never go away by themselves. */
  lasting(): Promise<string[]>;
}

export function openLedger(url: string, scope: string): Ledger {
  // A client waits that long for the end of a connection, even of one that the server has closed before.
  const client = new Redis(url, { disconnectTimeout: 20, retryStrategy: () => 20 });
  client.on('error', () => undefined);
  const names = sourceKeys(scope, ticket.sourceId);
  const keys = Object.fromEntries(names.map((key) => [key.slice(key.lastIndexOf(':') + 1), key])) as Ledger['keys'];
  return {
    client,
    keys,
    leases: () => client.zcard(keys.leases),
    async alive() {
      const [seconds, micros] = await client.time();
      return client.zcount(keys.leases, `(${Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)}`, '+inf');
    },
    async lasting() {
      const ttls = await Promise.all(names.map((key) => client.pttl(key)));
      return names.filter((_, at) => ttls[at] === -1);
    },
  };
}

/** What a test has opened, to be closed in the opposite order, whatever became of the test. */
export interface Undo {
  readonly steps: (() => unknown)[];
  started<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T>;
  member(spec: MemberSpec): Member;
  ledger(url: string, scope: string): Ledger;
  all(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => unknown)[] = [];
  return {
    steps,
    async started(starting) {
      const service = await starting;
      steps.push(() => service.stop());
      return service;
    },
    member(spec) {
      const member = openMember(spec);
      steps.push(() => member.governance.close());
      return member;
    },
    ledger(url, scope) {
      const ledger = openLedger(url, scope);
      steps.push(() => ledger.client.disconnect());
      return ledger;
    },
    async all() {
      for (const step of steps.splice(0).reverse()) await step();
    },
  };
}
