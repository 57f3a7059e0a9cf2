import { EMPTY, catchError, defer, from, ignoreElements, mergeMap, repeat, tap, timer } from 'rxjs';
import type { Observable, SchedulerLike, Subscription } from 'rxjs';
import type { OfAttempt, Report } from '../../model/events.js';
import type { RedisConnection } from './connection.js';
import type { SharedSource } from './sharedSource.js';

/** One permit of this process, as Redis knows it. */
export interface Lease {
  readonly id: string;
  readonly source: SharedSource;
  readonly attempt: OfAttempt;
  /** It has been ours without a gap at least until a lifetime after this. */
  confirmedMs: number;
  /** Something was said for it whose answer never came, over a connection that may be gone. */
  mayBeHeardLate: boolean;
}

/** The leases that this process holds; renewed together, a third of their lifetime after the last time. */
export interface Leases {
  hold(lease: Lease): void;
  drop(lease: Lease): void;
  /** It may be somebody else's by now. */
  expired(lease: Lease): boolean;
  /** The clock that leases run out by. */
  now(): number;
  /** How many are held, per source. */
  counts(): Record<string, number>;
}

export interface LeasesOptions {
  readonly sources: readonly SharedSource[];
  readonly connection: RedisConnection;
  readonly ttlMs: number;
  readonly scheduler: SchedulerLike;
  readonly report: Report;
}

/** After a failed renewal the next one does not wait for its time, or the leases might run out before it. */
const retryMs = 1000;

export function createLeases({ sources, connection, ttlMs, scheduler, report }: LeasesOptions): Leases {
  const held = new Set<Lease>();
  const lost = new WeakSet<Lease>();
  let renewals: Subscription | undefined;
  let waitMs = ttlMs / 3;

  function renew(source: SharedSource): Observable<never> {
    return defer(() => {
      const sentMs = scheduler.now();
      const leases = [...held].filter((lease) => lease.source === source && !lost.has(lease));
      if (leases.length === 0) return EMPTY;
      const asked = leases.map(({ id, confirmedMs }) => ({ id, sinceMs: Math.ceil(sentMs - confirmedMs) }));
      return connection.run<{ lost?: readonly string[] }>({ script: 'renew', keys: source.keys, ask: { ...source.rules, leases: asked }, limitMs: ttlMs / 3 }).pipe(
        tap({ next: ({ lost: gone = [] }) => { for (const lease of leases) confirm(lease, gone.includes(lease.id), sentMs); } }),
        ignoreElements(),
        catchError(() => {
          for (const lease of leases) lease.mayBeHeardLate = true;
          waitMs = Math.min(waitMs, retryMs);
          return EMPTY;
        }),
      );
    });
  }

  function confirm(lease: Lease, isLost: boolean, sentMs: number): void {
    if (!isLost) lease.confirmedMs = sentMs;
    else if (held.has(lease)) {
      lost.add(lease);
      report({ type: 'lease-lost', ...lease.attempt });
    }
  }

  const renewAll$ = defer(() => {
    waitMs = ttlMs / 3;
    return from(sources).pipe(mergeMap(renew));
  });
  const renewals$ = defer(() => timer(waitMs, scheduler)).pipe(mergeMap(() => renewAll$), repeat());

  return {
    hold(lease) {
      held.add(lease);
      renewals ??= renewals$.subscribe();
    },
    drop(lease) {
      held.delete(lease);
      if (held.size > 0) return;
      renewals?.unsubscribe();
      renewals = undefined;
    },
    now: () => scheduler.now(),
    expired: (lease) => lost.has(lease) || scheduler.now() - lease.confirmedMs >= ttlMs,
    counts() {
      const counts = Object.fromEntries(sources.map(({ id }) => [id, 0]));
      for (const { source } of held) counts[source.id] = (counts[source.id] ?? 0) + 1;
      return counts;
    },
  };
}
