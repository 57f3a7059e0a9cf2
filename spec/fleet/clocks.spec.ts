import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAll } from '../gateway/scene.js';
import { until } from '../support/until.js';
import { startFleetRedis, startProcess, startSource } from './fleet.js';
import type { CountedSource, FleetRedis, Process, Told } from './fleet.js';
import { hammer } from './hammer.js';
import { mostAtOnce, mostWithin } from './usage.js';
import type { Visit } from './usage.js';

const timeoutMs = 60_000;
const fast = { shiftS: 3600 };
const slow = { shiftS: -3600 };

let redis: FleetRedis;
let source: CountedSource;

const call = (serviceMs: number, times = 1): string => JSON.stringify({ call: { serviceMs }, times });
const arrivals = async (): Promise<readonly Visit[]> => (await source.visits()).visits;
const ended = ({ ask }: Process<Told>): Promise<void> => until('all calls have ended', async () => (await ask('{}')).calls.every(({ outcome }) => outcome !== 'running'));

/** One whose clocks are right, one an hour ahead and one an hour behind. */
async function three(options: object): Promise<readonly [Process<Told>, Process<Told>, Process<Told>]> {
  source = await startSource();
  const all = { url: source.url, redisUrl: redis.server.url, ...options };
  const start = (name: string, clock: { clock?: object } = {}): Promise<Process<Told>> => startProcess('caller.mjs', { ...all, name }, clock);
  return Promise.all([start('right'), start('ahead', { clock: fast }), start('behind', { clock: slow })]);
}

beforeAll(async () => {
  redis = await startFleetRedis();
}, timeoutMs);
afterAll(closeAll);

describe('RD-09, R-X1: hosts whose clocks are an hour apart', () => {
  test('a minute of requests is the same minute for all, and all waits are positive and no longer than it', async () => {
    const [right, ahead, behind] = await three({ scope: 'MINUTE', limits: { rpm: 3 }, backpressure: 'fail_fast' });
    await right.ask(call(10, 3));
    await ended(right);
    await Promise.all([ahead.ask(call(10)), behind.ask(call(10))]);
    await Promise.all([ended(ahead), ended(behind)]);

    const [first, second] = await Promise.all([ahead, behind].map(async ({ ask }) => (await ask('{}')).calls[0]));
    for (const refused of [first, second]) {
      expect(refused?.outcome).toBe('all_sources_exhausted');
      expect(refused?.retryAfterS).toBeGreaterThan(0);
      expect(refused?.retryAfterS).toBeLessThanOrEqual(61);
    }
    expect((await arrivals()).map(({ by }) => by)).toEqual(['right', 'right', 'right']);
  }, timeoutMs);

  test('nobody takes the place of a lease that lives', async () => {
    const [right, ahead, behind] = await three({ scope: 'LEASES', limits: { maxConcurrency: 1 }, leaseTtlS: 2 });
    await right.ask(call(4000));
    await until('the holder has sent its request', async () => (await arrivals()).length === 1);
    await Promise.all([ahead.ask(call(200)), behind.ask(call(200))]);
    await sleep(3000);
    expect(await arrivals()).toHaveLength(1);

    await Promise.all([right, ahead, behind].map(ended));
    const visits = await arrivals();
    expect([visits.length, mostAtOnce(visits)]).toEqual([3, 1]);
    expect((await right.ask('{}')).events.filter(({ type }) => type === 'lease-lost')).toEqual([]);
  }, timeoutMs);

  test('all limits hold while they call all the time, and while a clock jumps by another hour', async () => {
    const limits = { maxConcurrency: 4, rpm: 30, tpm: 2500 };
    const clocks = [{ ...fast, jumpS: 3600, jumpAfterS: 3 }, { ...slow, jumpS: -7200, jumpAfterS: 4 }];
    const { visits, told } = await hammer(redis, { scope: 'JUMPS', limits, windowMs: 4000 + 2000, forMs: 8000, callers: 6, serviceMs: [100, 300], clocks });
    expect(mostAtOnce(visits)).toBeLessThanOrEqual(4);
    expect(mostWithin(visits, 4000, () => 1)).toBeLessThanOrEqual(30);
    expect(mostWithin(visits, 4000, ({ tokens }) => tokens)).toBeLessThanOrEqual(2500);
    const waitsMs = told.flatMap((process) => process.waitsMs);
    expect(waitsMs.length).toBeGreaterThan(0);
    expect([Math.min(...waitsMs) >= 0, Math.max(...waitsMs) <= 6000]).toEqual([true, true]);
    expect(told.some(({ answered }) => answered > 0)).toBe(true);
  }, timeoutMs);
});
