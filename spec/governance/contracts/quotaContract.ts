import { describe, expect, test } from '@jest/globals';
import type { GovernanceScope } from '../../../lib/governance/governance.js';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import { ticket } from '../holders.js';
import type { Holder, WorldSpec } from '../holders.js';
import { cancelled, failure, inWorld, rateLimited, success, unsent } from './inWorld.js';
import type { Told } from './inWorld.js';

type Limits = Pick<GovernanceScope['sources'][number], 'maxConcurrency' | 'rpm' | 'tpm'>;

const limited = (limits: Limits): WorldSpec => ({ sources: [{ id: 'a/1', limits: {}, ...limits }] });

/** Requests at once, requests a minute and tokens a minute, per source. */
export function quotaContract(holder: Holder): void {
  const at = (limits: Limits, run: (world: Told) => Promise<void>): (() => Promise<void>) => inWorld(holder, limited(limits), run);

  describe('requests at once', () => {
    test('G1: grants up to the limit and refuses what is more, without a time, since something must be given back', at({ maxConcurrency: 2 }, async ({ admit, says, times, end }) => {
      const first = await admit();
      await admit();
      expect(await says()).toBe('a/1 runs 2 requests already');
      expect(await times()).toEqual([0, undefined]);
      await end(first, success());
      expect([await says(), await says()]).toEqual(['in', 'a/1 runs 2 requests already']);
    }));

    test('G1: each source is counted for itself, and one without a limit is never refused', inWorld(holder, { sources: [{ id: 'a/1', limits: {}, maxConcurrency: 1 }, { id: 'b/1', limits: {} }] }, async ({ crowd, governance }) => {
      expect(await crowd(3)).toHaveLength(1);
      expect(await crowd(30, { sourceId: 'b/1', estimatedTokens: 1e6 })).toHaveLength(30);
      expect(governance.permits()).toEqual({ 'a/1': 1, 'b/1': 30 });
    }));

    test('QT-07: what runs counts for as long as it runs, also when it started over a minute ago', at({ maxConcurrency: 1 }, async ({ admit, says, end, advance }) => {
      const long = await admit();
      advance(3_000_000);
      expect(await says()).toBe('a/1 runs 1 requests already');
      await end(long, success());
      expect(await says()).toBe('in');
    }));

    test('R-Q5: of fifty that come at once as many are let in as there is room for', at({ maxConcurrency: 7 }, async ({ enter, governance }) => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => enter()));
      expect(answers.filter((answer) => !(answer instanceof AdmissionRefused))).toHaveLength(7);
      expect(governance.permits()).toEqual({ 'a/1': 7 });
    }));

    test('G3: a permit is given back exactly once, and what it is told after that teaches nothing', inWorld(holder, { ...limited({ maxConcurrency: 2 }), breaker: { failures: 1 } }, async ({ admit, end, governance, turns }) => {
      const [first] = [await admit(), await admit()];
      await end(first, success());
      await end(first, failure);
      await end(first, unsent);
      expect([governance.permits(), turns()]).toEqual([{ 'a/1': 1 }, []]);
    }));

    test('X1: whoever leaves as he is let in holds nothing', at({ maxConcurrency: 1, rpm: 1 }, async ({ governance, heard, says }) => {
      governance.admission.enter(ticket).subscribe({ next: (permit) => permit.settle(unsent) }).unsubscribe();
      await heard();
      expect(governance.permits()).toEqual({ 'a/1': 0 });
      expect(await says()).toBe('in');
    }));

    test('nothing is taken before somebody subscribes, and each subscription takes for itself', at({ maxConcurrency: 2 }, async ({ governance, heard, says }) => {
      const entry$ = governance.admission.enter(ticket);
      await heard();
      expect(governance.permits()).toEqual({ 'a/1': 0 });
      await Promise.all([0, 1].map(() => new Promise((resolve) => entry$.subscribe(resolve))));
      expect([governance.permits(), await says()]).toEqual([{ 'a/1': 2 }, 'a/1 runs 2 requests already']);
    }));
  });

  describe('requests a minute', () => {
    test('CL-03: what was sent at t counts in [t, t + 60 s), whether it still runs or not', at({ rpm: 2 }, async ({ admit, says, times, end, advance }) => {
      await end(await admit(), success());
      advance(10_000);
      await admit();
      advance(10_000);
      expect(await says()).toBe('a/1 was sent 2 requests within 60 s (rpm 2) and takes the next in 40000 ms');
      expect(await times()).toEqual([40_000, 40_000]);
      advance(39_999);
      expect(await times()).toEqual([1, 1]);
      advance(1);
      expect([await times(), await times()]).toEqual(['in', [10_000, 10_000]]);
    }));

    test('G2: what was not sent takes nothing from the minute', at({ rpm: 1, tpm: 100 }, async ({ admit, says, end }) => {
      for (let count = 0; count < 5; count += 1) await end(await admit(), unsent);
      expect([await says(), await says()]).toEqual(['in', expect.stringContaining('rpm 1')]);
    }));

    test('B4: what is found not sent makes room at once, also for one that was told to wait', at({ rpm: 1 }, async ({ admit, times, end }) => {
      const permit = await admit();
      expect(await times()).toEqual([60_000, 60_000]);
      await end(permit, unsent);
      expect(await times()).toBe('in');
    }));
  });

  describe('tokens a minute', () => {
    test('G2: the estimate is reserved; a refusal says when enough will have left', at({ tpm: 1000 }, async ({ admit, says, times, end, advance }) => {
      await end(await admit({ estimatedTokens: 600 }), success());
      advance(5000);
      expect(await says({ estimatedTokens: 401 })).toBe('a/1 has 600 tokens in use within 60 s (tpm 1000) and room for 401 more in 55000 ms');
      expect(await times({ estimatedTokens: 400 })).toBe('in');
      advance(54_999);
      expect(await times({ estimatedTokens: 401 })).toEqual([1, 1]);
      advance(1);
      expect(await times({ estimatedTokens: 600 })).toBe('in');
    }));

    test('G2: settled to what was used, less or more', at({ tpm: 1000 }, async ({ admit, times, end }) => {
      await end(await admit({ estimatedTokens: 900 }), success(100));
      const second = await admit({ estimatedTokens: 500 });
      expect(await times({ estimatedTokens: 401 })).not.toBe('in');
      await end(second, success(5000));
      expect(await times({ estimatedTokens: 0 })).toEqual([60_000, 60_000]);
    }));

    test.each([['success', success(), 600], ['failure', failure, 600], ['429', rateLimited, 600], ['H5: cancelled loser', cancelled, 600]] as const)('G2: %s without a report keeps the estimate', (_, outcome, used) =>
      at({ tpm: 1000 }, async ({ admit, crowd, end }) => {
        await end(await admit({ estimatedTokens: used }), outcome);
        // One request at once is what a 429 leaves.
        const [rest] = await crowd(1, { estimatedTokens: 1000 - used });
        expect(rest).toBeDefined();
        await end(rest!, success());
        expect(await crowd(1, { estimatedTokens: 1 })).toEqual([]);
      })());

    test.each([NaN, Infinity, -1])('G2: a report of %p tokens is none', (totalTokens) =>
      at({ tpm: 1000 }, async ({ admit, says, end }) => {
        await end(await admit({ estimatedTokens: 600 }), success(totalTokens));
        expect(await says({ estimatedTokens: 401 })).toContain('has 600 tokens in use');
      })());

    test.each([1001, 1e300, Infinity, NaN])('an estimate of %p, over the limit, counts as the limit and gets the minute to itself', (estimatedTokens) =>
      at({ tpm: 1000 }, async ({ admit, says, times, end, advance }) => {
        await end(await admit({ estimatedTokens: 1 }), success());
        advance(100);
        expect(await times({ estimatedTokens })).toEqual([59_900, 59_900]);
        advance(59_900);
        expect(await times({ estimatedTokens })).toBe('in');
        expect(await says({ estimatedTokens: 1 })).toContain('has 1000 tokens in use');
      })());

    test('parts of a token are rounded up, so that sums stay exact', at({ tpm: 10 }, async ({ admit, says, end }) => {
      for (let count = 0; count < 3; count += 1) await end(await admit({ estimatedTokens: 0.1 }), success(2.5));
      expect(await says({ estimatedTokens: 1.5 })).toContain('has 9 tokens in use within 60 s (tpm 10) and room for 2 more');
    }));

    test('G2: a stream that ends after its minute changes nothing any more', at({ tpm: 1000 }, async ({ admit, says, end, advance }) => {
      const long = await admit({ estimatedTokens: 600 });
      advance(60_000);
      await end(long, success(900));
      expect(await says({ estimatedTokens: 1000 })).toBe('in');
    }));

    test('B4: what still runs may free its tokens any moment, so asking before it leaves may help', at({ tpm: 1000 }, async ({ admit, times, end, advance }) => {
      await end(await admit({ estimatedTokens: 300 }), success());
      advance(5000);
      const running = await admit({ estimatedTokens: 600 });
      advance(5000);
      expect(await times({ estimatedTokens: 500 })).toEqual([0, 55_000]);
      expect(await times({ estimatedTokens: 800 })).toEqual([50_000, 55_000]);
      await end(running, success());
      expect(await times({ estimatedTokens: 500 })).toEqual([55_000, 55_000]);
    }));

    test('G2: what is taken back takes its own tokens with it and no others', at({ tpm: 1000 }, async ({ admit, says, end }) => {
      await end(await admit({ estimatedTokens: 200 }), success(300));
      const back = await admit({ estimatedTokens: 500 });
      await admit({ estimatedTokens: 200 });
      await end(back, unsent);
      expect(await says({ estimatedTokens: 501 })).toContain('has 500 tokens in use');
      expect(await says({ estimatedTokens: 500 })).toBe('in');
    }));
  });

  describe('several limits', () => {
    test.each<[string, Limits]>([['requests at once', { maxConcurrency: 1 }], ['tokens a minute', { tpm: 100 }]])('R-Q6: whoever is refused for %s has taken no request of the minute', (_, full) =>
      at({ rpm: 2, ...full }, async ({ admit, says, times, end }) => {
        const first = await admit();
        for (let count = 0; count < 5; count += 1) expect(await says()).not.toBe('in');
        await end(first, success(0));
        expect([await says(), (await times()) as string]).toEqual(['in', [60_000, 60_000]]);
      })());

    test('R-Q6: whoever is refused for requests a minute has taken neither place nor tokens', at({ rpm: 1, maxConcurrency: 2, tpm: 200 }, async ({ admit, crowd, advance, governance }) => {
      await admit();
      for (let count = 0; count < 5; count += 1) expect(await crowd(1)).toEqual([]);
      expect(governance.permits()).toEqual({ 'a/1': 1 });
      advance(60_000);
      expect(await crowd(1, { estimatedTokens: 200 })).toHaveLength(1);
    }));

    test('full in several ways, a refusal says all of them and the last time of those that are known', at({ rpm: 2, tpm: 1000, maxConcurrency: 1 }, async ({ admit, enter, end, advance }) => {
      await end(await admit({ estimatedTokens: 1 }), success());
      advance(500);
      await admit({ estimatedTokens: 900 });
      advance(500);
      expect(await enter({ estimatedTokens: 600 })).toMatchObject({
        message:
          'a/1 runs 1 requests already, and a/1 was sent 2 requests within 60 s (rpm 2) and takes the next in 59000 ms, and a/1 has 901 tokens in use within 60 s (tpm 1000) and room for 600 more in 59500 ms',
        sourceId: 'a/1',
        notBeforeMs: 59_000,
        retryAfterMs: 59_500,
        asked: false,
        hopeless: false,
      });
    }));
  });
}
