import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { askedPauseMs, limitedBackoffMs, pollMs, retryBackoffMs } from '../../../lib/governance/retry/backoff.js';
import type { BackoffPolicy } from '../../../lib/governance/retry/backoff.js';

const policy = (random: number): BackoffPolicy => ({ backoffMs: 1000, backoffMaxMs: 8000, random: () => random });

describe('backoff', () => {
  test.each([
    [1, 0, 500, 1000],
    [2, 0, 1000, 2000],
    [3, 0, 2000, 4000],
    [4, 0, 4000, 8000],
    [5, 0, 4000, 8000],
    [1000, 0, 4000, 8000],
  ])('R2: after failure %i: %i with random 0, %i with 0.5, %i with 1', (times, least, middle, most) => {
    expect([0, 0.5, 1].map((random) => retryBackoffMs(times, policy(random)))).toEqual([least, middle, most]);
  });

  test.each([
    [1, 500, 500, 1000],
    [2, 500, 1000, 2000],
    [3, 500, 2000, 4000],
    [5, 500, 4000, 8000],
  ])('R3: after 429 number %i in a row: %i with random 0, %i with 0.5, %i with 1, never under half of backoffS', (times, least, middle, most) => {
    expect([0, 0.5, 1].map((random) => limitedBackoffMs(times, policy(random)))).toEqual([least, middle, most]);
  });

  test('R3: jitter on a Retry-After only adds, at most a fifth', () => {
    expect([0, 0.5, 1].map((random) => askedPauseMs(10_000, policy(random)))).toEqual([12_000, 11_000, 10_000]);
  });

  test('B4: a poll waits between half of the interval and the whole', () => {
    expect([0, 0.5, 1].map((random) => pollMs(500, () => random))).toEqual([250, 375, 500]);
  });

  test('the bounds hold for whatever is set and whatever is drawn', () => {
    const ms = fc.integer({ min: 1, max: 1_000_000 });
    const drawn = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(ms, ms, drawn, fc.integer({ min: 1, max: 100_000 }), (backoffMs, extraMs, random, times) => {
        const drawnPolicy = { backoffMs, backoffMaxMs: backoffMs + extraMs, random: () => random };
        const within = (value: number, least: number, most: number): void => {
          expect(value).toBeGreaterThanOrEqual(least);
          expect(value).toBeLessThanOrEqual(most);
        };
        within(retryBackoffMs(times, drawnPolicy), 0, drawnPolicy.backoffMaxMs);
        within(limitedBackoffMs(times, drawnPolicy), backoffMs / 2, drawnPolicy.backoffMaxMs);
        within(askedPauseMs(extraMs, drawnPolicy), extraMs, extraMs * 1.2 * (1 + Number.EPSILON));
        within(pollMs(extraMs, drawnPolicy.random), extraMs / 2, extraMs);
      }),
      { numRuns: 500 },
    );
  });
});
