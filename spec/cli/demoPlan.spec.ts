import { describe, expect, test } from '@jest/globals';
import { planDemo, unhedgedFigures } from '../../lib/cli/demo/demoPlan.js';
import { parseTimeline } from '../../lib/lab/upstream/parseTimeline.js';

describe('planDemo', () => {
  const stalledOf = (calls: number, seed: number): number[] => planDemo({ calls, seed, stallThresholdMs: 1000 }).map(({ unhedged }) => unhedged.stallMs).filter((stallMs) => stallMs > 0);

  test.each([1, 2, 3, 12, 30])('half of %i answers fall silent, whatever the seed', (calls) => {
    for (const seed of [0, 1, 7, 99]) expect(stalledOf(calls, seed)).toHaveLength(Math.ceil(calls / 2));
  });

  test('of several silences one is so short that the first source may still win', () => {
    expect(stalledOf(12, 3).filter((stallMs) => stallMs < 1300)).toHaveLength(1);
    expect(Math.min(...stalledOf(6, 3))).toBeGreaterThanOrEqual(3000);
  });

  test('the same seed plans the same, another seed otherwise', () => {
    const plan = (seed: number): unknown => planDemo({ calls: 4, seed, stallThresholdMs: 1000 });
    expect(plan(8)).toEqual(plan(8));
    expect(plan(8)).not.toEqual(plan(9));
  });

  test('the backup never falls silent', () => {
    const gaps = planDemo({ calls: 20, seed: 5, stallThresholdMs: 1000 }).map(({ backup }) => unhedgedFigures(backup, 1000).stallMs);
    expect(gaps.every((stallMs) => stallMs === 0)).toBe(true);
  });
});

describe('unhedgedFigures', () => {
  test('the example of the M rules: wall 4100, stall 3000', () => {
    const timeline = parseTimeline('d@0.5 d@0.9 d@3.9 d@4 f@4.1');
    expect(unhedgedFigures(timeline, 1000)).toEqual({ wallMs: 4100, stallMs: 3000 });
  });

  test('M1: a gap of just the threshold is no stall', () => {
    expect(unhedgedFigures(parseTimeline('d@0 d@1 f@1'), 1000).stallMs).toBe(0);
  });
});
