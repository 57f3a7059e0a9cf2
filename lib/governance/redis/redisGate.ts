import { defer, finalize, map } from 'rxjs';
import { attemptOf, once } from '../gate.js';
import type { Gate, Outcome, Permit, Ticket } from '../gate.js';
import type { BreakerGate } from '../breaker/breakerGate.js';
import { tokenCount, tokensToReserve } from '../quota/quotaRules.js';
import type { RedisConnection } from './connection.js';
import type { Deliveries } from './deliveries.js';
import { createHunger } from './hunger.js';
import type { Lease, Leases } from './leases.js';
import type { SharedSource } from './sharedSource.js';
import type { Noes, Sighting, Sightings } from './sightings.js';

interface EnterAnswer extends Sighting {
  readonly refused?: Noes;
  /** The permit is a half-open breaker's probe. */
  readonly probe?: boolean;
}

export interface RedisGateOptions {
  readonly sourceOf: (id: string) => SharedSource;
  readonly connection: RedisConnection;
  readonly deliveries: Deliveries;
  readonly leases: Leases;
  readonly sightings: Sightings;
  /** Hears all that this process's attempts teach, and decides where the shared breaker cannot be read (G6). */
  readonly localBreaker: BreakerGate;
  /** This process, as the others know it. */
  readonly holder: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Whoever has not asked for so long no longer waits. */
  readonly forgottenMs: number;
  /** A decision that takes longer is none (G6). */
  readonly limitMs: number;
  /** A request that is sent later than this after it was asked for is told to be late. */
  readonly lateLimitMs: number;
}

export interface RedisGate extends Gate {
  /** Settles what is still held, as cancelled. */
  giveAllBack(): void;
}

/**
 * Parking, breaker, pacer and quota of the fleet as one gate: one round trip to enter, one to settle. Fails with
 * `GovernanceBackendError` where Redis does not decide in time; whoever leaves before the answer holds nothing.
 */
export function createRedisGate(options: RedisGateOptions): RedisGate {
  const { sourceOf, connection, deliveries, leases, sightings, localBreaker, holder, now, random, forgottenMs, limitMs, lateLimitMs } = options;
  const open = new Set<Permit>();
  const hunger = createHunger({ now, forgottenMs });
  let lastLease = 0;

  function giveBack(lease: Lease, { result, tokens }: { result: Outcome['type']; tokens?: number | null }): void {
    const { id, source, attempt } = lease;
    deliveries.deliver<Sighting>({
      script: 'settle',
      keys: source.keys,
      ask: () => ({ ...source.rules, id, result, tokens: tokens ?? undefined, mayBeHeardLate: lease.mayBeHeardLate, random: random() }),
      onAnswer: (sighting) => sightings.note(attempt, sighting),
    });
  }

  function tell({ id, source, attempt }: Lease, script: 'late' | 'progress', facts: Readonly<Record<string, unknown>> = {}): void {
    const ask = { ...source.rules, id, ...facts };
    deliveries.deliver<Sighting>({ script, keys: source.keys, ask: () => ask, onAnswer: (sighting) => sightings.note(attempt, sighting) });
  }

  function permitOf(lease: Lease, ticket: Ticket, isProbe: boolean): Permit {
    const { source } = lease;
    const local = localBreaker.take(ticket);
    const askedMs = lease.confirmedMs;
    leases.hold(lease);
    const permit: Permit = {
      sent() {
        const lateMs = Math.ceil(leases.now() - askedMs);
        // Else the windows would let the next minute's begin too early, where this process had no time to send.
        if (lateMs > lateLimitMs) tell(lease, 'late', { lateMs });
      },
      progress() {
        local.progress();
        if (isProbe) tell(lease, 'progress');
      },
      settle: once((outcome) => {
        local.settle(outcome);
        open.delete(permit);
        leases.drop(lease);
        sightings.givenBack(source.id, { unsent: outcome.type === 'unsent' });
        giveBack(lease, { result: outcome.type, tokens: outcome.type === 'unsent' ? null : tokenCount(outcome.totalTokens) });
      }),
      expired: () => leases.expired(lease),
    };
    open.add(permit);
    return permit;
  }

  return {
    refusal: (ticket) => sightings.refusal(ticket),
    giveAllBack: () => { for (const permit of open) permit.settle({ type: 'cancelled', totalTokens: null }); },
    enter: (ticket) =>
      defer(() => {
        const source = sourceOf(ticket.sourceId);
        const lease: Lease = { id: `${holder}:${(lastLease += 1)}`, source, attempt: attemptOf(ticket), confirmedMs: leases.now(), mayBeHeardLate: false };
        let isOpen = false;
        const asked = { ...source.rules, id: lease.id, holder, ...hunger.of(ticket), mayProbe: ticket.role === 'primary', tokens: tokensToReserve(ticket, source) };
        return connection.run<EnterAnswer>({ script: 'enter', keys: source.keys, ask: asked, limitMs, onSaid: () => { isOpen = true; } }).pipe(
          map((answer) => {
            sightings.note(lease.attempt, answer);
            const no = answer.refused;
            const isUnreadable = answer.phase === undefined;
            if (isUnreadable) sightings.lostSightOfBreaker(source.id);
            const own = isUnreadable && no === undefined ? localBreaker.refusal(ticket) : undefined;
            if (own !== undefined) throw own;
            isOpen = false;
            hunger.note(ticket, no);
            if (no !== undefined) throw sightings.refused(ticket, no);
            return permitOf(lease, ticket, answer.probe === true);
          }),
          // It may have been granted unheard: nobody may wait for it until it runs out.
          finalize(() => {
            if (!isOpen) return;
            lease.mayBeHeardLate = true;
            giveBack(lease, { result: 'unsent' });
          }),
        );
      }),
  };
}
