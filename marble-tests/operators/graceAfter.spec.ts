import { describe, expect, test } from '@jest/globals';
import { NEVER, concat, map, of, repeat, retry, throwError } from 'rxjs';
import { graceAfter } from '../../lib/operators/graceAfter.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo } from './asTheyGo.js';
import { diagramOf } from './diagramOf.js';
import { observe } from './observe.js';

const isF = (value: string): boolean => value === 'F';
const isX = (value: string): boolean => value === 'x';
const brokenError = new TypeError('broken callback');

describe('graceAfter', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const rows = {
      source: '    --a--F--u-----------',
      graceMs: '        -------|',
      result: '    --a--F--u---|',
    };
    expect(diagramOf('graceAfter')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(graceAfter({ when: isF, graceMs: time(rows.graceMs) }))).toBe(rows.result);
    expectSubscriptions(source$.subscriptions).toBe('^-----------!');
  }));

  test('H15: a source that ends within its grace ends by itself', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    --F-u-|   ');
    const sourceSubs = '      ^-----!   ';
    const graceMs = time('      -----|  ');
    const expected = '        --F-u-|   ';

    expectObservable(source$.pipe(graceAfter({ when: isF, graceMs }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('H15: a failure after the value that matters is a completion', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  --F-u-#   ');
    const sourceSubs = '    ^-----!   ';
    const expected = '      --F-u-|   ';

    expectObservable(source$.pipe(graceAfter({ when: isF, graceMs: 8 }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('before that value errors pass, and nothing is limited', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-a---------#').pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('-a---------#');
  }));

  test('counted from the first such value, however many come', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    --F--F--F--u---');
    const graceMs = time('      ----|        ');
    const sourceSubs = '      ^-----!        ';
    const expected = '        --F--F|        ';

    expectObservable(source$.pipe(graceAfter({ when: isF, graceMs }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('H15: a value that `unless` selects shows that there is more to come: the grace is off until the next one', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const source$ = cold('    x--F--x--------u-F------');
    const graceMs = time('       ----|         ----|  ');
    const sourceSubs = '      ^--------------------!  ';
    const expected = '        x--F--x--------u-F---|  ';

    expectObservable(source$.pipe(graceAfter({ when: isF, unless: isX, graceMs }))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('H15: after such a value a failure counts again', marbles(({ cold, expectObservable }) => {
    const grace = { when: isF, unless: isX, graceMs: 5 };
    expectObservable(cold('  x-F-u-#').pipe(graceAfter(grace))).toBe('  x-F-u-|');
    expectObservable(cold('  --F-x-#').pipe(graceAfter(grace))).toBe('  --F-x-#');
    expectObservable(cold('  F-(xF)#').pipe(graceAfter(grace))).toBe('  F-(xF)|');
  }));

  test('T4: a value that calls it off at the very instant the grace ends comes first', marbles(({ expectObservable }) => {
    const going$ = concat(asTheyGo([['F', 2], ['x', 3]]), NEVER);
    expectObservable(going$.pipe(graceAfter({ when: isF, unless: isX, graceMs: 3 }))).toBe('--F--x---');
  }));

  test('never, empty, one', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const never$ = cold('  -----  ');
    const subs = '         ^----  ';

    expectObservable(never$.pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('         -----  ');
    expectObservable(cold('  --|    ').pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('  --|    ');
    expectObservable(cold('  --(F|) ').pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('  --(F|) ');
    expectObservable(cold('  --F----').pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('  --F--| ');
    expectSubscriptions(never$.subscriptions).toBe(subs);
  }));

  test('unsubscribing stops the source and the timer', marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const source$ = cold('  --F------');
    const unsub = '         ---!     ';
    const sourceSubs = '    ^--!     ';
    const expected = '      --F------';

    expectObservable(source$.pipe(graceAfter({ when: isF, graceMs: 5, scheduler })), unsub).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));

  test('the end of the source stops the timer', marbles(({ cold, expectObservable, flush, scheduler }) => {
    expectObservable(cold('--F|').pipe(graceAfter({ when: isF, graceMs: 500, scheduler }))).toBe('--F|');
    flush();
    expect(scheduler.now()).toBe(3);
  }));

  test('`when` that throws fails the result and stops the source', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  --a--b');
    const sourceSubs = '    ^-!   ';
    const expected = '      --#   ';

    expectObservable(source$.pipe(graceAfter({ when: () => { throw brokenError; }, graceMs: 3 }))).toBe(expected, undefined, brokenError);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('`unless` that throws does so too, and is not taken for the source\'s failure', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  --F-u--');
    const sourceSubs = '    ^---!  ';
    const expected = '      --F-#  ';

    expectObservable(source$.pipe(graceAfter({ when: isF, unless: () => { throw brokenError; }, graceMs: 5 }))).toBe(expected, undefined, brokenError);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('what fails below is not taken for the source\'s failure', marbles(({ cold, expectObservable }) => {
    const below = map((value: string) => { if (value === 'u') throw brokenError; return value; });
    expectObservable(cold('--F-u-').pipe(graceAfter({ when: isF, graceMs: 5 }), below)).toBe('--F-#', undefined, brokenError);
  }));

  test('a synchronous source', marbles(({ expectObservable }) => {
    expectObservable(of('a', 'F', 'u').pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('(aFu|)');
    expectObservable(concat(of('F'), throwError(() => brokenError)).pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('(F|)');
    expectObservable(concat(of('F'), NEVER).pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('F--|');
  }));

  test('every subscription has a grace of its own', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('   --F------    ');
    const failing$ = cold('  --a--#       ');

    const graced$ = source$.pipe(graceAfter({ when: isF, graceMs: 3 }));
    expectObservable(graced$).toBe('           --F--|     ');
    expectObservable(graced$, '---^').toBe('   -----F--|  ');
    expectObservable(graced$.pipe(repeat(2))).toBe('--F----F--|');
    expectObservable(failing$.pipe(graceAfter({ when: isF, graceMs: 3 }), retry(1))).toBe('--a----a--#');
    expectSubscriptions(source$.subscriptions).toBe(['^----!', '^----!', '---^----!', '-----^----!']);
  }));

  test('takes its time from the scheduler it is given', () => {
    const seen = observe((scheduler) => concat(asTheyGo([['F', 10]], scheduler), NEVER).pipe(graceAfter({ when: isF, graceMs: 7, scheduler })));
    expect(seen).toEqual([{ atMs: 10, next: 'F' }, { atMs: 17, complete: true }]);
  });

  test('T4: a value or a failure at the very instant the grace ends comes first', marbles(({ expectObservable }) => {
    const failing$ = concat(asTheyGo([['F', 2], ['u', 3]]), throwError(() => brokenError));
    const going$ = concat(asTheyGo([['F', 2], ['u', 3], ['v', 3]]), NEVER);

    expectObservable(going$.pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe('   --F--(u|)');
    expectObservable(failing$.pipe(graceAfter({ when: isF, graceMs: 3 }))).toBe(' --F--(u|)');
    expectObservable(going$.pipe(graceAfter({ when: isF, graceMs: 2 }))).toBe('   --F-|    ');
  }));
});
