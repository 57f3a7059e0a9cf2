import { describe, expect, test } from '@jest/globals';
import type { Lane } from '../../lib/cli/demo/callTrace.js';
import { drawAxis, drawCall, layoutFor } from '../../lib/cli/demo/drawCall.js';
import { createPaint } from '../../lib/cli/paint.js';

const paint = createPaint(false);
const layout = { cells: 30, cellMs: 100 };
const primary: Lane = { attemptId: 'c-1', source: 'flaky/1', role: 'primary', startMs: 1000, incrementsMs: [1250, 1320, 1350] };
const backup: Lane = { attemptId: 'c-2', source: 'steady/1', role: 'backup', startMs: 2350, incrementsMs: [2500, 2600, 2700] };
const draw = (lanes: readonly Lane[], nowMs: number, unhedgedMs?: number): string[] =>
  drawCall({ label: '7', lanes, startMs: 1000, nowMs, layout, paint, ...(unhedgedMs === undefined ? {} : { unhedgedMs }) });

describe('drawCall', () => {
  test('a call that has just begun, that answers, and that falls silent', () => {
    expect(draw([{ ...primary, incrementsMs: [] }], 1200)).toEqual(['  7  flaky/1  ···                            asked 0.2 s ago']);
    expect(draw([primary], 1500)).toEqual(['  7  flaky/1  ··██··                         answering']);
    expect(draw([primary], 2100)).toEqual(['  7  flaky/1  ··██········                   silent 0.8 s']);
  });

  test('a hedge while it runs', () => {
    expect(draw([{ ...primary, noticedMs: 2350 }, backup], 2750)).toEqual([
      '  7  flaky/1  ··██·········!····             silent 1.4 s',
      '     steady/1              ··███             answering',
    ]);
  });

  test('a hedge that is decided: who won, in what time instead of which, who was cancelled', () => {
    const lanes: Lane[] = [
      { ...primary, noticedMs: 2350, end: { type: 'cancelled', atMs: 2800 } },
      { ...backup, end: { type: 'won', atMs: 2800 } },
    ];
    expect(draw(lanes, 3500, 6400)).toEqual([
      '  7  flaky/1  ··██·········!····x            silent 1.4 s, cancelled',
      '     steady/1              ··███             won 1.8 s instead of 6.4 s',
    ]);
  });

  test('a loser that had answered, and one that failed', () => {
    const lanes: Lane[] = [
      { ...primary, end: { type: 'failed', atMs: 1400, message: 'the connection was reset by the source' } },
      { ...backup, end: { type: 'answered', atMs: 2700 } },
    ];
    expect(draw(lanes, 3500)).toEqual([
      '  7  flaky/1  ··██·                          failed: the connection was',
      '     steady/1              ··███             answered',
    ]);
  });

  test.each([60, 80, 100, 120, 200])('everything fits into %i columns, below the axis', (columns) => {
    const wide = layoutFor(columns);
    const lanes: Lane[] = [{ ...backup, startMs: 1000, end: { type: 'won', atMs: 10_000 }, incrementsMs: [9_000] }];
    const [line = ''] = drawCall({ label: '12', lanes, startMs: 1000, nowMs: 10_000, layout: wide, paint, unhedgedMs: 12_300 });
    expect(line.length).toBeLessThan(columns);
    const axis = drawAxis(wide, paint);
    expect(axis.indexOf('|0 s')).toBe(line.indexOf('·'));
    expect(axis.length).toBeLessThan(columns);
  });
});
