import { describe, expect, test } from '@jest/globals';
import type { Outcome, Permit } from '../../../lib/governance/gate.js';
import type { Holder, WorldSpec } from '../holders.js';
import { cancelled, failure, inWorld, rateLimited, success, unsent } from './inWorld.js';
import type { Told } from './inWorld.js';

const twoSources: WorldSpec = { sources: [{ id: 'a/1', limits: {} }, { id: 'b/1', limits: {} }], breaker: { failures: 3 } };

function paces({ events }: Told): unknown[] {
  return events.splice(0).flatMap((event) => (event.type === 'pace-changed' ? [event.concurrency] : []));
}

/** Ten 429s have left the source nine requests at once, of which none runs. */
async function pacedToNine(world: Told): Promise<void> {
  await world.end(await world.crowd(10), rateLimited);
  expect(paces(world)).toEqual([9]);
}

/** All that run succeed, and each place is taken again as it comes free. */
async function roundTrip({ end, crowd }: Told, running: readonly Permit[]): Promise<Permit[]> {
  const next: Permit[] = [];
  for (const permit of running) {
    await end(permit, success());
    next.push(...(await crowd(20)));
  }
  return next;
}

/** The concurrency that the 429s of a source have left it. */
export function pacerContract(holder: Holder): void {
  const paced = (run: (world: Told) => Promise<void>): (() => Promise<void>) => inWorld(holder, twoSources, run);

  describe('pacing', () => {
    test('G5: there is no limit before the first 429', paced(async ({ crowd, governance, end }) => {
      await end(await crowd(40), success());
      expect([governance.paced(), (await crowd(50)).length]).toEqual([{}, 50]);
    }));

    test('G5: a 429 leaves nine tenths of what ran; what is more is refused without a time', paced(async (world) => {
      const permits = await world.crowd(4);
      await world.end(permits.pop()!, rateLimited);
      expect([world.governance.paced(), paces(world)]).toEqual([{ 'a/1': 3 }, [3]]);
      expect(await world.says()).toBe('a/1 is paced to 3 requests at once after a 429, and runs 3');
      expect([await world.times(), await world.times({ sourceId: 'b/1' })]).toEqual([[0, undefined], 'in']);
      await world.end(permits.pop()!, cancelled);
      expect([await world.times(), await world.times()]).toEqual(['in', [0, undefined]]);
    }));

    test('R-Q7: the 429s of one round trip are one step, told once', paced(async (world) => {
      await world.end(await world.crowd(50), rateLimited);
      expect([world.governance.paced(), paces(world)]).toEqual([{ 'a/1': 45 }, [45]]);
      expect(await world.crowd(60)).toHaveLength(45);
    }));

    test('G5: the 429 of one that was admitted after the step is the next step', paced(async (world) => {
      await pacedToNine(world);
      await world.end(await world.crowd(9), rateLimited);
      expect(paces(world)).toEqual([8]);
    }));

    test('G5: one request is always let in', paced(async (world) => {
      for (let count = 0; count < 5; count += 1) await world.end(await world.crowd(1), rateLimited);
      expect(world.governance.paced()).toEqual({ 'a/1': 1 });
      expect(await world.says()).toBe('in');
      expect(await world.says()).toBe('a/1 is paced to 1 request at once after a 429, and runs 1');
    }));

    test('G5: where the limit is in use, the successes of a round trip add about one request at once', paced(async (world) => {
      await pacedToNine(world);
      let running = await world.crowd(20);
      for (let trip = 0; trip < 3; trip += 1) running = await roundTrip(world, running);
      expect([running.length, paces(world)]).toEqual([11, [10, 11]]);
    }));

    test('G5: a limit that is not used does not grow', paced(async (world) => {
      await pacedToNine(world);
      for (let count = 0; count < 30; count += 1) await world.end(await world.crowd(4), success());
      expect([world.governance.paced(), paces(world)]).toEqual([{ 'a/1': 9 }, []]);
    }));

    test.each<[string, Outcome]>([['failure', failure], ['cancelled', cancelled], ['unsent', unsent]])('G5: %s changes nothing', (_, outcome) =>
      inWorld(holder, { sources: twoSources.sources! }, async (world) => {
        await pacedToNine(world);
        for (let count = 0; count < 3; count += 1) await world.end(await world.crowd(9), outcome);
        expect([world.governance.paced(), paces(world)]).toEqual([{ 'a/1': 9 }, []]);
      })());

    test('R-B4: a source that is back after an outage starts with one at once, and its successes double that in each round trip', paced(async (world) => {
      await world.end(await world.crowd(3), failure);
      world.advance(30_000);
      await world.end(await world.crowd(1), success());
      expect(paces(world)).toEqual([1]);
      let running = await world.crowd(20);
      const sizes = [running.length];
      while (running.length < 8) sizes.push((running = await roundTrip(world, running)).length);
      expect(sizes).toEqual([1, 2, 4, 8]);
    }));

    test('R-B4: what still runs from before the outage counts against the new limit', paced(async (world) => {
      const old = await world.crowd(5);
      await world.end(old.splice(2), failure);
      world.advance(30_000);
      await world.end(await world.crowd(1), success());
      expect(await world.says()).toBe('a/1 is paced to 1 request at once since it came back, and runs 2');
      await world.end(old, success());
      expect(await world.crowd(5)).toHaveLength(1);
    }));

    test('R-Q6: who is refused for pace has taken no request of the minute', inWorld(holder, { sources: [{ id: 'a/1', limits: {}, rpm: 3 }] }, async (world) => {
      await world.end(await world.crowd(1), rateLimited);
      const [running] = await world.crowd(1);
      for (let count = 0; count < 5; count += 1) expect(await world.crowd(1)).toEqual([]);
      await world.end(running!, success());
      expect([await world.says(), await world.says()]).toEqual(['in', expect.stringContaining('rpm 3')]);
    }));
  });
}
