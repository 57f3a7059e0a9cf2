import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY, NEVER, concat, concatWith, endWith, map, of, repeat, retry, startWith, switchMap, take, tap, timer } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import { silence } from '../../lib/operators/silence.js';
import type { SilenceKind } from '../../lib/operators/silence.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo, ticking } from './asTheyGo.js';
import { diagramOf } from './diagramOf.js';
import { observe } from './observe.js';
import { play, timelines } from './timelines.js';
import type { Planning } from './timelines.js';

const kinds = { f: 'first', b: 'between' } as const;

describe('silence', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, time, expectObservable }) => {
    const rows = {
      source: '     --a-b-----------c------|',
      firstMs: '    ----|',
      betweenMs: '      ------|',
      result: '     ----------b-----------b|',
    };
    expect(diagramOf('silence')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(silence({ firstMs: time(rows.firstMs), betweenMs: time(rows.betweenMs) }))).toBe(rows.result, kinds);
  }));

  test('H1: reports a wait for the first value that is too long, and afterwards one between values', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -----a-----b--|');
    const sourceSubs = '      ^-------------!';
    const firstMs = time('    ---|           ');
    const betweenMs = time('       ----|     ');
    const expected = '        ---f-----b----|';

    expectObservable(source$.pipe(silence({ firstMs, betweenMs }))).toBe(expected, kinds);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('reports a silence once, however long it lasts', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    -a-----------------b-|');
    const betweenMs = time('   ---|                ');
    const expected = '        ----b----------------|';

    expectObservable(source$.pipe(silence({ firstMs: null, betweenMs }))).toBe(expected, kinds);
  }));

  test('H3: what does not count neither begins nor ends a wait', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    -x---a-x-----|');
    const firstMs = time('    ---|          ');
    const betweenMs = time('       ----|    ');
    const expected = '        ---f-----b---|';

    expectObservable(source$.pipe(silence({ firstMs, betweenMs, counts: (value) => value !== 'x' }))).toBe(expected, kinds);
  }));

  test('T4: with more turns, what is due at the same instant goes first, and a value of that instant still wins', marbles(({ cold, time, scheduler, expectObservable }) => {
    const source$ = cold('    a-----b------|');
    const limitMs = time('    ---|          ');
    const expected = '        ---b-----b---|';
    const other = '           ---x          ';
    const order: string[] = [];
    const noted = <T>(name: string) => tap<T>({ next: () => { order.push(name); } });

    // Asked for first, and with one turn it would also be first.
    expectObservable(source$.pipe(silence({ firstMs: null, betweenMs: limitMs, turns: 3, scheduler }), noted('silence'))).toBe(expected, kinds);
    expectObservable(source$.pipe(silence({ firstMs: null, betweenMs: limitMs, scheduler }), take(1), noted('other'), map(() => 'x'), concatWith(NEVER))).toBe(other);
    const alive$ = cold('     a--b--c--d|');
    expectObservable(alive$.pipe(silence({ firstMs: null, betweenMs: limitMs, turns: 3, scheduler }))).toBe('----------|');

    scheduler.flush();
    expect(order).toEqual(['other', 'silence', 'silence']);
  }));

  test('H1: each limit works without the other', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    ----a-----|');
    const limitMs = time('    ---|       ');
    const firstOnly = '       ---f------|';
    const betweenOnly = '     -------b--|';
    const neither = '         ----------|';

    expectObservable(source$.pipe(silence({ firstMs: limitMs, betweenMs: null }))).toBe(firstOnly, kinds);
    expectObservable(source$.pipe(silence({ firstMs: null, betweenMs: limitMs }))).toBe(betweenOnly, kinds);
    expectObservable(source$.pipe(silence({ firstMs: null, betweenMs: null }))).toBe(neither, kinds);
  }));

  test('a first value ends the wait for it also where nothing is watched afterwards', marbles(({ cold, time, expectObservable }) => {
    const source$ = cold('    --a-b---------|');
    const firstMs = time('    ---|           ');
    const expected = '        --------------|';

    expectObservable(source$.pipe(silence({ firstMs, betweenMs: null }))).toBe(expected, kinds);
  }));

  test('a source that never speaks is silent once', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -------');
    const sourceSubs = '      ^------';
    const limitMs = time('    ---|');
    const expected = '        ---f---';

    expectObservable(source$.pipe(silence({ firstMs: limitMs, betweenMs: limitMs }))).toBe(expected, kinds);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('ends with its source, empty or not; nothing is reported after the end', marbles(({ cold, time, expectObservable }) => {
    const limitMs = time('        -----|');
    const empty$ = cold('         |     ');
    const one$ = cold('           -a-|  ');

    expectObservable(empty$.pipe(silence({ firstMs: limitMs, betweenMs: limitMs }))).toBe('|');
    expectObservable(one$.pipe(silence({ firstMs: limitMs, betweenMs: limitMs }))).toBe('---|');
  }));

  test('passes an error on and stops its timer', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -a-#   ');
    const sourceSubs = '      ^--!   ';
    const limitMs = time('     ----| ');
    const expected = '        ---#   ';

    expectObservable(source$.pipe(silence({ firstMs: limitMs, betweenMs: limitMs }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('unsubscribing stops the source and the timer', marbles(({ cold, time, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const source$ = cold('    -a---------');
    const unsub = '           ---!       ';
    const sourceSubs = '      ^--!       ';
    const limitMs = time('     ----|     ');
    const expected = '        -----------';

    expectObservable(source$.pipe(silence({ firstMs: limitMs, betweenMs: limitMs, scheduler })), unsub).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));

  test('a synchronous source leaves nothing to wait for', marbles(({ expectObservable }) => {
    expectObservable(of('a', 'b').pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('|');
    expectObservable(concat(of('a', 'b'), NEVER).pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('---b', kinds);
  }));

  test('every subscription measures for itself', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    -a--|                   ');
    const failing$ = cold('   -a--#                   ');
    const firstMs = time('    --|                     ');
    const late = '            ------^---------------- ';

    const signal$ = source$.pipe(silence({ firstMs, betweenMs: 2 }));
    expectObservable(signal$).toBe('           ---b|         ', kinds);
    expectObservable(signal$, late).toBe('     ---------b|   ', kinds);
    expectObservable(signal$.pipe(repeat(2))).toBe(' ---b---b|', kinds);
    expectObservable(failing$.pipe(silence({ firstMs, betweenMs: 2 }), retry(1))).toBe('---b---b#', kinds);
    expectSubscriptions(source$.subscriptions).toBe(['^---!', '^---!', '----^---!', '------^---!']);
  }));

  test('takes its time from the scheduler it is given', () => {
    const seen = observe((scheduler) => asTheyGo([['a', 10]], scheduler).pipe((a$) => concat(a$, NEVER), silence({ firstMs: 20, betweenMs: 20, scheduler })));
    expect(seen).toEqual([{ atMs: 30, next: 'between' }]);
  });

  test('a source that throws has failed, not fallen silent', marbles(({ expectObservable }) => {
    const failing$ = asTheyGo([['a', 1]]).pipe(map(() => { throw new TypeError('it broke'); }));
    expectObservable(failing$.pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('-#', undefined, new TypeError('it broke'));
  }));
});

describe('T4: a value at the very instant of the limit wins', () => {
  test('over the wait for the first value', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 3], ['b', 1]]).pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('----|');
  }));

  test('over the wait between values, each scheduled by the one before it', marbles(({ expectObservable }) => {
    expectObservable(ticking(5, 4).pipe(silence({ firstMs: 5, betweenMs: 5 }))).toBe('20ms |');
  }));

  test('also after values that came too fast to restart the timer', marbles(({ expectObservable }) => {
    const fast$ = asTheyGo([['a', 0], ['b', 1], ['c', 1], ['d', 64], ['e', 64]]);
    expectObservable(fast$.pipe(silence({ firstMs: 64, betweenMs: 64 }))).toBe('130ms |');
  }));

  test('and so does a completion or an error', marbles(({ expectObservable }) => {
    const done$ = asTheyGo([['a', 1], ['b', 3]]).pipe(take(2));
    const failed$ = timer(3).pipe(map(() => { throw new Error('it broke'); }));
    expectObservable(done$.pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('----|');
    expectObservable(failed$.pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('---#', undefined, new Error('it broke'));
  }));

  test('while one that comes a millisecond later is too late', marbles(({ expectObservable }) => {
    expectObservable(asTheyGo([['a', 1], ['b', 4], ['c', 1]]).pipe(silence({ firstMs: 3, betweenMs: 3 }))).toBe('----b-|', kinds);
  }));
});

/** H1 as it stands in the rules, with T4's turn, and ending with its source. */
function plainSilence({ firstMs, betweenMs, scheduler }: { firstMs: number | null; betweenMs: number | null; scheduler: SchedulerLike }): OperatorFunction<unknown, SilenceKind> {
  const after = (ms: number | null, kind: SilenceKind): Observable<SilenceKind> =>
    ms === null ? NEVER : timer(ms, scheduler).pipe(switchMap(() => timer(0, scheduler)), map(() => kind));
  return (value$) =>
    value$.pipe(
      map(() => after(betweenMs, 'between')),
      startWith(after(firstMs, 'first')),
      endWith(EMPTY),
      switchMap((wait$) => wait$),
    );
}

describe('H1, O4: cannot be told from its plain definition', () => {
  const limits = fc.record({
    firstMs: fc.constantFrom<(number | null)[]>(null, 1, 7, 50),
    betweenMs: fc.constantFrom<(number | null)[]>(null, 1, 3, 31, 32, 33, 64, 100, 640, 64.5),
  });
  const cases = limits.chain(({ firstMs, betweenMs }) => {
    const known = [firstMs, betweenMs].flatMap((ms) => (ms === null ? [] : [Math.floor(ms)]));
    return fc.record({ firstMs: fc.constant(firstMs), betweenMs: fc.constant(betweenMs), timeline: timelines(known.length === 0 ? [10] : known) });
  });

  test.each<Planning>(['as they go', 'all in advance'])('over random timelines, their values scheduled %s', (planning) => {
    fc.assert(
      fc.property(cases, ({ firstMs, betweenMs, timeline }) => {
        const run = (signal: (scheduler: SchedulerLike) => OperatorFunction<unknown, SilenceKind>): unknown =>
          observe((scheduler) => play(timeline, planning, scheduler).pipe(signal(scheduler)));
        const actual = run((scheduler) => silence({ firstMs, betweenMs, scheduler }));
        expect(actual).toEqual(run((scheduler) => plainSilence({ firstMs, betweenMs, scheduler })));
      }),
      { numRuns: 500 },
    );
  });

  test('but has one timer, however many values come', () => {
    const timers = (make: (scheduler: SchedulerLike) => OperatorFunction<unknown, SilenceKind>): number => {
      let scheduled = 0;
      observe((scheduler) => {
        const counting: SchedulerLike = {
          now: () => scheduler.now(),
          schedule: (work, delay, state) => {
            scheduled += 1;
            return scheduler.schedule(work as Parameters<SchedulerLike['schedule']>[0], delay, state);
          },
        };
        return play({ gapsMs: Array.from({ length: 3200 }, () => 1), end: { type: 'complete', afterMs: 0 } }, 'as they go', scheduler).pipe(make(counting));
      });
      return scheduled;
    };
    expect(timers((scheduler) => plainSilence({ firstMs: null, betweenMs: 3200, scheduler }))).toBe(3200);
    expect(timers((scheduler) => silence({ firstMs: null, betweenMs: 3200, scheduler }))).toBe(1);
  });
});
