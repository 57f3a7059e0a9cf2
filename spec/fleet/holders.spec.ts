import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAfterTest, closeAll } from '../gateway/scene.js';
import { until } from '../support/until.js';
import { startFleetRedis, startProcess, startSource } from './fleet.js';
import type { CountedSource, FleetRedis, Process, Told } from './fleet.js';
import { mostAtOnce } from './usage.js';
import type { Visit } from './usage.js';

const leaseTtlMs = 2000;
const timeoutMs = 60_000;

let redis: FleetRedis;
let source: CountedSource;
let scopes = 0;
let scope: string;

const call = (serviceMs: number): string => JSON.stringify({ call: { serviceMs } });
const arrivals = async (): Promise<readonly Visit[]> => (await source.visits()).visits;
const ofProcess = async (name: string): Promise<Visit | undefined> => (await arrivals()).find(({ by }) => by === name);
const outcome = async ({ ask }: Process<Told>): Promise<string | undefined> => (await ask('{}')).calls.at(-1)?.outcome;
const arrived = (name: string): Promise<void> => until(`${name} has sent its request`, async () => (await ofProcess(name)) !== undefined);
const leases = async (): Promise<number> => redis.look.zcard((await redis.look.keys(`*${scope}*:leases`))[0] ?? 'none');

/** R-X6: there is none, however a process ended. */
async function keysForEver(): Promise<string[]> {
  const keys = await redis.look.keys('*');
  const ttls = await Promise.all(keys.map((key) => redis.look.pttl(key)));
  return keys.filter((_key, i) => ttls[i] === -1);
}

/** Two of them, of a scope of their own, whose source takes one request at once. */
async function two(): Promise<[Process<Told>, Process<Told>]> {
  source = await startSource();
  scope = `HOLDERS${(scopes += 1)}`;
  const options = { scope, url: source.url, redisUrl: redis.server.url, limits: { maxConcurrency: 1 }, leaseTtlS: leaseTtlMs / 1000 };
  return Promise.all([startProcess<Told>('caller.mjs', { ...options, name: 'p1' }), startProcess<Told>('caller.mjs', { ...options, name: 'p2' })]);
}

beforeAll(async () => {
  redis = await startFleetRedis();
}, timeoutMs);
afterEach(() => redis.server.resume());
afterAll(closeAll);

describe('one request at once, leases of 2 s', () => {
  test('RD-07 a, b, R-X5, R-X6: a stream keeps its place beyond the lifetime of a lease; killed, its holder keeps it no longer than that', async () => {
    const [p1, p2] = await two();
    await p1.ask(call(30_000));
    await arrived('p1');
    await p2.ask(call(100));
    await sleep(1.5 * leaseTtlMs);
    expect([await ofProcess('p2'), await leases()]).toEqual([undefined, 1]);

    const { nowMs: killedMs } = await source.visits();
    p1.kill();
    expect([await leases(), await keysForEver()]).toEqual([1, []]);
    await arrived('p2');
    const afterMs = ((await ofProcess('p2'))?.startMs ?? 0) - killedMs;
    // Renewed at most a third of its lifetime ago; then, at the latest, a poll of half a second.
    expect(afterMs).toBeGreaterThan(leaseTtlMs / 3);
    expect(afterMs).toBeLessThan(leaseTtlMs + 1000 + 500);
    await until('the answer has come', async () => (await outcome(p2)) === 'ok');
    await until('its place is given back', async () => (await leases()) === 0);
    expect(await keysForEver()).toEqual([]);
  }, timeoutMs);

  test('R-X4: a holder that stood still for two lifetimes goes on, is told of once, and gives nothing back that is not its own', async () => {
    const [p1, p2] = await two();
    await p1.ask(call(7500));
    await arrived('p1');
    p1.signal('SIGSTOP');
    closeAfterTest(() => p1.signal('SIGCONT'));
    await p2.ask(call(20_000));
    await arrived('p2');
    await sleep(leaseTtlMs);
    p1.signal('SIGCONT');

    await until('the first stream is complete', async () => (await outcome(p1)) === 'ok');
    const { events } = await p1.ask('{}');
    expect(events.filter(({ type }) => type === 'lease-lost')).toHaveLength(1);
    // What it asks for now, it gets only when the other has ended.
    await p1.ask(call(10));
    await sleep(800);
    expect([await leases(), (await arrivals()).length, mostAtOnce(await arrivals())]).toEqual([1, 2, 2]);
    expect(await outcome(p2)).toBe('running');
  }, timeoutMs);

  test('R-X4: a permit that has run out before it was heard of sends nothing', async () => {
    const [p1, p2] = await two();
    await p1.ask(call(10));
    await until('it is connected, and its first call has ended', async () => (await outcome(p1)) === 'ok' && (await leases()) === 0);
    redis.server.pause();
    p1.say(JSON.stringify({ call: { serviceMs: 10 }, thenStop: true }));
    closeAfterTest(() => p1.signal('SIGCONT'));
    await until('it stands still', () => Promise.resolve(isStopped(p1.pid)));
    redis.server.resume();
    await until('its permit is granted', async () => (await leases()) === 1);
    await p2.ask(call(3000));
    await arrived('p2');
    p1.signal('SIGCONT');

    await until('the call has failed', async () => (await outcome(p1)) === 'governance_backend');
    expect((await p1.ask('{}')).calls.at(-1)?.message).toMatch(/nothing was sent/);
    expect([(await arrivals()).map(({ by }) => by), await leases()]).toEqual([['p1', 'p2'], 1]);
  }, timeoutMs);
});

function isStopped(pid: number): boolean {
  return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
