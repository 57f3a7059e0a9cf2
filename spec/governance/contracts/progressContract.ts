import { describe, expect, test } from '@jest/globals';
import type { Outcome } from '../../../lib/governance/gate.js';
import type { Holder, WorldSpec } from '../holders.js';
import { cancelled, failure, inWorld, rateLimited, success, unsent } from './inWorld.js';

const twoSources: WorldSpec = { sources: [{ id: 'a/1', limits: {} }, { id: 'b/1', limits: {} }] };

/** How long ago an attempt of the scope succeeded. */
export function progressContract(holder: Holder): void {
  describe('progress', () => {
    test('B3: what never happened is infinitely old', inWorld(holder, twoSources, async ({ ageMs, advance }) => {
      expect(await ageMs()).toBe(Infinity);
      advance(60_000);
      expect(await ageMs()).toBe(Infinity);
    }));

    test('B3: a scope without sources has none', inWorld(holder, { sources: [] }, async ({ ageMs }) => {
      expect(await ageMs()).toBe(Infinity);
    }));

    test('G7: it is noted when a success is settled, neither with its admission nor with its first increment', inWorld(holder, twoSources, async ({ admit, end, ageMs, advance }) => {
      const permit = await admit();
      permit.progress();
      expect(await ageMs()).toBe(Infinity);
      advance(5000);
      await end(permit, success());
      expect(await ageMs()).toBe(0);
      advance(1234);
      expect(await ageMs()).toBe(1234);
    }));

    test('B3: the youngest success of all sources counts, whichever order they came in', inWorld(holder, twoSources, async ({ admit, end, ageMs, advance }) => {
      const [early, late] = [await admit(), await admit({ sourceId: 'b/1' })];
      await end(late, success());
      advance(1000);
      await end(early, success());
      advance(2000);
      expect(await ageMs()).toBe(2000);
      await end(await admit({ sourceId: 'b/1' }), success());
      expect(await ageMs()).toBe(0);
    }));

    test.each<[string, Outcome]>([['failure', failure], ['429', rateLimited], ['cancelled', cancelled], ['unsent', unsent]])('G7: %s is no progress, and undoes none', (_, outcome) =>
      inWorld(holder, twoSources, async ({ admit, end, ageMs, advance }) => {
        await end(await admit(), outcome);
        expect(await ageMs()).toBe(Infinity);
        await end(await admit(), success());
        advance(700);
        await end(await admit(), outcome);
        expect(await ageMs()).toBe(700);
      })());
  });
}
