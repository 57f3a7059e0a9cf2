import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import type { BreakerPolicy } from '../../lib/governance/breaker/breaker.js';
import { openConnection } from '../../lib/governance/redis/connection.js';
import type { Word } from '../../lib/governance/redis/connection.js';
import { sharedSource } from '../../lib/governance/redis/sharedSource.js';
import type { GovernanceScope } from '../../lib/governance/governance.js';
import { patient, targetOf, ticket } from './holders.js';

export interface ScriptsSpec {
  readonly url: string;
  readonly scope: string;
  readonly limits?: Partial<GovernanceScope['sources'][number]>;
  readonly breaker?: Partial<BreakerPolicy>;
  readonly ttlMs?: number;
  readonly windowMs?: number;
  /** The server's clock. */
  readonly now: () => number;
}

export interface Entered {
  readonly refused?: { readonly inUse?: number; readonly parkedMs?: number; readonly givenUp?: boolean; readonly breaker?: { readonly type: string; readonly leftMs?: number }; readonly requests?: { readonly leavesInMs: number } };
}

export interface RenewedLease {
  readonly id: string;
  readonly sinceMs: number;
}

/** The scripts themselves, on a clock that the test sets, with no process's memory before them. */
export interface Scripts {
  enter(id: string, tokens?: number): Promise<Entered>;
  progress(id: string): Promise<unknown>;
  settle(id: string, result?: string, more?: { readonly tokens?: number; readonly mayBeHeardLate?: boolean }): Promise<unknown>;
  renew(leases: readonly RenewedLease[]): Promise<readonly string[]>;
  park(forMs: number): Promise<unknown>;
  age(): Promise<number | undefined>;
  close(): void;
}

export function openScripts({ url, scope, limits = {}, breaker, ttlMs = 1000, windowMs = 60_000, now }: ScriptsSpec): Scripts {
  const { keys, rules } = sharedSource({ id: ticket.sourceId, limits: {}, ...limits }, { scope, breaker: { ...patient, ...breaker }, ttlMs, windowMs, forgottenMs: 2000 });
  const connection = openConnection({ target: targetOf(url), scheduler: monotonicScheduler, report: () => undefined, serverNow: now });
  const run = <R>(script: Word['script'], ask: object = {}): Promise<R> => firstValueFrom(connection.run<R>({ script, keys, ask: { ...rules, ...ask }, limitMs: 5000 }));
  return {
    enter: (id, tokens = 100) => run('enter', { id, holder: id, mayProbe: true, tokens }),
    progress: (id) => run('progress', { id }),
    settle: (id, result = 'cancelled', more = {}) => run('settle', { id, result, random: 1, ...more }),
    renew: async (leases) => (await run<{ lost?: readonly string[] }>('renew', { leases })).lost ?? [],
    park: (forMs) => run('park', { forMs }),
    age: async () => (await run<{ ageMs?: number }>('age')).ageMs,
    close: () => connection.close(),
  };
}
