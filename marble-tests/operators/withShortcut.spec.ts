import { describe, expect, test } from '@jest/globals';
import { NEVER, take, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { withShortcut } from '../../lib/operators/withShortcut.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

describe('withShortcut', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      made: '     -a-----b-|',
      shortcut: ' ---1-2---',
      result: '   -a-1-2-b-|',
    };
    expect(diagramOf('withShortcut')).toEqual(rows);

    const made$ = cold(rows.made);
    const shortcut$ = cold(rows.shortcut);
    const result$ = withShortcut<string>((shortcut) => {
      shortcut$.subscribe(shortcut);
      return made$;
    });
    expectObservable(result$).toBe(rows.result);
    expectSubscriptions(made$.subscriptions).toBe('^--------!');
  }));

  test('an error passes through; what is passed on after the end goes nowhere', marbles(({ cold, expectObservable }) => {
    const late$ = cold('-1---2');
    const failing$ = withShortcut<string>((shortcut) => {
      late$.subscribe(shortcut);
      return cold('---#');
    });
    expectObservable(failing$).toBe('-1-#');
  }));

  test('who has had enough with a value of the shortcut unsubscribes what was made', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const made$ = cold('--a--');
    const result$ = withShortcut<string>((shortcut) => made$.pipe(tap(() => shortcut('1'))));
    expectObservable(result$.pipe(take(1))).toBe('--(1|)');
    expectSubscriptions(made$.subscriptions).toBe('^-!');
  }));

  test('each subscription has a shortcut of its own', marbles(({ expectObservable }) => {
    let made = 0;
    const result$: Observable<number> = withShortcut((shortcut) => {
      made += 1;
      shortcut(made);
      return NEVER;
    });
    expectObservable(result$.pipe(take(1))).toBe('(a|)', { a: 1 });
    expectObservable(result$.pipe(take(1))).toBe('(a|)', { a: 2 });
  }));
});
