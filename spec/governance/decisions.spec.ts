import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import { startTcpProxy } from '../support/tcpProxy.js';
import type { TcpProxy } from '../support/tcpProxy.js';
import { until } from '../support/until.js';
import { ticket } from './holders.js';
import { createUndo, isPermit } from './rig.js';
import type { Ledger, Member, MemberSpec } from './rig.js';

let server: RedisServer;
beforeAll(async () => { server = await startRedis(); });
afterAll(() => server.stop());

const undo = createUndo();
afterEach(() => undo.all());

interface Stage {
  readonly proxy: TcpProxy;
  readonly ledger: Ledger;
  /** Reaches Redis through the proxy. */
  readonly member: Member;
  /** Of the same fleet, with a way of its own. */
  readonly another: () => Member;
}

async function openStage(spec: Omit<MemberSpec, 'url' | 'scope'> = {}): Promise<Stage> {
  const scope = randomUUID();
  const proxy = await undo.started(startTcpProxy(server.port));
  const ledger = undo.ledger(server.url, scope);
  const member = undo.member({ url: `redis://127.0.0.1:${proxy.port}`, scope, ...spec });
  await member.governance.admission.enter(ticket).forEach((permit) => permit.settle({ type: 'unsent' }));
  await until('nothing is held', async () => (await ledger.leases()) === 0);
  return { proxy, ledger, member, another: () => undo.member({ url: server.url, scope, ...spec }) };
}

interface NoDecision {
  readonly name: string;
  readonly message: string;
  readonly afterMs: number;
}

/** How a decision failed, and after how long. */
async function noDecision(deciding: Promise<unknown>): Promise<NoDecision> {
  const sinceMs = performance.now();
  return deciding.then(
    (answer) => { throw new Error('It was decided.', { cause: answer }); },
    (error: unknown) => {
      const { name, message } = error as Error;
      return { name, message, afterMs: performance.now() - sinceMs };
    },
  );
}

function expectNone({ name, message, afterMs }: NoDecision, reason: RegExp): void {
  expect({ name, message }).toEqual({ name: 'GovernanceBackendError', message: expect.stringMatching(reason) });
  expect(afterMs).toBeLessThan(1000);
}

const backend = (member: Member): unknown[] => member.events.flatMap((event) => (event.type === 'backend-changed' ? [event.state] : []));

/** What Redis is asked while `work` runs, in the words of its own log. */
async function asksDuring({ client }: Ledger, work: () => Promise<unknown>): Promise<{ readonly script: string; readonly id: string }[]> {
  const asks: { script: string; id: string }[] = [];
  const monitor = await client.monitor();
  undo.steps.push(() => monitor.disconnect());
  monitor.on('monitor', (_time: string, args: readonly string[], source: string) => {
    if (source === 'lua' || !/^eval/i.test(args[0] ?? '')) return;
    const ask = JSON.parse(args.at(-1) ?? '{}') as { id?: string; mayProbe?: boolean; result?: string };
    asks.push({ script: ask.mayProbe !== undefined ? 'enter' : ask.result !== undefined ? 'settle' : 'another', id: ask.id ?? '' });
  });
  await work();
  await client.ping();
  await sleep(100);
  return asks;
}

describe('Redis accepts and never replies', () => {
  test('RD-02, R-X7: what runs is not disturbed, a new call is told why in time, and a place is free soon after bytes flow again', async () => {
    const { proxy, ledger, member, another } = await openStage({ limits: { maxConcurrency: 2 }, ttlMs: 6000 });
    const permit = await member.admitted();
    proxy.swallow();
    expectNone(await noDecision(member.admitted()), /^Redis at 127\.0\.0\.1:\d+ gave no decision: no answer within 250 ms$/);
    expect(permit.expired?.()).toBe(false);
    permit.progress();
    permit.settle({ type: 'success', totalTokens: 10 });
    await sleep(400);
    expect(await ledger.leases()).toBeGreaterThan(0);
    proxy.flow({ late: true });
    await until('both places are free', async () => (await ledger.leases()) === 0, { timeoutMs: 3000 });
    const other = another();
    expect([await other.enter(), await other.enter()].map(isPermit)).toEqual([true, true]);
    await until('the member knows', () => Promise.resolve(member.events.length > 1));
    expect(backend(member)).toEqual(['away', 'back']);
  }, 20_000);

  test('RD-02: bytes that are lost for good are no answers to what is asked later', async () => {
    const { proxy, ledger, member } = await openStage({ limits: { maxConcurrency: 1 }, ttlMs: 60_000 });
    const permit = await member.admitted();
    proxy.swallow();
    permit.settle({ type: 'success', totalTokens: 10 });
    await sleep(5500);
    proxy.flow();
    await until('the place is free', async () => (await ledger.leases()) === 0, { timeoutMs: 5000 });
    expect(isPermit(await member.enter())).toBe(true);
    expect(await member.enter()).toBeInstanceOf(AdmissionRefused);
  }, 20_000);

  test('R-X7, G6: a paused server admits none of 50 callers, tells all of them soon, and keeps no place for them', async () => {
    const { ledger, another } = await openStage({ limits: { maxConcurrency: 100, rpm: 100 }, ttlMs: 6000 });
    const member = another();
    (await member.admitted()).settle({ type: 'unsent' });
    const failures = await whilePaused(member);
    for (const failure of failures) expectNone(failure, /no answer within 250 ms/);
    await until('all are given back', async () => (await ledger.client.zcard(ledger.keys.released)) === 50, { timeoutMs: 5000 });
    expect([await ledger.leases(), await ledger.client.zcard(ledger.keys.window)]).toEqual([0, 0]);
    expect(member.governance.permits()).toEqual({ 'a/1': 0 });
    expect(backend(member)).toEqual(['away', 'back']);
  }, 20_000);

  test('R-X7: nor where the connection was reset meanwhile, and old words may be heard after new ones', async () => {
    const { proxy, ledger, member } = await openStage({ limits: { maxConcurrency: 100, rpm: 100 }, ttlMs: 6000 });
    const failures = await whilePaused(member, () => proxy.cut());
    for (const failure of failures) expectNone(failure, /no answer within 250 ms/);
    await until('all are given back', async () => (await ledger.client.zcard(ledger.keys.released)) === 50, { timeoutMs: 5000 });
    expect([await ledger.leases(), await ledger.client.zcard(ledger.keys.window)]).toEqual([0, 0]);
    expect(isPermit(await member.enter())).toBe(true);
  }, 20_000);

  test('R-X7: who left while the connection was being made is not heard when it is there', async () => {
    const { ledger, another } = await openStage();
    const asks = await asksDuring(ledger, async () => {
      server.pause();
      const late = another();
      try {
        const failures = await Promise.all(Array.from({ length: 50 }, () => noDecision(late.admitted())));
        for (const failure of failures) expectNone(failure, /no answer within 250 ms/);
      } finally {
        server.resume();
      }
      await until('it is there', async () => isPermit(await late.enter().catch(() => new AdmissionRefused('not yet', { sourceId: 'a/1' }))), { timeoutMs: 5000 });
    });
    // Nothing of what was never asked is given back either.
    expect(asks.filter(({ script }) => script !== 'enter')).toEqual([]);
    expect(asks.length).toBeLessThan(5);
  }, 20_000);

  test('G6: an outage is told of once and its end once, however many decisions fail in it', async () => {
    const { proxy, member } = await openStage();
    const outage = async (): Promise<void> => {
      proxy.swallow();
      for (let asked = 0; asked < 3; asked += 1) await Promise.all([noDecision(member.admitted()), noDecision(member.admitted())]);
      proxy.flow({ late: true });
      await until('it decides again', async () => isPermit(await member.enter()));
      await Promise.all([member.enter(), member.enter(), member.enter()]);
    };
    await outage();
    expect(backend(member)).toEqual(['away', 'back']);
    // One soon after it belongs to the same story.
    await outage();
    expect(backend(member)).toEqual(['away', 'back']);
    expect(member.events).toHaveLength(2);
  }, 20_000);
});

/** 50 callers at once while the server is held; `meanwhile` happens before it goes on. */
async function whilePaused(member: Member, meanwhile: () => void = () => undefined): Promise<NoDecision[]> {
  server.pause();
  try {
    const failures = await Promise.all(Array.from({ length: 50 }, () => noDecision(member.admitted())));
    meanwhile();
    await sleep(100);
    return failures;
  } finally {
    server.resume();
  }
}

describe('an answer is lost, the question was not', () => {
  test('RD-05: one entry for the first call, which goes when it gives up; the second gets in, the third has to wait for that', async () => {
    const { proxy, ledger, member, another } = await openStage({ limits: { maxConcurrency: 2, rpm: 10 }, ttlMs: 6000 });
    const other = another();
    const asks = await asksDuring(ledger, async () => {
      proxy.dropNextReply();
      expectNone(await noDecision(member.admitted()), /gave no decision: (?!no answer)/);
      proxy.swallow();
      expect([await ledger.leases(), await ledger.client.zcard(ledger.keys.window)]).toEqual([1, 1]);
      expect([await other.enter(), await other.enter()].map(isPermit)).toEqual([true, false]);
      proxy.flow({ late: true });
      await until('the first has given up its place', async () => (await ledger.leases()) === 1);
      expect(await ledger.client.zcard(ledger.keys.window)).toBe(1);
      // One that has not just been told that there is no place.
      expect(isPermit(await another().enter())).toBe(true);
    });
    // Said once each: the first call's question too, though its answer was lost.
    const questions = asks.filter(({ script }) => script === 'enter').map(({ id }) => id);
    expect(questions).toHaveLength(4);
    expect(new Set(questions).size).toBe(4);
  }, 20_000);

  test('R-X3: a release whose answer was lost is said again and counts once', async () => {
    const { proxy, ledger, member } = await openStage({ limits: { maxConcurrency: 2, tpm: 1000 }, ttlMs: 6000 });
    const [first, second] = [await member.admitted(), await member.admitted()];
    const asks = await asksDuring(ledger, async () => {
      proxy.dropNextReply();
      first.settle({ type: 'success', totalTokens: 30 });
      await until('the connection was reset', () => Promise.resolve(backend(member).length === 2));
    });
    expect(asks.filter(({ script }) => script === 'settle')).toHaveLength(2);
    expect(await ledger.leases()).toBe(1);
    expect(await ledger.client.hget(ledger.keys.spending, '#tokens')).toBe('130');
    expect(second.expired?.()).toBe(false);
  }, 20_000);

  test('R-X2: no call notices that the server has forgotten all scripts, and nothing but what it did not know is said again', async () => {
    const { ledger, member } = await openStage({ limits: { maxConcurrency: 2 } });
    const answers: boolean[] = [];
    const asks = await asksDuring(ledger, async () => {
      for (let call = 0; call < 6; call += 1) {
        await ledger.client.script('FLUSH');
        const permit = await member.enter();
        answers.push(isPermit(permit));
        if (call % 2 === 0) await ledger.client.script('FLUSH');
        if (isPermit(permit)) permit.settle({ type: 'success', totalTokens: 1 });
      }
      await until('nothing is held', async () => (await ledger.leases()) === 0);
    });
    expect(answers).toEqual([true, true, true, true, true, true]);
    expect(member.events).toEqual([]);
    const settled = asks.filter(({ script }) => script === 'settle').map(({ id }) => id);
    expect(new Set(settled).size).toBe(6);
    // The first of each pair was answered NOSCRIPT, which is the server's word that it did nothing.
    expect(settled.length).toBeGreaterThanOrEqual(9);
    expect(Math.max(...settled.map((id) => settled.filter((other) => other === id).length))).toBe(2);
  }, 20_000);

  test('R-Q1, G3: a grant that comes when its caller has left is given back', async () => {
    const { ledger, member } = await openStage({ limits: { maxConcurrency: 1, rpm: 2 }, ttlMs: 60_000 });
    const heard: unknown[] = [];
    member.governance.admission.enter(ticket).subscribe((permit) => heard.push(permit)).unsubscribe();
    await until('it is given back', async () => (await ledger.client.zcard(ledger.keys.released)) === 1, { timeoutMs: 5000 });
    expect([await ledger.leases(), await ledger.client.zcard(ledger.keys.window)]).toEqual([0, 0]);
    expect(heard).toEqual([]);
    expect(member.events).toEqual([]);
    expect(isPermit(await member.enter())).toBe(true);
  }, 20_000);
});

describe('the breaker in Redis cannot be read', () => {
  const unreadable: readonly (readonly [string, (ledger: Ledger) => Promise<unknown>])[] = [
    ['is no JSON', ({ client, keys }) => client.set(keys.breaker, 'garbage', 'PX', 60_000)],
    ['is no breaker', ({ client, keys }) => client.set(keys.breaker, '{"generation":1}', 'PX', 60_000)],
    ['is half a breaker', ({ client, keys }) => client.set(keys.breaker, '{"type":"open","generation":1,"level":0}', 'PX', 60_000)],
    ['is of another type', async ({ client, keys }) => {
      await client.del(keys.breaker);
      await client.lpush(keys.breaker, 'one');
    }],
  ];

  test.each(unreadable)('G6: where it %s, the breaker of this process decides alone, and quotas hold for the fleet', async (_how, spoil) => {
    const { ledger, member, another } = await openStage({ limits: { maxConcurrency: 2, rpm: 10 }, breaker: { failures: 2, cooldownMs: 60_000 } });
    const other = another();
    await spoil(ledger);
    const [first, second] = [await member.admitted(), await member.admitted()];
    expect(await other.enter()).toBeInstanceOf(AdmissionRefused);
    first.settle({ type: 'failure', totalTokens: null });
    second.settle({ type: 'failure', totalTokens: null });
    await until('both are heard', async () => (await ledger.leases()) === 0);

    const refused = await member.enter();
    expect(refused).toMatchObject({ name: 'AdmissionRefused', message: expect.stringMatching(/^the breaker of a\/1 is open for \d+ ms more$/) });
    expect(member.governance.breakers()).toEqual({ 'a/1': 'open' });
    const third = another();
    expect([await third.enter(), await third.enter(), await third.enter()].map(isPermit)).toEqual([true, true, false]);
    await until('what was granted beside the breaker is given back', async () => (await ledger.leases()) === 2);
    expect(await ledger.client.zcard(ledger.keys.window)).toBe(4);
    expect([...member.events, ...other.events, ...third.events]).toEqual([]);
  }, 20_000);
});

describe('a refusal', () => {
  const within = (refused: unknown, leastMs: number, mostMs: number): void => {
    expect(refused).toBeInstanceOf(AdmissionRefused);
    const { retryAfterMs = NaN, notBeforeMs } = refused as AdmissionRefused;
    expect(retryAfterMs).toBe(notBeforeMs);
    expect(retryAfterMs).toBeGreaterThan(leastMs);
    expect(retryAfterMs).toBeLessThanOrEqual(mostMs);
  };

  test('R-X9: says when asking again can help, wherever that is known: requests, tokens, pause, open breaker', async () => {
    const requests = await openStage({ limits: { rpm: 1 } });
    await requests.member.admitted();
    within(await requests.another().enter(), 50_000, 61_000);

    const tokens = await openStage({ limits: { tpm: 150 } });
    const permit = await tokens.member.admitted();
    permit.settle({ type: 'success', totalTokens: 120 });
    await until('it is heard', async () => (await tokens.ledger.leases()) === 0);
    within(await tokens.another().enter(), 50_000, 61_000);

    const pause = await openStage();
    pause.member.governance.parking.park('a/1', 30_000);
    await until('it is parked', async () => (await pause.ledger.client.hexists(pause.ledger.keys.source, 'parkedUntil')) === 1);
    within(await pause.another().enter(), 20_000, 30_000);

    const broken = await openStage({ breaker: { failures: 1, cooldownMs: 40_000 } });
    (await broken.member.admitted()).settle({ type: 'failure', totalTokens: null });
    await until('it is heard', async () => (await broken.ledger.leases()) === 0);
    within(await broken.another().enter(), 30_000, 40_000);
  }, 20_000);

  test('R-X9: names no time where a place comes free whenever its holder ends', async () => {
    const { member, another } = await openStage({ limits: { maxConcurrency: 1 } });
    await member.admitted();
    const refused = await another().enter();
    expect(refused).toMatchObject({ name: 'AdmissionRefused', notBeforeMs: 0, retryAfterMs: undefined });
  }, 20_000);
});
