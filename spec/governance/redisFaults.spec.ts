import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Permit } from '../../lib/governance/gate.js';
import { startRedisSentinel } from '../support/redisSentinel.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import { until } from '../support/until.js';
import { createUndo, isPermit } from './rig.js';
import type { Ledger, Member } from './rig.js';

const undo = createUndo();
afterEach(() => undo.all());

/** Asks again and again until it is let in; gives the names of the errors on the way. */
async function decidesAgain(member: Member, timeoutMs: number): Promise<{ readonly permit: Permit; readonly failures: readonly string[] }> {
  const failures: string[] = [];
  let permit: Permit | undefined;
  await until('it decides again', async () => {
    const answer = await member.enter().catch((error: unknown) => void failures.push((error as Error).name));
    if (answer !== undefined && isPermit(answer)) permit = answer;
    return permit !== undefined;
  }, { timeoutMs, everyMs: 50 });
  return { permit: permit!, failures };
}

const backend = (member: Member): unknown[] => member.events.flatMap((event) => (event.type === 'backend-changed' ? [event.state] : [event.type]));

async function nameOf(failing: Promise<unknown>): Promise<string> {
  return failing.then(() => 'no error', (error: unknown) => (error as Error).name);
}

describe('one server', () => {
  test('R-X2, RD-08: stopped and started again empty in mid-run: decisions go on, and what is held is there again', async () => {
    const server = await undo.started(startRedis());
    const scope = randomUUID();
    const member = undo.member({ url: server.url, scope, limits: { maxConcurrency: 2, rpm: 9 }, ttlMs: 9000 });
    const ledger = undo.ledger(server.url, scope);
    const permit = await member.admitted();
    await server.kill();
    expect(await nameOf(member.enter())).toBe('GovernanceBackendError');
    await server.restart();
    const { permit: second, failures } = await decidesAgain(member, 5000);
    expect(new Set([...failures, 'GovernanceBackendError'])).toEqual(new Set(['GovernanceBackendError']));
    await until('both leases are there', async () => (await ledger.alive()) === 2);
    expect(await member.enter()).toBeInstanceOf(AdmissionRefused);
    expect(permit.expired?.()).toBe(false);
    permit.settle({ type: 'success', totalTokens: 10 });
    second.settle({ type: 'success', totalTokens: 10 });
    await until('nothing is held', async () => (await ledger.leases()) === 0);
    expect(backend(member)).toEqual(['away', 'back']);
  }, 30_000);

  test('R-X3, R-X4: away for longer than a lease lasts: nothing may be sent on a permit from before, and its loss is told once', async () => {
    const server = await undo.started(startRedis());
    const member = undo.member({ url: server.url, scope: randomUUID(), limits: { maxConcurrency: 2 }, ttlMs: 600 });
    const permit = await member.admitted();
    await server.kill();
    await sleep(700);
    expect(permit.expired?.()).toBe(true);
    await server.restart();
    await decidesAgain(member, 5000);
    await until('it is told', () => Promise.resolve(backend(member).length === 3));
    await sleep(500);
    expect(backend(member)).toEqual(['away', 'back', 'lease-lost']);
    expect(permit.expired?.()).toBe(true);
  }, 30_000);

  test('B3, G6: progress cannot be told while Redis is away, and is told again when it is back', async () => {
    const server = await undo.started(startRedis());
    const member = undo.member({ url: server.url, scope: randomUUID() });
    const ageMs = (): Promise<number> => firstValueFrom(member.governance.progress.ageMs());
    (await member.admitted()).settle({ type: 'success', totalTokens: 10 });
    await until('the success is heard', async () => (await ageMs()) < 10_000);
    server.pause();
    expect(await nameOf(ageMs())).toBe('GovernanceBackendError');
    server.resume();
    await until('it is told again', async () => (await ageMs()) < 30_000);
    await server.kill();
    expect(await nameOf(ageMs())).toBe('GovernanceBackendError');
  }, 30_000);
});

describe('close', () => {
  async function held(): Promise<{ server: RedisServer; member: Member; permits: Permit[]; ledger: Ledger; waiting: () => number }> {
    const server = await undo.started(startRedis());
    const scope = randomUUID();
    const { scheduler, waiting } = countedScheduler();
    const member = undo.member({ url: server.url, scope, limits: { maxConcurrency: 5 }, ttlMs: 60_000, scheduler });
    (await member.admitted()).settle({ type: 'success', totalTokens: 10 });
    return { server, member, permits: [await member.admitted(), await member.admitted()], ledger: undo.ledger(server.url, scope), waiting };
  }

  test('R-C6, E5: gives back what has just been settled, and what still is held, also where it has to be said again', async () => {
    const { member, permits, ledger, waiting } = await held();
    await ledger.client.script('FLUSH');
    permits[0]!.settle({ type: 'success', totalTokens: 10 });
    await member.governance.close();
    expect(await ledger.leases()).toBe(0);
    expect(member.governance.permits()).toEqual({ 'a/1': 0 });
    expect(member.events).toEqual([]);
    expect(waiting()).toBe(0);
  }, 30_000);

  const absences: readonly (readonly [string, (server: RedisServer) => unknown])[] = [
    ['paused', (server) => server.pause()],
    ['killed', (server) => server.kill()],
  ];

  test.each(absences)('R-C6: ends within about a second while Redis is %s, and nothing of it goes on', async (_how, leave) => {
    const { server, member, permits, waiting } = await held();
    await leave(server);
    permits[0]!.settle({ type: 'success', totalTokens: 10 });
    const sinceMs = performance.now();
    await member.governance.close();
    expect(performance.now() - sinceMs).toBeLessThan(2500);
    await sleep(50);
    expect(waiting()).toBe(0);
  }, 30_000);
});

/** The real clock, and how much is waiting for it. */
function countedScheduler(): { scheduler: SchedulerLike; waiting: () => number } {
  const actions: Subscription[] = [];
  return {
    waiting: () => actions.filter(({ closed }) => !closed).length,
    scheduler: {
      now: () => monotonicScheduler.now(),
      schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delayMs?: number, state?: T) => {
        const action = monotonicScheduler.schedule(work, delayMs, state);
        actions.push(action);
        return action;
      },
    },
  };
}

describe('a master and its replica', () => {
  test('R-X8, RD-08: the replica is promoted: decisions go on there within seconds, and what is held is held there', async () => {
    const sentinel = await undo.started(startRedisSentinel());
    const scope = randomUUID();
    const member = undo.member({ url: sentinel.url, scope, limits: { maxConcurrency: 3 }, ttlMs: 15_000 });
    const promoted = undo.ledger(sentinel.replica.url, scope);
    const permits = [await member.admitted(), await member.admitted()];
    await sentinel.master.kill();
    const { permit, failures } = await decidesAgain(member, 15_000);
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(failures)).toEqual(new Set(['GovernanceBackendError']));
    await until('all three are there', async () => (await promoted.alive()) === 3, { timeoutMs: 8000 });
    expect(await member.enter()).toBeInstanceOf(AdmissionRefused);
    for (const one of [...permits, permit]) {
      expect(one.expired?.()).toBe(false);
      one.settle({ type: 'success', totalTokens: 10 });
    }
    await until('nothing is held', async () => (await promoted.leases()) === 0);
    expect(backend(member)).toEqual(['away', 'back']);
  }, 60_000);
});
