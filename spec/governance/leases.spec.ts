import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import { startTcpProxy } from '../support/tcpProxy.js';
import { until } from '../support/until.js';
import { createUndo, isPermit } from './rig.js';
import type { Ledger, Member, MemberSpec } from './rig.js';
import { playLeases, steps } from './rigLeases.js';
import type { Bench } from './rigLeases.js';
import { openScripts } from './rigScripts.js';
import type { ScriptsSpec } from './rigScripts.js';

let server: RedisServer;
beforeAll(async () => { server = await startRedis(); });
afterAll(() => server.stop());

const undo = createUndo();
afterEach(() => undo.all());

/** Starts at 1 January 2026. */
const startMs = 1_767_225_600_000;

function openBench(spec: Omit<ScriptsSpec, 'url' | 'scope' | 'now'> = {}): Bench {
  const clock = { nowMs: startMs };
  const scope = randomUUID();
  const scripts = openScripts({ url: server.url, scope, now: () => clock.nowMs, ...spec });
  undo.steps.push(() => scripts.close());
  return { scripts, ledger: undo.ledger(server.url, scope), clock };
}

function openFleet(spec: Omit<MemberSpec, 'url' | 'scope'> = {}): { readonly ledger: Ledger; member(url?: string): Member } {
  const scope = randomUUID();
  return { ledger: undo.ledger(server.url, scope), member: (url = server.url) => undo.member({ url, scope, limits: { maxConcurrency: 1 }, ...spec }) };
}

const ttlMs = 10_000;

describe('leases by the scripts', () => {
  test('R-X3, R-X6: never more than the limit, never revived, ended once, none prolonged by another, in any order of enter, renew, settle, expiry and loss', async () => {
    const limit = 2;
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        await playLeases(openBench({ limits: { maxConcurrency: limit, rpm: 1_000_000 }, ttlMs }), { limit, ttlMs, steps: taken }).finally(() => undo.all());
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test('R-X3: one that has run out is not revived, though there is room', async () => {
    const { scripts, ledger, clock } = openBench({ limits: { maxConcurrency: 2 }, ttlMs });
    await scripts.enter('late');
    await scripts.enter('in time');
    clock.nowMs += ttlMs;
    expect(await scripts.renew([{ id: 'late', sinceMs: ttlMs }, { id: 'in time', sinceMs: ttlMs - 1 }])).toEqual(['late']);
    expect(await ledger.client.zrange(ledger.keys.leases, '0', '-1')).toEqual(['in time']);
  });

  test('R-X3: a renewal that comes after the release it was overtaken by takes no place', async () => {
    const { scripts, ledger } = openBench({ limits: { maxConcurrency: 1 }, ttlMs });
    await scripts.enter('gone');
    await scripts.settle('gone', 'success', { mayBeHeardLate: true });
    expect(await scripts.renew([{ id: 'gone', sinceMs: 10 }])).toEqual(['gone']);
    expect(await ledger.leases()).toBe(0);
  });

  test('R-X7: a question that comes after its release is void', async () => {
    const { scripts, ledger } = openBench({ limits: { maxConcurrency: 1, rpm: 1 } });
    await scripts.settle('left', 'unsent', { mayBeHeardLate: true });
    expect((await scripts.enter('left')).refused).toEqual({ givenUp: true });
    expect([await ledger.leases(), await ledger.client.zcard(ledger.keys.window)]).toEqual([0, 0]);
    expect((await scripts.enter('next')).refused).toBeUndefined();
  });

  test('R-X6: a decision does no more for 20,000 leases of dead processes than for a few, and forgets them by and by', async () => {
    const { scripts, ledger, clock } = openBench({ limits: { maxConcurrency: 2, rpm: 1_000_000 }, ttlMs });
    const commandsOf = async (work: () => Promise<unknown>): Promise<number> => {
      await ledger.client.config('RESETSTAT');
      await work();
      const stats = await ledger.client.info('commandstats');
      return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
    };
    await scripts.enter('warm');
    await scripts.settle('warm');
    const alone = await commandsOf(() => scripts.enter('first'));

    await fillWithDead(ledger, { count: 20_000, untilMs: clock.nowMs - 1 });
    const among = await commandsOf(() => scripts.enter('second'));
    expect(among - alone).toBeLessThanOrEqual(201);
    expect((await scripts.enter('third')).refused?.inUse).toBe(2);
    for (let asked = 0; asked < 200; asked += 1) await scripts.renew([]);
    expect([await ledger.leases(), await ledger.client.hlen(ledger.keys.held)]).toEqual([2, 2]);
    expect(await ledger.lasting()).toEqual([]);
  });

  test('R-X6: no key lasts, whatever was done', async () => {
    const { scripts, ledger } = openBench({ limits: { maxConcurrency: 9, rpm: 9, tpm: 9000 }, breaker: { failures: 1 } });
    const doings = [
      () => scripts.park(1),
      () => scripts.renew([{ id: 'd', sinceMs: 0 }]),
      () => ledger.client.del(ledger.keys.source, ledger.keys.leases, ledger.keys.held),
      () => scripts.settle('unknown', 'success', { tokens: 7 }),
      () => scripts.enter('a'),
      () => scripts.progress('a'),
      () => scripts.enter('b'),
      () => ledger.client.del(ledger.keys.source),
      () => scripts.settle('a', 'rate-limited', { tokens: 7 }),
      () => scripts.settle('b', 'failure', { mayBeHeardLate: true }),
      () => scripts.enter('c'),
      () => scripts.age(),
    ];
    for (const [at, doing] of doings.entries()) {
      await doing();
      expect([at, ...(await ledger.lasting())]).toEqual([at]);
    }
    expect(await ledger.client.exists(...Object.values(ledger.keys))).toBeGreaterThanOrEqual(5);
  });
});

async function fillWithDead({ client, keys }: Ledger, { count, untilMs }: { count: number; untilMs: number }): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const ids = Array.from({ length: 1000 }, (_, at) => `dead:${from + at}`);
    await client.zadd(keys.leases, ...ids.flatMap((id) => [untilMs, id]));
    await client.hset(keys.held, ...ids.flatMap((id) => [id, '{"generation":0,"epoch":0,"admittedMs":0,"probe":false}']));
  }
}

describe('the server is set back an hour', () => {
  const hourMs = 3_600_000;

  test('R-X8: the lease of a dead process holds no longer than a lease', async () => {
    const { scripts, clock } = openBench({ limits: { maxConcurrency: 1 }, ttlMs });
    await scripts.enter('dead');
    clock.nowMs -= hourMs;
    expect((await scripts.enter('next')).refused?.inUse).toBe(1);
    clock.nowMs += ttlMs;
    expect((await scripts.enter('next')).refused).toBeUndefined();
  });

  test('R-X8: a request counts no longer than a minute', async () => {
    const { scripts, clock } = openBench({ limits: { rpm: 1 } });
    await scripts.enter('first');
    clock.nowMs -= hourMs;
    expect((await scripts.enter('next')).refused?.requests?.leavesInMs).toBe(60_000);
    clock.nowMs += 60_000;
    expect((await scripts.enter('next')).refused).toBeUndefined();
  });

  test('R-X8: a pause lasts no longer than it was asked for, also a longer one that is asked for then', async () => {
    const { scripts, clock } = openBench();
    await scripts.park(20_000);
    clock.nowMs -= hourMs;
    expect((await scripts.enter('next')).refused?.parkedMs).toBe(20_000);
    clock.nowMs += 5000;
    await scripts.park(10_000);
    expect((await scripts.enter('next')).refused?.parkedMs).toBe(15_000);
    clock.nowMs += 15_000;
    expect((await scripts.enter('next')).refused).toBeUndefined();
  });

  test('R-X8: an open breaker cools down no longer than it was told to, and its level does not jump', async () => {
    const { scripts, clock } = openBench({ breaker: { failures: 1, cooldownMs: 10_000, cooldownMaxMs: 80_000, windowMs: 60_000 } });
    await scripts.enter('bad');
    await scripts.settle('bad', 'failure');
    clock.nowMs -= hourMs;
    expect((await scripts.enter('next')).refused?.breaker).toEqual({ type: 'cooling', leftMs: 10_000 });
    clock.nowMs += 10_000;
    expect((await scripts.enter('probe')).refused).toBeUndefined();
    await scripts.settle('probe', 'success');
    clock.nowMs -= hourMs;
    await scripts.enter('bad again');
    await scripts.settle('bad again', 'failure');
    expect((await scripts.enter('next')).refused?.breaker).toEqual({ type: 'cooling', leftMs: 20_000 });
  });

  test('R-X8: a probe keeps its place no longer than a probe may', async () => {
    const { scripts, clock } = openBench({ breaker: { failures: 1, cooldownMs: 2000 }, limits: { limits: { timeoutMs: 3000 } }, ttlMs: 60_000 });
    await scripts.enter('bad');
    await scripts.settle('bad', 'failure');
    clock.nowMs += 2000;
    await scripts.enter('probe');
    clock.nowMs -= hourMs;
    expect((await scripts.enter('next')).refused?.breaker).toEqual({ type: 'probing', leftMs: 4000 });
    clock.nowMs += 4000;
    expect((await scripts.enter('next')).refused).toBeUndefined();
  });

  test('R-X8, B3: a success does not stay young', async () => {
    const { scripts, clock } = openBench();
    await scripts.enter('good');
    await scripts.settle('good', 'success');
    clock.nowMs -= hourMs;
    expect(await scripts.age()).toBe(0);
    clock.nowMs += 30_000;
    expect(await scripts.age()).toBe(30_000);
  });
});

/** Asks again and again until it is let in; what else is seen meanwhile is up to `look`. */
async function letIn(member: Member, { look = () => Promise.resolve(), everyMs = 50 }: { look?: () => Promise<unknown>; everyMs?: number } = {}): Promise<void> {
  await until('it is let in', async () => {
    await look();
    return isPermit(await member.enter());
  }, { everyMs });
}

describe('leases and processes', () => {
  test('RD-07 a, R-X4: a stream longer than several lifetimes keeps its place to the end, and the next one gets in then', async () => {
    const fleet = openFleet({ ttlMs: 900 });
    const [first, second] = [fleet.member(), fleet.member()];
    const permit = await first.admitted();
    let streaming = true;
    const seen: number[] = [];
    const next = letIn(second, { look: async () => { if (streaming) seen.push(await fleet.ledger.alive()); } }).then(() => expect(streaming).toBe(false));
    await Promise.race([sleep(3600), next]);
    streaming = false;
    permit.settle({ type: 'success', totalTokens: 10 });
    await next;
    // The last look may be under way as the stream ends.
    expect(new Set(seen.slice(0, -1))).toEqual(new Set([1]));
    expect(first.events).toEqual([]);
  }, 20_000);

  test('R-X5, RD-07 b: whoever stops renewing gives its place back within a lifetime and a second', async () => {
    const fleet = openFleet({ ttlMs: 1500 });
    const proxy = await undo.started(startTcpProxy(server.port));
    const [dying, second] = [fleet.member(`redis://127.0.0.1:${proxy.port}`), fleet.member()];
    const permit = await dying.admitted();
    await sleep(700);
    await proxy.stop();
    const diedMs = performance.now();
    expect(await second.enter()).toBeInstanceOf(AdmissionRefused);
    await letIn(second);
    expect(performance.now() - diedMs).toBeLessThan(1500 + 1000);
    // For its own next request the holder knows that the place is not its own any more.
    expect(permit.expired?.()).toBe(true);
    permit.settle({ type: 'cancelled', totalTokens: null });
  }, 20_000);

  test('RD-08: the state is lost under a stream: its renewal takes the place again, and its end leaves nothing', async () => {
    const fleet = openFleet();
    const [first, second] = [fleet.member(), fleet.member()];
    const permit = await first.admitted();
    await fleet.ledger.client.flushall();
    await until('the lease is there again', async () => (await fleet.ledger.alive()) === 1);
    expect(await second.enter()).toBeInstanceOf(AdmissionRefused);
    expect(permit.expired?.()).toBe(false);
    permit.settle({ type: 'success', totalTokens: 10 });
    await letIn(second);
    expect(await fleet.ledger.client.zrange(fleet.ledger.keys.leases, '0', '-1')).toHaveLength(1);
    expect(first.events).toEqual([]);
  }, 20_000);

  test('RD-08: where another slipped in meanwhile the first hears once that its lease is lost, goes on, and takes nobody\'s place with it', async () => {
    const fleet = openFleet({ ttlMs: 900 });
    const [first, second, third] = [fleet.member(), fleet.member(), fleet.member()];
    const permit = await first.admitted();
    await second.enter();
    let slipped = await second.enter();
    while (!isPermit(slipped)) {
      await fleet.ledger.client.flushall();
      slipped = await second.enter();
    }
    await until('the first has heard of it', () => Promise.resolve(first.events.length > 0));
    expect(permit.expired?.()).toBe(true);
    await sleep(1000);
    expect(await third.enter()).toBeInstanceOf(AdmissionRefused);
    expect(first.events).toEqual([{ type: 'lease-lost', callId: 'call', source: 'a/1', attemptId: 'call-1' }]);
    permit.settle({ type: 'success', totalTokens: 10 });
    await first.governance.close();
    expect([await fleet.ledger.alive(), await fleet.ledger.leases()]).toEqual([1, 1]);
    expect(await third.enter()).toBeInstanceOf(AdmissionRefused);
    slipped.settle({ type: 'success', totalTokens: 10 });
    await letIn(third);
    expect(second.events).toEqual([]);
  }, 20_000);
});
