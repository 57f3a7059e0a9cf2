import { describe, expect, test } from '@jest/globals';
import { EMPTY, finalize, of, repeat, retry, takeLast, throwError } from 'rxjs';
import { releaseFirst } from '../../lib/operators/releaseFirst.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

describe('releaseFirst', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      source: '   -a-b-|',
      result: '   -----(b|)',
    };
    expect(diagramOf('releaseFirst')).toEqual(rows);

    const source$ = cold(rows.source);
    expectObservable(source$.pipe(releaseFirst())).toBe(rows.result);
    expectSubscriptions(source$.subscriptions).toBe('^----!');
  }));

  test('never, empty, one, failing', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('  ----   ').pipe(releaseFirst())).toBe('  ----   ');
    expectObservable(cold('  --|    ').pipe(releaseFirst())).toBe('  --|    ');
    expectObservable(cold('  -a-|   ').pipe(releaseFirst())).toBe('  ---(a|)');
    expectObservable(cold('  -a-#   ').pipe(releaseFirst())).toBe('  ---#   ');
  }));

  test('unsubscribing tears the source down; nothing is emitted afterwards', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a---b|');
    const unsub = '         ---!   ';
    const sourceSubs = '    ^--!   ';
    const expected = '      -------';

    expectObservable(source$.pipe(releaseFirst()), unsub).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('every subscription keeps its own value', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('   -a-|        ');
    const failing$ = cold('  -a-#        ');

    expectObservable(source$.pipe(releaseFirst(), repeat(2))).toBe(' ---a--(a|)');
    expectObservable(failing$.pipe(releaseFirst(), retry(1))).toBe(' ------#   ');
    expectSubscriptions(source$.subscriptions).toBe(['^--!', '---^--!']);
  }));

  test.each([
    ['from a synchronous source', of('a', 'b'), ['released', 'next b', 'complete']],
    ['from an empty one', EMPTY, ['released', 'complete']],
    ['from a failing one', throwError(() => new Error('late')), ['released', 'error']],
  ])('X2: the source is torn down before anything is passed on, %s', (_, source$, expected) => {
    const log: string[] = [];
    source$.pipe(finalize(() => log.push('released')), releaseFirst()).subscribe({ next: (value) => log.push(`next ${value}`), complete: () => log.push('complete'), error: () => log.push('error') });
    expect(log).toEqual(expected);
  });

  test('X2: also in time; takeLast alone would pass the value on first', () => {
    const log: string[] = [];
    const observer = { next: (value: string) => log.push(`next ${value}`), complete: () => log.push('complete') };
    marbles(({ cold }) => {
      cold('-a|').pipe(finalize(() => log.push('released')), releaseFirst()).subscribe(observer);
      cold('---b|').pipe(finalize(() => log.push('released')), takeLast(1)).subscribe(observer);
    })();
    expect(log).toEqual(['released', 'next a', 'complete', 'next b', 'complete', 'released']);
  });
});
