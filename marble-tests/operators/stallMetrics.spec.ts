import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY, NEVER, Subscription, concat, last, map, of, repeat, retry } from 'rxjs';
import { openStallMeter, stallMetrics } from '../../lib/operators/stallMetrics.js';
import type { StallFigures } from '../../lib/operators/stallMetrics.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo } from './asTheyGo.js';
import { diagramOf } from './diagramOf.js';
import { observe } from './observe.js';
import { play, timelines, valueTimes } from './timelines.js';
import type { Timeline } from './timelines.js';

/** Every emission is the same object, grown in place, so it is copied here. */
const copied = map((figures: StallFigures) => ({ ...figures, recordGaps: [...figures.recordGaps] }));
const headline = map(({ firstMs, stallMs, stallCount, maxGapMs }: StallFigures) => ({ firstMs, stallMs, stallCount, maxGapMs }));
const none = { firstMs: null, stallMs: null, stallCount: null, maxGapMs: null };

describe('stallMetrics', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, time, expectObservable }) => {
    const rows = {
      source: '       --a-b-----c-|',
      thresholdMs: '  ---|',
      result: '       --x-y-----z-|',
    };
    expect(diagramOf('stallMetrics')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(stallMetrics({ thresholdMs: time(rows.thresholdMs) }), headline)).toBe(rows.result, {
      x: { ...none, firstMs: 2 },
      y: { firstMs: 2, stallMs: 0, stallCount: 0, maxGapMs: 2 },
      z: { firstMs: 2, stallMs: 6, stallCount: 1, maxGapMs: 6 },
    });
  }));

  test('M1: the example of the rules', () => {
    const seen = observe((scheduler) => play({ gapsMs: [500, 400, 3000, 100], end: { type: 'complete', afterMs: 100 } }, 'as they go', scheduler).pipe(stallMetrics({ thresholdMs: 1000, scheduler }), last(), headline));
    expect(seen[0]).toEqual({ atMs: 4100, next: { firstMs: 500, stallMs: 3000, stallCount: 1, maxGapMs: 3000 } });
  });

  test('M1: a gap of exactly the threshold is no stall, one of a millisecond more is', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('      a--b---c|');
    const thresholdMs = time('  ---|     ');
    const shorterMs = time('    --|      ');
    const expected = '          --------(r|)';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: thresholdMs + 1 }), last(), headline)).toBe(expected, { r: { firstMs: 0, stallMs: 0, stallCount: 0, maxGapMs: 4 } });
    expectObservable(source$.pipe(stallMetrics({ thresholdMs }), last(), headline)).toBe(expected, { r: { firstMs: 0, stallMs: 4, stallCount: 1, maxGapMs: 4 } });
    expectObservable(source$.pipe(stallMetrics({ thresholdMs: shorterMs }), last(), headline)).toBe(expected, { r: { firstMs: 0, stallMs: 7, stallCount: 2, maxGapMs: 4 } });
  }));

  test('M2: fewer than two values give null, two or more without a long gap give 0', marbles(({ cold, expectObservable }) => {
    const empty$ = cold('----|  ');
    const one$ = cold('  ----a-|');
    const two$ = cold('  ----a-b|');

    expectObservable(empty$.pipe(stallMetrics({ thresholdMs: 3 }), headline)).toBe('----(r|)', { r: none });
    expectObservable(one$.pipe(stallMetrics({ thresholdMs: 3 }), headline)).toBe('  ----r-|', { r: { ...none, firstMs: 4 } });
    expectObservable(two$.pipe(stallMetrics({ thresholdMs: 3 }), last(), headline)).toBe('-------(r|)', { r: { firstMs: 4, stallMs: 0, stallCount: 0, maxGapMs: 2 } });
  }));

  test('M4: the wait for the first value and the tail after the last one are no stall', marbles(({ cold, expectObservable }) => {
    const source$ = cold('  ------a-b-------|');
    const expected = '      ----------------(r|)';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: 3 }), last(), headline)).toBe(expected, { r: { firstMs: 6, stallMs: 0, stallCount: 0, maxGapMs: 2 } });
  }));

  test('keeps the waits that were longer than all before them, the one for the first value included', marbles(({ cold, expectObservable }) => {
    const source$ = cold('  -a--b-c--d---e---f|');
    const expected = '      ------------------(r|)';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: 100 }), last(), copied, map(({ recordGaps }) => recordGaps))).toBe(expected, { r: [[0, 1], [1, 3], [9, 4]] });
  }));

  test('… in whole milliseconds; the longest gap is the longest by any fraction', () => {
    let nowMs = 0;
    const { figures, note } = openStallMeter({ thresholdMs: 1000, scheduler: { now: () => nowMs, schedule: () => Subscription.EMPTY } });
    for (const gapMs of [1.25, 500.25, 500.75, 501, 501.5]) {
      nowMs += gapMs;
      note();
    }

    expect(figures.recordGaps).toEqual([[0, 1.25], [1.25, 500.25], [1002.25, 501]]);
    expect(figures.maxGapMs).toBe(501.5);
  });

  test('a source that never speaks gives nothing', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -----');
    const sourceSubs = '    ^----';
    const expected = '      -----';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: 3 }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('passes an error on; what was measured before it stands', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a-#');
    const sourceSubs = '    ^--!';
    const expected = '      -r-#';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: 3 }), headline)).toBe(expected, { r: { ...none, firstMs: 1 } });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('an error before any value leaves no figures', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('--#').pipe(stallMetrics({ thresholdMs: 3 }))).toBe('--#');
  }));

  test('unsubscribing unsubscribes', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a---b--|');
    const unsub = '         ---!     ';
    const sourceSubs = '    ^--!     ';
    const expected = '      -r-------';

    expectObservable(source$.pipe(stallMetrics({ thresholdMs: 3 }), headline), unsub).toBe(expected, { r: { ...none, firstMs: 1 } });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('a synchronous source has gaps of 0', marbles(({ expectObservable }) => {
    const zero = { firstMs: 0, stallMs: 0, stallCount: 0, maxGapMs: 0 };
    expectObservable(of('a', 'b', 'c').pipe(stallMetrics({ thresholdMs: 3 }), last(), headline)).toBe('(r|)', { r: zero });
    expectObservable(EMPTY.pipe(stallMetrics({ thresholdMs: 3 }), headline)).toBe('(r|)', { r: none });
    expectObservable(concat(of('a', 'b'), NEVER).pipe(stallMetrics({ thresholdMs: 3 }), headline)).toBe('(fs)', { f: { ...none, firstMs: 0 }, s: zero });
  }));

  test('every subscription measures for itself', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('   -a----b|     ');
    const failing$ = cold('  -a----b#     ');
    const late = '           ---^-------- ';
    const f = { ...none, firstMs: 1 };
    const s = { firstMs: 1, stallMs: 5, stallCount: 1, maxGapMs: 5 };

    const figures$ = source$.pipe(stallMetrics({ thresholdMs: 3 }), headline);
    expectObservable(figures$).toBe('          -f----s|', { f, s });
    expectObservable(figures$, late).toBe('    ----f----s|', { f, s });
    expectObservable(figures$.pipe(repeat(2))).toBe('-f----s-f----s|', { f, s });
    expectObservable(failing$.pipe(stallMetrics({ thresholdMs: 3 }), headline, retry(1))).toBe('-f----s-f----s#', { f, s });
    expectSubscriptions(source$.subscriptions).toBe(['^------!', '^------!', '---^------!', '-------^------!']);
  }));

  test('grows one object per subscription, not one per value', () => {
    const emitted: StallFigures[] = [];
    const figures$ = of('a', 'b').pipe(stallMetrics({ thresholdMs: 3 }));
    figures$.subscribe((figures) => emitted.push(figures));
    figures$.subscribe((figures) => emitted.push(figures));
    expect(new Set(emitted).size).toBe(2);
    expect(emitted[0]).toBe(emitted[1]);
  });

  test('takes its time from the scheduler it is given, start included', () => {
    const seen = observe((scheduler) => asTheyGo([['a', 10], ['b', 5]], scheduler).pipe(stallMetrics({ thresholdMs: 3, scheduler }), last(), copied));
    expect(seen[0]).toEqual({ atMs: 15, next: { startMs: 0, count: 2, lastMs: 15, firstMs: 10, stallMs: 5, stallCount: 1, maxGapMs: 5, recordGaps: [[0, 10], [10, 5]] } });
  });
});

/** M1 and M2 once more, from the list of the times when values came. */
function plainFigures({ gapsMs }: Timeline, thresholdMs: number): StallFigures {
  const timesMs = valueTimes(gapsMs);
  const between = gapsMs.slice(1);
  const stalls = between.filter((gapMs) => gapMs > thresholdMs);
  const many = between.length > 0;
  return {
    startMs: 0,
    count: gapsMs.length,
    lastMs: timesMs.at(-1) ?? 0,
    firstMs: gapsMs[0] ?? null,
    stallMs: many ? stalls.reduce((sum, gapMs) => sum + gapMs, 0) : null,
    stallCount: many ? stalls.length : null,
    maxGapMs: many ? Math.max(...between) : null,
    recordGaps: gapsMs.flatMap((gapMs, at) => (gapMs > Math.max(0, ...gapsMs.slice(1, at)) ? [[timesMs[at]! - gapMs, gapMs] as const] : [])),
  };
}

test('M1, M2: equal to the figures computed from the list of gaps, over random timelines', () => {
  const cases = fc.constantFrom(1, 2, 20, 100).chain((thresholdMs) => fc.record({ thresholdMs: fc.constant(thresholdMs), timeline: timelines([thresholdMs]) }));
  fc.assert(
    fc.property(cases, ({ thresholdMs, timeline }) => {
      const seen = observe((scheduler) => play({ ...timeline, end: { type: 'complete', afterMs: timeline.end.afterMs } }, 'as they go', scheduler).pipe(stallMetrics({ thresholdMs, scheduler }), last(), copied));
      expect(seen[0]).toMatchObject({ next: plainFigures(timeline, thresholdMs) });
    }),
    { numRuns: 500 },
  );
});
