import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSteady, steadyWindowMs } from '../../../lib/governance/selection/steady.js';
import type { EndedAttempt } from '../../../lib/governance/selection/steady.js';
import { named, turnstile } from './turnstile.js';
import type { Turnstile } from './turnstile.js';

const minuteMs = 60_000;

/** Ends an attempt now, with gaps given by their lengths. */
function end(stile: Turnstile, source: string, gaps: readonly number[], latencyMs: number, streamed = true): void {
  const recordGaps = gaps.map((gapMs) => [0, gapMs] as const);
  stile.selection.note({ source, streamed, recordGaps, latencyMs, endedMs: stile.clockMs });
}

/** A second until the first increment, half a minute of output. */
const calm = (stile: Turnstile, source: string): void => end(stile, source, [1000], 30_000);
/** Falls silent after some output; a backup wins, and the attempt is cancelled: no error, no figures but these. */
const rescued = (stile: Turnstile, source: string): void => end(stile, source, [1000, 25_000], 30_000);

describe('steady', () => {
  test('whoever stalls always and is always rescued drops behind, though it never fails', () => {
    const stile = turnstile('steady', named('a', 'b'));
    expect(stile.order()).toEqual(['a', 'b']);
    rescued(stile, 'a');
    calm(stile, 'b');
    expect(stile.order()).toEqual(['b', 'a']);
  });

  test('it comes back when its last stall has left the window, and not long before', () => {
    const stile = turnstile('steady', named('a', 'b'));
    for (stile.clockMs = 0; stile.clockMs <= 5 * minuteMs; stile.clockMs += minuteMs) rescued(stile, 'a');
    const lastMs = stile.clockMs - minuteMs;
    stile.clockMs = lastMs + steadyWindowMs - minuteMs;
    expect(stile.order()).toEqual(['b', 'a']);
    stile.clockMs = lastMs + steadyWindowMs;
    expect(stile.order()).toEqual(['a', 'b']);
    calm(stile, 'a');
    calm(stile, 'b');
    expect(stile.order()).toEqual(['a', 'b']);
    rescued(stile, 'a');
    expect(stile.order()).toEqual(['b', 'a']);
  });

  test('a source without evidence counts as not silent, so that it is tried', () => {
    const stile = turnstile('steady', named('a', 'b', 'c'));
    end(stile, 'a', [4000], 10_000);
    end(stile, 'b', [9000], 10_000);
    expect(stile.order()).toEqual(['c', 'a', 'b']);
  });

  test('shares count, not sums: much work with some silence beats little work with much', () => {
    const stile = turnstile('steady', named('a', 'b'));
    end(stile, 'a', [9000], 10_000);
    for (let times = 0; times < 20; times += 1) end(stile, 'b', [3000], 20_000);
    expect(stile.order()).toEqual(['b', 'a']);
  });

  test('every record gap of an attempt counts: first wait, middle and tail', () => {
    const stile = turnstile('steady', named('a', 'b'));
    end(stile, 'a', [2000, 3000, 4000], 20_000);
    end(stile, 'b', [5000], 20_000);
    expect(stile.order()).toEqual(['b', 'a']);
  });

  test('shares that are equal but for noise keep the given order', () => {
    const stile = turnstile('steady', named('a', 'b', 'c'));
    end(stile, 'a', [2200], 20_000);
    end(stile, 'b', [2000], 20_000);
    end(stile, 'c', [1800], 20_000);
    expect(stile.order()).toEqual(['a', 'b', 'c']);
  });

  test('an attempt of no length says nothing, and a refusal within milliseconds next to nothing', () => {
    const stile = turnstile('steady', named('a', 'b'));
    end(stile, 'a', [], 0);
    end(stile, 'a', [40], 40);
    expect(stile.order()).toEqual(['a', 'b']);
  });

  test('M2: an answer in one piece says nothing of silence', () => {
    const stile = turnstile('steady', named('a', 'b'));
    end(stile, 'a', [30_000], 30_000, false);
    expect(stile.order()).toEqual(['a', 'b']);
  });

  test('the order is that of the plain sums over the window, however many attempts there were', () => {
    const attempts = fc.array(
      fc.record({ source: fc.constantFrom('a', 'b', 'c'), afterMs: fc.integer({ min: 0, max: minuteMs }), latencyMs: fc.integer({ min: 10_000, max: 60_000 }), silent: fc.double({ min: 0, max: 1, noNaN: true }) }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(attempts, (all) => {
        let nowMs = 0;
        const steady = createSteady({ now: () => nowMs });
        const ended: EndedAttempt[] = [];
        for (const { source, afterMs, latencyMs, silent } of all) {
          nowMs += afterMs;
          const attempt = { source, streamed: true, recordGaps: [[0, Math.trunc(silent * latencyMs)] as const], latencyMs, endedMs: nowMs };
          ended.push(attempt);
          steady.note(attempt);
        }
        // The window moves on in half minutes, so what ended in one that it has begun to leave is out.
        const fromMs = (Math.floor((nowMs - steadyWindowMs) / 30_000) + 1) * 30_000;
        const shareOf = (id: string): number => {
          const mine = ended.filter(({ source, endedMs }) => source === id && endedMs >= fromMs);
          const sum = (figures: number[]): number => figures.reduce((a, b) => a + b, 0);
          return mine.length === 0 ? 0 : sum(mine.map(({ recordGaps }) => recordGaps[0]![1])) / sum(mine.map(({ latencyMs }) => latencyMs));
        };
        const steps = steady.order(named('a', 'b', 'c')).map(({ id }) => Math.round(shareOf(id) * 20));
        expect(steps).toEqual([...steps].sort((a, b) => a - b));
      }),
      { numRuns: 200 },
    );
  });

  test('M6: figures that depend on the stall threshold change nothing', () => {
    const stile = turnstile('steady', named('a', 'b'));
    const record = { source: 'a', streamed: true, recordGaps: [[0, 100] as const], latencyMs: 20_000, endedMs: 0, stallMs: 19_000, stallCount: 7, maxInterTokenMs: 19_000 };
    stile.selection.note(record);
    expect(stile.order()).toEqual(['a', 'b']);
  });

  test('a lower priority number goes first, however silent', () => {
    const stile = turnstile('steady', [{ id: 'reserve', priority: 1 }, { id: 'a' }, { id: 'b' }]);
    rescued(stile, 'a');
    rescued(stile, 'b');
    expect(stile.order()).toEqual(['a', 'b', 'reserve']);
  });
});
