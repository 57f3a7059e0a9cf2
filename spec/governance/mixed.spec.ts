import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import type { BreakerPolicy } from '../../lib/governance/breaker/breaker.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Permit } from '../../lib/governance/gate.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import type { GatewayEventBody } from '../../lib/model/events.js';
import { sharedRedisUrl } from '../support/redisServer.js';
import { until } from '../support/until.js';
import { patient, targetOf, ticket } from './holders.js';
import { createUndo, openLedger } from './rig.js';

const undo = createUndo();
afterEach(() => undo.all());

interface Settings {
  readonly leaseTtlMs?: number;
  readonly breaker?: Partial<BreakerPolicy>;
}

/** Processes of one scope, with settings of their own, on a time that the test sets; or on real time. */
function fleet({ limits = {}, serverNow }: { limits?: object; serverNow?: () => number } = {}) {
  const scope = `mixed-${randomUUID()}`;
  const events: GatewayEventBody[] = [];
  const join = ({ leaseTtlMs = 15_000, breaker }: Settings = {}) => {
    const now = serverNow ?? ((): number => monotonicScheduler.now());
    const governance = createRedisGovernance(
      { sources: [{ id: 'a/1', limits: {}, ...limits }], breaker: { ...patient, ...breaker }, now, random: () => 1, report: (event) => events.push(event) },
      { target: targetOf(sharedRedisUrl()), scope, leaseTtlMs, scheduler: monotonicScheduler, decisionLimitMs: 5000, ageKnownMs: 0, ...(serverNow && { serverNow }) },
    );
    undo.steps.push(() => governance.close());
    const ask = (): Promise<Permit> => firstValueFrom(governance.admission.enter(ticket));
    return { ask, refused: () => ask().then(() => 'in', (error: unknown) => error instanceof AdmissionRefused && error.message), heard: () => firstValueFrom(governance.progress.ageMs()) };
  };
  return { scope, events, join };
}

describe('processes of one scope that have not all been given the new settings yet', () => {
  test('R-X6: a shorter life of leases takes no place away from one that has a longer', async () => {
    let nowMs = 1_700_000_000_000;
    const { scope, join } = fleet({ limits: { maxConcurrency: 1 }, serverNow: () => nowMs });
    const [patientOne, hasty] = [join({ leaseTtlMs: 60_000 }), join({ leaseTtlMs: 2000 })];
    await patientOne.ask();
    expect(await hasty.refused()).toBe('a/1 runs 1 requests already');
    nowMs += 30_000;
    expect(await hasty.refused()).toBe('a/1 runs 1 requests already');
    const ledger = openLedger(sharedRedisUrl(), scope);
    undo.steps.push(() => ledger.client.disconnect());
    expect(await ledger.client.pttl(ledger.keys.leases)).toBeGreaterThan(50_000);
    nowMs += 30_001;
    expect(await hasty.refused()).toBe('in');
  });

  test('G4: results count for windows of every length', async () => {
    let nowMs = 1_700_000_000_000;
    const { events, join } = fleet({ serverNow: () => nowMs });
    const policy = { failures: Infinity, minCalls: 10, ratio: 0.5 };
    const members = [join({ breaker: { ...policy, windowMs: 60_000 } }), join({ breaker: { ...policy, windowMs: 30_000 } })];
    for (let failed = 0; failed < 10; failed += 1) {
      const member = members[failed % 2]!;
      (await member.ask()).settle({ type: 'failure', totalTokens: null });
      await member.heard();
      nowMs += 1000;
    }
    expect(events).toEqual([{ type: 'breaker-changed', callId: expect.any(String), attemptId: expect.any(String), source: 'a/1', from: 'closed', to: 'open', coolDownMs: 30_000 }]);
  });
});

test('G2: a request that this process had no time to send counts from when it was sent, not from its grant', async () => {
  const { scope, join } = fleet({ limits: { rpm: 10 } });
  const ledger = openLedger(sharedRedisUrl(), scope);
  undo.steps.push(() => ledger.client.disconnect());
  const { ask } = join();
  const [soon, late] = [await ask(), await ask()];
  soon.sent?.();
  const granted = await ledger.client.zrange(ledger.keys.window, '0', '-1', 'WITHSCORES');
  await sleep(5500);
  late.sent?.();
  const scores = (window: readonly string[]): number[] => window.filter((_, at) => at % 2 === 1).map(Number);
  await until('it is heard', async () => scores(await ledger.client.zrange(ledger.keys.window, '0', '-1', 'WITHSCORES'))[1]! > scores(granted)[1]! + 5000);
  expect(scores(await ledger.client.zrange(ledger.keys.window, '0', '-1', 'WITHSCORES'))[0]).toBe(scores(granted)[0]);
}, 20_000);
