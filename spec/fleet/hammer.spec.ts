import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeAll } from '../gateway/scene.js';
import { startFleetRedis } from './fleet.js';
import type { FleetRedis } from './fleet.js';
import { hammer } from './hammer.js';
import type { HammerOptions, Hammered } from './hammer.js';
import { meanInFlight, meanTurnoverMs, mostAtOnce, mostWithin } from './usage.js';
import type { Visit } from './usage.js';

// `SLOW=1` goes by a real minute, says what it measured, and demands the full use that a machine with nothing else to do shows.
const slow = process.env['SLOW'] === '1';
/** What the source counts in. */
const minuteMs = slow ? 60_000 : 2500;
/** What the governors count in: longer by as much as a request may be on its way, from a process that is starved too. */
const windowMs = minuteMs + (slow ? 1000 : 2000);
const leastUse = slow ? 0.98 : 0.8;
const perWindow = slow ? 16 : 1;
const windows = slow ? 1.5 : 1.7;

const one = (): number => 1;
const tokensOf = ({ tokens }: Visit): number => tokens;

let redis: FleetRedis;

beforeAll(async () => {
  redis = await startFleetRedis();
}, 30_000);
afterAll(closeAll);

const run = (scope: string, options: Pick<HammerOptions, 'limits' | 'forMs' | 'usedShare' | 'serviceMs' | 'callers'>): Promise<Hammered> => hammer(redis, { scope, windowMs, ...options });

/** By the leases, since what a starved machine takes to send a request and to hear its end is not the governors' doing. */
function useOfPlaces({ visits, nowMs, meanHeld }: Hammered, maxConcurrency: number): number {
  const firstMs = Math.min(...visits.map(({ startMs }) => startMs));
  const atSource = meanInFlight(visits, { fromMs: firstMs + 1500, toMs: nowMs });
  if (slow) process.stdout.write(`in flight at the source: ${((100 * atSource) / maxConcurrency).toFixed(1)} %\n`);
  return meanHeld / maxConcurrency;
}

const useOfWindow = (visits: readonly Visit[], limit: number, weigh: (visit: Visit) => number): number => (slow ? minuteMs : windowMs) / meanTurnoverMs(visits, limit, weigh);

function expectUse(what: string, use: number): void {
  if (slow) process.stdout.write(`${what}: ${(100 * use).toFixed(1)} % used\n`);
  expect(use).toBeGreaterThan(leastUse);
}

describe('four processes whose callers call all the time keep to the limits of their source, and use them', () => {
  const timeoutMs = slow ? 400_000 : 60_000;

  test('requests at once', async () => {
    const ran = await run('PLACES', { limits: { maxConcurrency: 24 }, forMs: slow ? 60_000 : 4000 });
    expect(mostAtOnce(ran.visits)).toBeLessThanOrEqual(24);
    expectUse('places', useOfPlaces(ran, 24));
  }, timeoutMs);

  test('requests in a window', async () => {
    const rpm = 60 * perWindow;
    // Short answers and many callers, or it would be these that bind.
    const { visits } = await run('REQUESTS', { limits: { rpm }, forMs: windows * windowMs, serviceMs: [50, 150], callers: 40 });
    expect(mostWithin(visits, minuteMs, one)).toBeLessThanOrEqual(rpm);
    expectUse('requests', useOfWindow(visits, rpm, one));
  }, timeoutMs);

  test('tokens in a window', async () => {
    const tpm = 6000 * perWindow;
    const { visits } = await run('TOKENS', { limits: { tpm }, forMs: windows * windowMs });
    expect(mostWithin(visits, minuteMs, tokensOf)).toBeLessThanOrEqual(tpm);
    expectUse('tokens', useOfWindow(visits, tpm, tokensOf));
  }, timeoutMs);

  test('all three together', async () => {
    const [maxConcurrency, rpm, tpm] = [16, 60 * perWindow, 5500 * perWindow];
    const ran = await run('ALL', { limits: { maxConcurrency, rpm, tpm }, forMs: windows * windowMs, usedShare: [0.5, 1] });
    expect(mostAtOnce(ran.visits)).toBeLessThanOrEqual(maxConcurrency);
    expect(mostWithin(ran.visits, minuteMs, one)).toBeLessThanOrEqual(rpm);
    expect(mostWithin(ran.visits, minuteMs, tokensOf)).toBeLessThanOrEqual(tpm);
    expectUse('the one that binds', Math.max(useOfPlaces(ran, maxConcurrency), useOfWindow(ran.visits, rpm, one), useOfWindow(ran.visits, tpm, tokensOf)));
  }, timeoutMs);
});
