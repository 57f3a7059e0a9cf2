import { describe, expect, test } from '@jest/globals';
import type { BreakerPolicy } from '../../../lib/governance/breaker/breaker.js';
import type { Outcome, Permit } from '../../../lib/governance/gate.js';
import type { Holder, WorldSpec } from '../holders.js';
import { cancelled, failure, inWorld, rateLimited, success, unsent } from './inWorld.js';
import type { Told } from './inWorld.js';

type Run = (world: Told) => Promise<void>;
type Test = () => Promise<void>;

const coolDownMs = 30_000;
const neutral: readonly [string, Outcome][] = [['429', rateLimited], ['cancelled', cancelled], ['unsent', unsent]];
const twoSources = [{ id: 'a/1', limits: {} }, { id: 'b/1', limits: {} }];

/** Fails so often, one after the other. */
async function fail({ admit, end }: Told, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await end(await admit(), failure);
}

/** The breaker per source. */
export function breakerContract(holder: Holder): void {
  const under = (breaker: Partial<BreakerPolicy>, run: Run, spec: WorldSpec = {}): Test => inWorld(holder, { ...spec, breaker: { cooldownMs: coolDownMs, ...breaker } }, run);

  /** The first failure has opened it, in this instant. */
  const opened = (run: Run, spec: WorldSpec & { readonly failures?: number; readonly cooldownMaxMs?: number } = {}): Test =>
    under({ failures: spec.failures ?? 1, ...(spec.cooldownMaxMs !== undefined && { cooldownMaxMs: spec.cooldownMaxMs }) }, async (world) => {
      await fail(world, spec.failures ?? 1);
      world.turns();
      await run(world);
    }, spec);

  const probing = (run: (world: Told, probe: Permit) => Promise<void>, spec: Parameters<typeof opened>[1] = {}): Test =>
    opened(async (world) => {
      world.advance(coolDownMs);
      const probe = await world.admit();
      await run(world, probe);
    }, spec);

  describe('a closed breaker', () => {
    test('G4: opens with the last of so many failures in a row, tells it once, and refuses with the time that is left', under({ failures: 3 }, async (world) => {
      await fail(world, 2);
      expect(world.governance.breakers()).toEqual({ 'a/1': 'closed', 'b/1': 'closed' });
      await fail(world, 1);
      expect([world.governance.breakers(), world.turns()]).toEqual([{ 'a/1': 'open', 'b/1': 'closed' }, ['a/1 closed > open 30000']]);
      world.advance(12_000);
      expect(await world.says()).toBe('the breaker of a/1 is open for 18000 ms more');
      expect([await world.times(), await world.times({ role: 'backup' }), await world.says({ sourceId: 'b/1' })]).toEqual([[18_000, 18_000], [18_000, 18_000], 'in']);
    }, { sources: twoSources }));

    test('G4: a success breaks the row', under({ failures: 3 }, async (world) => {
      await fail(world, 2);
      await world.end(await world.admit(), success());
      await fail(world, 2);
      expect(world.turns()).toEqual([]);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 30000']);
    }));

    test('G4: idleness of more than the window breaks the row, and no more than that', under({ failures: 2, windowMs: 60_000 }, async (world) => {
      await fail(world, 1);
      world.advance(60_001);
      await fail(world, 1);
      expect(world.turns()).toEqual([]);
      world.advance(60_000);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 30000']);
    }));

    test('G4: slowness does not: what failed late was admitted right after the one before', under({ failures: 2, windowMs: 60_000 }, async ({ admit, end, advance, turns }) => {
      await end(await admit(), failure);
      const slow = await admit();
      advance(300_000);
      await end(slow, failure);
      expect(turns()).toEqual(['a/1 closed > open 30000']);
    }));

    test('G4: opens with the share of failures in the window, once there are enough results', under({ ratio: 0.5, minCalls: 4 }, async (world) => {
      const { admit, end, turns } = world;
      await fail(world, 1);
      await end(await admit(), success());
      await fail(world, 1);
      expect(turns()).toEqual([]);
      await end(await admit(), success());
      // Two of four by now, but a success opens nothing.
      expect(turns()).toEqual([]);
      await fail(world, 1);
      expect(turns()).toEqual(['a/1 closed > open 30000']);
    }));

    test('G4: results that are older than the window are no part of the share', under({ ratio: 0.5, minCalls: 4, windowMs: 60_000 }, async (world) => {
      await fail(world, 3);
      world.advance(66_000);
      await fail(world, 3);
      expect(world.turns()).toEqual([]);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 30000']);
    }));

    test.each(neutral)('G4: %s is no failure and no success', (_, outcome) =>
      under({ failures: 2, ratio: 0.5, minCalls: 4 }, async (world) => {
        for (let count = 0; count < 5; count += 1) await world.end(await world.admit(), outcome);
        await fail(world, 1);
        await world.end(await world.admit(), outcome);
        expect(world.turns()).toEqual([]);
        await fail(world, 1);
        expect(world.turns()).toEqual(['a/1 closed > open 30000']);
      })());

    test('R-B7: simultaneous failures are one opening, told once', under({ failures: 3 }, async ({ crowd, end, turns, times, advance }) => {
      await end(await crowd(20), failure);
      expect(turns()).toEqual(['a/1 closed > open 30000']);
      advance(10_000);
      expect(await times()).toEqual([20_000, 20_000]);
    }));

    test('G4: its cool-down is jittered down to 0.8 of itself', under({ failures: 1 }, async (world) => {
      await fail(world, 1);
      expect([world.turns(), await world.times()]).toEqual([['a/1 closed > open 24000'], [24_000, 24_000]]);
    }, { random: () => 0 }));
  });

  describe('an open breaker', () => {
    test('G4: after its cool-down lets one in as its probe, and nobody beside it', opened(async ({ times, says, crowd, advance, turns }) => {
      advance(coolDownMs - 1);
      expect(await times()).toEqual([1, 1]);
      advance(1);
      expect(await crowd(10)).toHaveLength(1);
      expect(turns()).toEqual(['a/1 open > half-open -']);
      advance(10_000);
      expect(await says()).toBe('the breaker of a/1 waits for its probe, at most 20000 ms more');
      expect(await times()).toEqual([0, undefined]);
    }));

    test('G4: of many that come at once, one', opened(async ({ enter, advance }) => {
      advance(coolDownMs);
      const answers = await Promise.all(Array.from({ length: 20 }, () => enter()));
      expect(answers.filter((answer) => 'settle' in answer)).toHaveLength(1);
    }));

    test('H3: a backup is never the probe, and leaves its place to a primary', opened(async ({ says, times, advance, turns }) => {
      advance(coolDownMs);
      expect(await says({ role: 'backup' })).toBe('the breaker of a/1 wants 1 probe, which a backup never is');
      expect([await times({ role: 'backup' }), turns()]).toEqual([[0, undefined], []]);
      expect([await says(), await says({ role: 'backup' })]).toEqual(['in', expect.stringContaining('waits for its probe')]);
    }));

    test('G1: who is refused for another reason takes no probe', opened(async ({ says, advance, turns, governance }) => {
      advance(coolDownMs);
      expect(await says()).toContain('rpm 1');
      expect([turns(), governance.breakers()]).toEqual([[], { 'a/1': 'open' }]);
      advance(30_000);
      expect([await says(), turns()]).toEqual(['in', ['a/1 open > half-open -']]);
    }, { sources: [{ id: 'a/1', limits: {}, rpm: 1 }] }));

    test.each([['success', success()], ['failure', failure]])('R-B1: the %s of an attempt from before it opened changes nothing, then and later', (_, outcome) =>
      under({ failures: 1 }, async ({ admit, end, advance, turns }) => {
        const [first, second, third] = [await admit(), await admit(), await admit()];
        await end(first, failure);
        turns();
        await end(second, outcome);
        advance(coolDownMs);
        await end(await admit(), success());
        expect(turns()).toEqual(['a/1 open > half-open -', 'a/1 half-open > closed -']);
        await end(third, outcome);
        expect(turns()).toEqual([]);
      })());
  });

  describe('a probe', () => {
    test('G4: closes the breaker with its success, as if nothing had failed', probing(async (world, probe) => {
      await world.end(probe, success());
      expect([world.turns(), world.governance.breakers()]).toEqual([['a/1 open > half-open -', 'a/1 half-open > closed -'], { 'a/1': 'closed' }]);
      await fail(world, 1);
      expect(world.turns()).toEqual([]);
      await fail(world, 1);
      expect(world.turns()).toHaveLength(1);
    }, { failures: 2 }));

    test('G4: streamed, it succeeds with its first increment', probing(async ({ heard, turns, governance, says }, probe) => {
      probe.progress();
      await heard();
      expect([turns(), governance.breakers()]).toEqual([['a/1 open > half-open -', 'a/1 half-open > closed -'], { 'a/1': 'closed' }]);
      // It still runs, and the source starts slowly.
      expect(await says()).toContain('is paced to 1 request at once since it came back');
    }));

    test('G4: its later failure counts in the new state like any other', probing(async (world, probe) => {
      for (let count = 0; count < 3; count += 1) probe.progress();
      await world.heard();
      world.turns();
      await world.end(probe, failure);
      expect(world.turns()).toEqual([]);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 60000']);
    }, { failures: 2 }));

    test('BR-04: its failure opens again at once, each time for twice as long, up to the longest cool-down', probing(async ({ admit, end, advance, turns }, probe) => {
      await end(probe, failure);
      for (const ms of [60_000, 100_000, 100_000]) {
        advance(ms);
        await end(await admit(), failure);
      }
      expect(turns().filter((turn) => turn.includes('> open'))).toEqual(['half-open > open 60000', 'half-open > open 100000', 'half-open > open 100000', 'half-open > open 100000'].map((turn) => `a/1 ${turn}`));
    }, { cooldownMaxMs: 100_000 }));

    test('G4: a relapse is punished by what came before, and a healthy window forgives one doubling', probing(async (world, probe) => {
      await world.end(probe, success());
      world.turns();
      world.advance(59_999);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 60000']);
      world.advance(60_000);
      await world.end(await world.admit(), success());
      world.turns();
      world.advance(60_000);
      await fail(world, 1);
      expect(world.turns()).toEqual(['a/1 closed > open 60000']);
    }));

    test.each(neutral)('BR-01, BR-03: that ends as %s frees its place, and the next may come at once', (_, outcome) =>
      probing(async ({ crowd, end, turns }, probe) => {
        await end(probe, outcome);
        expect(turns()).toEqual(['a/1 open > half-open -', 'a/1 half-open > open 0']);
        const [next, ...others] = await crowd(5);
        expect([next === undefined, others]).toEqual([false, []]);
        await end(next!, success());
        expect(turns()).toEqual(['a/1 open > half-open -', 'a/1 half-open > closed -']);
      })());

    test('BR-04: that is never heard of loses its place after what a healthy one may take, and what it says later is void', probing(async ({ says, admit, end, heard, advance, turns, governance }, lost) => {
      advance(120_999);
      expect(await says()).toBe('the breaker of a/1 waits for its probe, at most 1 ms more');
      advance(1);
      const healthy = await admit();
      turns();
      lost.progress();
      await heard();
      await end(lost, failure);
      expect([turns(), governance.breakers()]).toEqual([[], { 'a/1': 'half-open' }]);
      await end(healthy, success());
      expect(turns()).toEqual(['a/1 half-open > closed -']);
    }, { sources: [{ id: 'a/1', limits: { timeoutMs: 120_000 } }] }));

    test('BR-04: its place is kept at least as long as the cool-down', probing(async ({ crowd, advance }) => {
      advance(coolDownMs - 1);
      expect(await crowd(1)).toEqual([]);
      advance(1);
      expect(await crowd(5)).toHaveLength(1);
    }, { sources: [{ id: 'a/1', limits: { timeoutMs: 500 } }] }));
  });
}
