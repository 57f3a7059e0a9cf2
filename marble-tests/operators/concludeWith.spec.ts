import { describe, expect, test } from '@jest/globals';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { NEVER, concat, defer, finalize, of, repeat, retry, take, takeUntil, throwError } from 'rxjs';
import { concludeWith } from '../../lib/operators/concludeWith.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

const isCapital = (value: string): value is string => value === value.toUpperCase();
const lastOf = (keeps: (value: string) => value is string): MonoTypeOperatorFunction<string> => concludeWith<string, string, string>({ keeps, conclude: (_, kept) => kept });
const last = lastOf(isCapital);

describe('concludeWith', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
    const rows = {
      source: '    -a-K-b-|',
      conclude: '         *',
      result: '    -a---b-(R|)',
    };
    expect(diagramOf('concludeWith')).toEqual(rows);

    const source$ = cold(rows.source);
    const told: unknown[] = [];
    const concluded = concludeWith<string, string, string>({ keeps: isCapital, conclude: (...how) => (told.push(how), 'R') });
    expectObservable(source$.pipe(concluded)).toBe(rows.result);
    expectSubscriptions(source$.subscriptions).toBe('^------!');
    flush();
    expect(told).toEqual([[{ type: 'completed' }, 'K']]);
  }));

  test('kept and concluded with itself, it comes last', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-a-K-b-L-c-|').pipe(last)).toBe('-a---b---c-(L|)');
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
    const broken = (value: string): value is string => {
      if (value === 'b') throw brokenError;
      return false;
    };
    expectObservable(source$.pipe(lastOf(broken))).toBe('-a-#', undefined, brokenError);
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

test('a source that ends while it is subscribed has ended for whoever subscribes in steps', () => {
  let asked = false;
  const second$ = defer(() => {
    asked = true;
    return NEVER;
  });
  const failed$ = throwError(() => new Error('too late'));
  const told: unknown[] = [];
  // `takeUntil` subscribes its notifier first, and then its source, unless that has ended it.
  const inSteps$ = second$.pipe(takeUntil(failed$));
  inSteps$.pipe(last).subscribe({ error: (error: unknown) => told.push(error) });
  expect(told.map(String)).toEqual(['Error: too late']);
  expect(asked).toBe(false);
});
