import { describe, expect, test } from '@jest/globals';
import { NEVER, concat, finalize, of, repeat, retry, take } from 'rxjs';
import { keepForLast } from '../../lib/operators/keepForLast.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

const isCapital = (value: string): boolean => value === value.toUpperCase();
const last = keepForLast(isCapital);

describe('keepForLast', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      source: '  -a-K-b-L-c-|',
      result: '  -a---b---c-(L|)',
    };
    expect(diagramOf('keepForLast')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(last)).toBe(rows.result);
    expectSubscriptions(source$.subscriptions).toBe('^----------!');
  }));

  test('never, empty, one, many', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const never$ = cold('  -a-K--  ');
    const subs = '         ^-----  ';

    expectObservable(never$.pipe(last)).toBe('            -a----  ');
    expectObservable(cold('---|    ').pipe(last)).toBe('  ---|    ');
    expectObservable(cold('--(a|)  ').pipe(last)).toBe('  --(a|)  ');
    expectObservable(cold('--(K|)  ').pipe(last)).toBe('  --(K|)  ');
    expectObservable(cold('-a-b-|  ').pipe(last)).toBe('  -a-b-|  ');
    expectObservable(cold('-K-L-|  ').pipe(last)).toBe('  -----(L|)');
    expectSubscriptions(never$.subscriptions).toBe(subs);
  }));

  test('an error passes through, without what was kept', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold(' -a-K-#');
    expectObservable(source$.pipe(last)).toBe('-a---#');
    expectSubscriptions(source$.subscriptions).toBe('^----!');
  }));

  test('unsubscribing unsubscribes, and what was kept is lost', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold(' -a-K-b-|');
    const unsub = '        ----!   ';
    expectObservable(source$.pipe(last), unsub).toBe('-a------');
    expectObservable(source$.pipe(last, take(1))).toBe('-(a|)   ');
    expectSubscriptions(source$.subscriptions).toBe([' ^---!   ', '^!      ']);
  }));

  test('a predicate that throws: the result fails and the source stops', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const brokenError = new TypeError('broken callback');
    const source$ = cold(' -a-b-|');
    const broken = (value: string): boolean => {
      if (value === 'b') throw brokenError;
      return false;
    };
    expectObservable(source$.pipe(keepForLast(broken))).toBe('-a-#', undefined, brokenError);
    expectSubscriptions(source$.subscriptions).toBe('^--!');
  }));

  test.each([
    ['of the scheduler', false],
    ['of one turn', true],
  ])('X2: torn down before what was kept is emitted; a source %s', (_, isSync) => {
    const log: string[] = [];
    marbles(({ cold }) => {
      const source$ = isSync ? of('a', 'K') : cold('a-K-|');
      source$.pipe(finalize(() => log.push('torn down')), last).subscribe({ next: (value) => log.push(value), complete: () => log.push('complete') });
    })();
    expect(log).toEqual(['a', 'torn down', 'K', 'complete']);
  });

  test('each subscription keeps its own', marbles(({ cold, expectObservable }) => {
    const source$ = cold('  -K|        ');
    const failing$ = cold(' -K#        ');
    const empty$ = cold('   --|        ');
    const turns = [source$, empty$];
    expectObservable(source$.pipe(last, repeat(2))).toBe('--K-(K|)');
    expectObservable(failing$.pipe(last, retry(1))).toBe('----#   ');
    expectObservable(concat(...turns.map((turn$) => turn$.pipe(last)))).toBe('--K-|   ');
    expectObservable(concat(source$, NEVER).pipe(last)).toBe('        --------');
  }));
});
