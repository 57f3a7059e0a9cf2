import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatTimeline } from '../../../lib/lab/upstream/formatTimeline.js';
import { mulberry32 } from '../../../lib/lab/mulberry32.js';
import { parseTimeline } from '../../../lib/lab/upstream/parseTimeline.js';
import { randomTimeline } from '../../../lib/lab/upstream/randomTimeline.js';
import type { Timeline } from '../../../lib/lab/upstream/timeline.js';

/** Gaps between two pieces of text, without the wait for the first and the tail. */
function gapsMs(timeline: Timeline): number[] {
  const times = timeline.filter(({ type }) => type === 'content').map(({ atMs }) => atMs);
  return times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
}

const seeds = fc.integer().map(mulberry32);

describe('mulberry32', () => {
  test('gives the known sequence of its seed', () => {
    const random = mulberry32(1);
    expect([random(), random(), random()]).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
  });

  test('spreads evenly over [0, 1)', () => {
    const random = mulberry32(7);
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n += 1) tenths[Math.floor(random() * 10)]! += 1;
    expect(Math.min(...tenths)).toBeGreaterThan(900);
    expect(Math.max(...tenths)).toBeLessThan(1100);
  });
});

describe('randomTimeline', () => {
  test('the same seed gives the same answer, another seed another', () => {
    expect(randomTimeline({ random: mulberry32(3) })).toEqual(randomTimeline({ random: mulberry32(3) }));
    expect(randomTimeline({ random: mulberry32(3) })).not.toEqual(randomTimeline({ random: mulberry32(4) }));
  });

  test('is a whole answer: its pieces, a finish reason, usage, end marker and clean end', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 100 }), (random, increments) => {
        const timeline = randomTimeline({ random, increments });
        expect(timeline.map(({ type }) => type)).toEqual(['open', ...Array.from({ length: increments }, () => 'content'), 'finish', 'usage', 'done', 'eof']);
        expect(timeline).toContainEqual(expect.objectContaining({ type: 'usage', completionTokens: increments }));
        expect(parseTimeline(formatTimeline(timeline))).toEqual(timeline);
      }),
    );
  });

  test('stallShare 1: exactly one silence of the asked length, always in the middle', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 60 }), (random, increments) => {
        const long = gapsMs(randomTimeline({ random, increments, stallShare: 1, stallMinMs: 2000, stallMaxMs: 3000 })).filter((gap) => gap > 260);
        expect(long).toHaveLength(1);
        expect(long[0]).toBeGreaterThanOrEqual(1999);
        expect(long[0]).toBeLessThanOrEqual(3001);
      }),
    );
  });

  test('stallShare 0: no gap that would pass for a silence', () => {
    fc.assert(fc.property(seeds, (random) => expect(Math.max(...gapsMs(randomTimeline({ random, stallShare: 0, gapMs: 50 })))).toBeLessThanOrEqual(251)));
  });

  test('over many answers the share of silences and the mean gap are as asked', () => {
    const random = mulberry32(11);
    const answers = Array.from({ length: 2000 }, () => gapsMs(randomTimeline({ random, stallShare: 0.3, gapMs: 50 })));
    const share = answers.filter((gaps) => Math.max(...gaps) > 2000).length / answers.length;
    const usual = answers.flat().filter((gap) => gap < 2000);
    expect(share).toBeGreaterThan(0.26);
    expect(share).toBeLessThan(0.34);
    expect(usual.reduce((sum, gap) => sum + gap, 0) / usual.length).toBeCloseTo(50, -1);
  });
});
