import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NEVER, catchError, concat, map, of, repeat, retry, tap, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { livenessTimeout } from '../../lib/operators/livenessTimeout.js';
import type { Expired, LivenessOptions } from '../../lib/operators/livenessTimeout.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo, ticking } from './asTheyGo.js';
import { diagramOf } from './diagramOf.js';
import { observe } from './observe.js';
import type { Seen } from './observe.js';
import { endError, play, timelines, valueTimes } from './timelines.js';
import type { Planning, Timeline } from './timelines.js';

/** `livenessTimeout` whose error is the expired limit itself. */
function watched<T>(options: LivenessOptions<T>): (value$: Observable<T>) => Observable<T> {
  return livenessTimeout<T>({ timeoutError: (expired) => expired, ...options });
}

const brokenError = new TypeError('broken callback');

describe('livenessTimeout', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const rows = {
      source: '     --a---b-----------c---|',
      firstMs: '    ----|',
      betweenMs: '        ------|',
      result: '     --a---b-----#',
    };
    expect(diagramOf('livenessTimeout')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(watched({ firstMs: time(rows.firstMs), betweenMs: time(rows.betweenMs) }))).toBe(rows.result, undefined, { limit: 'between', limitMs: 6, waitedMs: 6 });
    expectSubscriptions(source$.subscriptions).toBe('^-----------!');
  }));

  test('W1: fails when the first value takes too long', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    ------a--|');
    const sourceSubs = '      ^---!     ';
    const firstMs = time('    ----|     ');
    const expected = '        ----#     ';

    expectObservable(source$.pipe(watched({ firstMs, betweenMs: 2 }))).toBe(expected, undefined, { limit: 'first', limitMs: 4, waitedMs: 4 });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('W1: fails when the next value takes too long, counted from the last one', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -a-b-------c|');
    const sourceSubs = '      ^------!     ';
    const betweenMs = time('     ----|     ');
    const expected = '        -a-b---#     ';

    expectObservable(source$.pipe(watched({ firstMs: 2, betweenMs }))).toBe(expected, undefined, { limit: 'between', limitMs: 4, waitedMs: 4 });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('W1: bounds the whole, however alive the source is', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -a-b-c-d-e-f|');
    const sourceSubs = '      ^-----!      ';
    const totalMs = time('    ------|      ');
    const expected = '        -a-b-c#      ';

    expectObservable(source$.pipe(watched({ firstMs: 4, betweenMs: 4, totalMs }))).toBe(expected, undefined, { limit: 'total', limitMs: 6, waitedMs: 6 });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('W4: the limits are separate; each works without the others', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    ----a--------b|');
    const limitMs = time('    ---|           ');

    expectObservable(source$.pipe(watched({}))).toBe('                    ----a--------b|');
    expectObservable(source$.pipe(watched({ firstMs: limitMs }))).toBe('  ---#           ', undefined, { limit: 'first', limitMs: 3, waitedMs: 3 });
    expectObservable(source$.pipe(watched({ firstMs: 5 }))).toBe('        ----a--------b|');
    expectObservable(source$.pipe(watched({ betweenMs: limitMs }))).toBe('----a--#       ', undefined, { limit: 'between', limitMs: 3, waitedMs: 3 });
    expectObservable(source$.pipe(watched({ totalMs: 13 }))).toBe('       ----a--------(b#)', undefined, { limit: 'total', limitMs: 13, waitedMs: 13 });
  }));

  test('a limit between values that is shorter than the wait for the first one is seen in time', marbles(({ cold, expectObservable }) => {
    const source$ = cold('  ---------a-------|');
    const expected = '      ---------a--#     ';

    expectObservable(source$.pipe(watched({ firstMs: 20, betweenMs: 3 }))).toBe(expected, undefined, { limit: 'between', limitMs: 3, waitedMs: 3 });
  }));

  test('O2: values that do not count are no signs of life, but pass', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    -k-k-a-k--k-|');
    const never$ = cold('     -k-k-k-k     ');
    const firstMs = time('    ------|      ');
    const betweenMs = time('       ----|   ');
    const expected = '        -k-k-a-k-#   ';
    const unfulfilled = '     -k-k-k#      ';

    const counts = (value: string): boolean => value !== 'k';
    expectObservable(source$.pipe(watched({ firstMs, betweenMs, counts }))).toBe(expected, undefined, { limit: 'between', limitMs: 4, waitedMs: 4 });
    expectObservable(never$.pipe(watched({ firstMs, betweenMs, counts }))).toBe(unfulfilled, undefined, { limit: 'first', limitMs: 6, waitedMs: 6 });
  }));

  const ends = { until: (value: string): boolean => value === 'F', counts: (value: string): boolean => value !== 'u' };

  test('H15: from the value on that `until` selects no limit holds', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a-F------------u|');
    const sourceSubs = '    ^----------------!';
    const expected = '      -a-F------------u|';

    expectObservable(source$.pipe(watched({ firstMs: 3, betweenMs: 3, totalMs: 10, ...ends }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('H15: until a value that counts shows that it goes on', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a-F------b-------');
    const sourceSubs = '    ^------------!    ';
    const expected = '      -a-F------b--#    ';

    expectObservable(source$.pipe(watched({ firstMs: 3, betweenMs: 3, ...ends }))).toBe(expected, undefined, { limit: 'between', limitMs: 3, waitedMs: 3 });
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('H15: then the limit of the whole, if it has passed meanwhile, strikes at once', marbles(({ cold, expectObservable }) => {
    const expired = catchError((error: unknown) => of((error as Expired).limit));
    expectObservable(cold('-a-F------b---').pipe(watched({ betweenMs: 3, totalMs: 5, ...ends }), expired)).toBe('-a-F------(t|)', { a: 'a', F: 'F', b: 'b', t: 'total' });
  }));

  test('H15: also when that value is the first', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-F--------|').pipe(watched({ firstMs: 3, betweenMs: 3, until: () => true }))).toBe('-F--------|');
  }));

  test('a source that never speaks', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  --------');
    const unlimited = '     ^-------';
    const limited = '       ^---!   ';

    expectObservable(source$.pipe(watched({}))).toBe('              --------');
    expectObservable(source$.pipe(watched({ firstMs: 4 }))).toBe('  ----#   ', undefined, { limit: 'first', limitMs: 4, waitedMs: 4 });
    expectSubscriptions(source$.subscriptions).toBe([unlimited, limited]);
  }));

  test('is its source when that is in time: empty, one, many, failing', marbles(({ cold, expectObservable }) => {
    const alive = { firstMs: 4, betweenMs: 4, totalMs: 20 };
    expectObservable(cold('  |        ').pipe(watched(alive))).toBe('  |        ');
    expectObservable(cold('  --|      ').pipe(watched(alive))).toBe('  --|      ');
    expectObservable(cold('  --(a|)   ').pipe(watched(alive))).toBe('  --(a|)   ');
    expectObservable(cold('  --a--b--|').pipe(watched(alive))).toBe('  --a--b--|');
    expectObservable(cold('  --a--#   ').pipe(watched(alive))).toBe('  --a--#   ');
    expectObservable(cold('  #        ').pipe(watched(alive))).toBe('  #        ');
  }));

  test('unsubscribing stops the source and the timers', marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const source$ = cold('  -a-------');
    const unsub = '         ---!     ';
    const sourceSubs = '    ^--!     ';
    const expected = '      -a-------';

    expectObservable(source$.pipe(watched({ firstMs: 4, betweenMs: 4, totalMs: 20, scheduler })), unsub).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));

  test('the end of the source stops the timers', marbles(({ cold, expectObservable, flush, scheduler }) => {
    expectObservable(cold('-a|').pipe(watched({ firstMs: 400, betweenMs: 400, totalMs: 2000, scheduler }))).toBe('-a|');
    flush();
    expect(scheduler.now()).toBe(2);
  }));

  test('a callback that throws fails the result and stops the source', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const broken = (): never => { throw brokenError; };
    const counting$ = cold(' -a---b|');
    const ending$ = cold('   -a---b|');
    const naming$ = cold('   -a---b|');

    expectObservable(counting$.pipe(watched({ firstMs: 4, counts: broken }))).toBe('-#', undefined, brokenError);
    expectObservable(ending$.pipe(watched({ firstMs: 4, until: broken }))).toBe('-#', undefined, brokenError);
    expectObservable(naming$.pipe(watched({ firstMs: 4, betweenMs: 2, timeoutError: broken }))).toBe('-a-#', undefined, brokenError);
    expectSubscriptions(counting$.subscriptions).toBe('^!');
    expectSubscriptions(ending$.subscriptions).toBe('^!');
    expectSubscriptions(naming$.subscriptions).toBe('^--!');
  }));

  test('a synchronous source needs no time', marbles(({ expectObservable }) => {
    expectObservable(of('a', 'b').pipe(watched({ firstMs: 3, betweenMs: 3, totalMs: 3 }))).toBe('(ab|)');
    expectObservable(throwError(() => brokenError).pipe(watched({ firstMs: 3 }))).toBe('#', undefined, brokenError);
    expectObservable(concat(of('a', 'b'), NEVER).pipe(watched({ firstMs: 5, betweenMs: 4 }))).toBe('(ab)#', undefined, { limit: 'between', limitMs: 4, waitedMs: 4 });
  }));

  test('every subscription is watched for itself', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  --a--|      ');
    const silent$ = cold('  --a-------  ');
    const late$ = '         ---^--------';

    const ok$ = source$.pipe(watched({ firstMs: 3, betweenMs: 4 }));
    expectObservable(ok$).toBe('           --a--|     ');
    expectObservable(ok$, late$).toBe('    -----a--|  ');
    expectObservable(ok$.pipe(repeat(2))).toBe('--a----a--|');
    expectObservable(silent$.pipe(watched({ firstMs: 3, betweenMs: 4 }), retry(1))).toBe('--a-----a---#', undefined, { limit: 'between', limitMs: 4, waitedMs: 4 });
    expectSubscriptions(source$.subscriptions).toBe(['^----!', '^----!', '---^----!', '-----^----!']);
    expectSubscriptions(silent$.subscriptions).toBe(['^-----!', '------^-----!']);
  }));

  test('fails by default with an error named TimeoutError, which says what expired', () => {
    const seen = observe((scheduler) => asTheyGo([['a', 10]], scheduler).pipe((a$) => concat(a$, NEVER), livenessTimeout({ firstMs: 20, betweenMs: 7, scheduler })));
    expect(seen).toMatchObject([{ atMs: 10, next: 'a' }, { atMs: 17, error: { name: 'TimeoutError', limit: 'between', limitMs: 7, waitedMs: 7 } }]);
  });

  test('tears the source down with its error, so that a retry does not find it open', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -----');
    expectObservable(source$.pipe(watched({ totalMs: 3 }), catchError(() => of('late')))).toBe('---(l|)', { l: 'late' });
    expectSubscriptions(source$.subscriptions).toBe('^--!');
  }));
});

describe('T4: what comes at the very instant of a limit wins', () => {
  test('a value over the wait for the first one', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 4], ['b', 1]]).pipe(watched({ firstMs: 4, betweenMs: 4 }))).toBe('----a(b|)');
  }));

  test('a value over the wait between two, each scheduled by the one before it', marbles(({ expectObservable }) => {
    expectObservable(ticking(4, 3).pipe(watched({ firstMs: 4, betweenMs: 4 }), map((value) => String(value)))).toBe('----0---1---(2|)');
  }));

  test('a completion over the limit of the whole', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 3], ['b', 3]]).pipe(watched({ totalMs: 6 }))).toBe('---a--(b|)');
  }));

  test('a value over the limit of the whole, which then strikes', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 3], ['b', 3], ['c', 3]]).pipe(watched({ totalMs: 6 }))).toBe('---a--(b#)', undefined, { limit: 'total', limitMs: 6, waitedMs: 6 });
  }));

  test('an error of the source over all of them', marbles(({ expectObservable }) => {
    const failed$ = asTheyGo([['a', 4]]).pipe(tap(() => { throw new Error('it broke'); }));
    expectObservable(failed$.pipe(watched({ firstMs: 4, totalMs: 4 }))).toBe('----#', undefined, new Error('it broke'));
  }));

  test('while a value that comes a millisecond later is too late', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 4], ['b', 5]]).pipe(watched({ firstMs: 4, betweenMs: 4 }))).toBe('----a---#', undefined, { limit: 'between', limitMs: 4, waitedMs: 4 });
  }));
});

type Limits = Pick<LivenessOptions<number>, 'firstMs' | 'betweenMs' | 'totalMs'>;

/**
 * W1 once more, from the list of the times: walk through them and see which limit passes before the next thing comes.
 * Where two limits pass at the same instant, either may be named.
 */
function plainLiveness(timeline: Timeline, { firstMs = Infinity, betweenMs = Infinity, totalMs = Infinity }: Limits, untilIndex: number): Seen[][] {
  const timesMs = valueTimes(timeline.gapsMs);
  const endMs = timeline.end.type === 'never' ? Infinity : (timesMs.at(-1) ?? 0) + timeline.end.afterMs;
  const seen: Seen[] = [];
  let quietSinceMs = 0;
  let quietMs = firstMs;
  let wholeMs = totalMs;

  const passedBefore = (nextMs: number): Seen[] => {
    const silent: Expired = { limit: seen.length === 0 ? 'first' : 'between', limitMs: quietMs, waitedMs: quietMs };
    const total: Expired = { limit: 'total', limitMs: totalMs, waitedMs: totalMs };
    const limits = [{ atMs: quietSinceMs + quietMs, error: silent }, { atMs: wholeMs, error: total }];
    const passedMs = Math.min(...limits.map(({ atMs }) => atMs));
    return passedMs < nextMs ? limits.filter(({ atMs }) => atMs === passedMs) : [];
  };

  for (const [at, atMs] of timesMs.entries()) {
    const passed = passedBefore(atMs);
    if (passed.length > 0) return passed.map((one) => [...seen, one]);
    seen.push({ atMs, next: atMs });
    quietSinceMs = atMs;
    quietMs = betweenMs;
    if (at >= untilIndex) quietMs = wholeMs = Infinity;
  }
  const passed = passedBefore(endMs);
  if (passed.length > 0) return passed.map((one) => [...seen, one]);
  if (endMs === Infinity) return [seen];
  return [[...seen, timeline.end.type === 'error' ? { atMs: endMs, error: endError } : { atMs: endMs, complete: true }]];
}

describe('W1: fails as the list of times says', () => {
  const limitMs = fc.constantFrom<(number | undefined)[]>(undefined, 1, 5, 32, 50);
  const cases = fc.record({ firstMs: limitMs, betweenMs: limitMs, totalMs: fc.constantFrom<(number | undefined)[]>(undefined, 1, 40, 200) }).chain((limits) => {
    const known = [limits.firstMs, limits.betweenMs].flatMap((ms) => (ms === undefined ? [] : [ms]));
    return fc.record({ limits: fc.constant(limits), timeline: timelines(known.length === 0 ? [10] : known), untilIndex: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 5 })) });
  });

  test.each<Planning>(['as they go', 'all in advance'])('over random timelines, their values scheduled %s', (planning) => {
    fc.assert(
      fc.property(cases, ({ limits, timeline, untilIndex }) => {
        const actual = observe((scheduler) => {
          let index = -1;
          const until = (): boolean => ++index >= untilIndex;
          return play(timeline, planning, scheduler).pipe(watched({ ...limits, until, scheduler }));
        }, 5000);
        expect(plainLiveness(timeline, limits, untilIndex)).toContainEqual(actual);
      }),
      { numRuns: 500 },
    );
  });
});
