import { describe, expect, test } from '@jest/globals';
import { EMPTY, NEVER, Subject, catchError, concat, finalize, merge, of, repeat, retry, take, tap, throwError, timer } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import { finalizeWith } from '../../lib/operators/finalizeWith.js';
import type { Ending } from '../../lib/operators/finalizeWith.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

const nothing = (): void => undefined;
const brokenError = new TypeError('broken callback');
const broken = (): never => { throw brokenError; };

/** Writes down the order in which things happen. */
function ordered(): { log: string[]; source: <T>(source$: Observable<T>) => Observable<T>; onEnd: (ending: Ending) => void; observer: Observer<unknown> } {
  const log: string[] = [];
  return {
    log,
    source: finalize(() => log.push('torn down')),
    onEnd: ({ type }) => log.push(`told ${type}`),
    observer: { next: (value) => log.push(`next ${String(value)}`), error: (error) => log.push(`error ${String(error)}`), complete: () => log.push('complete') },
  };
}

describe('finalizeWith', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, scheduler, expectObservable, expectSubscriptions, flush }) => {
    const rows = {
      source: '   -a-b-|',
      onEnd: '         *',
      result: '   -a-b-|',
    };
    expect(diagramOf('finalizeWith')).toEqual(rows);

    const told: [number, Ending][] = [];
    const source$ = cold(rows.source);
    expectObservable(source$.pipe(finalizeWith((ending) => told.push([scheduler.now(), ending])))).toBe(rows.result);
    expectSubscriptions(source$.subscriptions).toBe('^----!');
    flush();
    const column = (label: 'source' | 'onEnd', char: string): number => label.length + rows[label].indexOf(char);
    expect(told).toEqual([[column('onEnd', '*') - column('source', '-'), { type: 'completed' }]]);
  }));

  test('is its source: never, empty, one, many, failing', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const never$ = cold('   ----   ');
    const subs = '          ^---   ';

    expectObservable(never$.pipe(finalizeWith(nothing))).toBe('               ----   ');
    expectObservable(cold('  --|    ').pipe(finalizeWith(nothing))).toBe('   --|    ');
    expectObservable(cold('  --(a|) ').pipe(finalizeWith(nothing))).toBe('   --(a|) ');
    expectObservable(cold('  -a-b-c|').pipe(finalizeWith(nothing))).toBe('   -a-b-c|');
    expectObservable(cold('  -a-b-# ').pipe(finalizeWith(nothing))).toBe('   -a-b-# ');
    expectSubscriptions(never$.subscriptions).toBe(subs);
  }));

  test('X2: torn down, then told, then completed', () => {
    const { log, source, onEnd, observer } = ordered();
    marbles(({ cold }) => void cold('-a-b|').pipe(source, finalizeWith(onEnd)).subscribe(observer))();
    expect(log).toEqual(['next a', 'next b', 'torn down', 'told completed', 'complete']);
  });

  test('X2: torn down, then told, then failed', () => {
    const { log, source, onEnd, observer } = ordered();
    marbles(({ cold }) => void cold('-a-#').pipe(source, finalizeWith(onEnd)).subscribe(observer))();
    expect(log).toEqual(['next a', 'torn down', 'told failed', 'error error']);
  });

  test('RxJS\'s own finalize would run after the end was passed on', () => {
    const { log, onEnd, observer } = ordered();
    marbles(({ cold }) => void cold('-a|').pipe(finalize(() => onEnd({ type: 'completed' }))).subscribe(observer))();
    expect(log).toEqual(['next a', 'complete', 'told completed']);
  });

  test('unsubscribed: torn down, then told, nothing else', () => {
    const { log, source, onEnd, observer } = ordered();
    marbles(({ cold }) => {
      const subscription = cold('-a-b|').pipe(source, finalizeWith(onEnd)).subscribe(observer);
      timer(2).subscribe(() => subscription.unsubscribe());
    })();
    expect(log).toEqual(['next a', 'torn down', 'told unsubscribed']);
  });

  test('unsubscribing stops the source in the same turn', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('  -a-b-|');
    const unsub = '         --!   ';
    const sourceSubs = '    ^-!   ';
    const expected = '      -a-   ';

    expectObservable(source$.pipe(finalizeWith(nothing)), unsub).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('failed says with what', () => {
    const told: Ending[] = [];
    throwError(() => brokenError).pipe(finalizeWith((ending) => told.push(ending)), catchError(() => EMPTY)).subscribe();
    expect(told).toEqual([{ type: 'failed', error: brokenError }]);
    expect((told[0] as { error: unknown }).error).toBe(brokenError);
  });

  test('a failure that is undefined is still a failure', () => {
    const { log, onEnd, observer } = ordered();
    const source$ = new Subject<string>();
    source$.pipe(finalizeWith(onEnd)).subscribe(observer);
    // eslint-disable-next-line rxjs-x/throw-error -- anything can be thrown
    source$.error(undefined);
    expect(log).toEqual(['told failed', 'error undefined']);
  });

  test.each<[string, Observable<string>, string[]]>([
    ['completing', of('a', 'b'), ['next a', 'next b', 'torn down', 'told completed', 'complete']],
    ['empty', EMPTY, ['torn down', 'told completed', 'complete']],
    ['failing', concat(of('a'), throwError(() => brokenError)), ['next a', 'torn down', 'told failed', 'error TypeError: broken callback']],
  ])('the same order for a synchronous source, %s', (_, source$, expected) => {
    const { log, source, onEnd, observer } = ordered();
    source$.pipe(source, finalizeWith(onEnd)).subscribe(observer);
    expect(log).toEqual(expected);
  });

  test('told once, as unsubscribed, where what stands below has had enough', () => {
    const { log, source, onEnd, observer } = ordered();
    of('a', 'b').pipe(source, finalizeWith(onEnd), take(1)).subscribe(observer);
    concat(of('c'), NEVER).pipe(source, finalizeWith(onEnd), take(1)).subscribe(observer);
    const once = ['torn down', 'told unsubscribed'];
    expect(log).toEqual(['next a', 'complete', ...once, 'next c', 'complete', ...once]);
  });

  test('told once, as completed, where the subscriber leaves within the callback', () => {
    const told: string[] = [];
    const source$ = new Subject<string>();
    const leave = (): void => subscription.unsubscribe();
    const subscription = source$.pipe(finalizeWith(({ type }) => { told.push(type); leave(); })).subscribe({ complete: () => told.push('complete') });
    source$.complete();
    leave();
    expect(told).toEqual(['completed']);
  });

  test('G3: told once for each subscription, retries and repeats included', () => {
    const told: Ending['type'][] = [];
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('   -a-|          ');
      const failing$ = cold('  -a-#          ');
      const onEnd = finalizeWith<string>(({ type }) => told.push(type));

      expectObservable(source$.pipe(onEnd, repeat(2))).toBe('  -a--a-|');
      expectObservable(failing$.pipe(onEnd, retry(1))).toBe('  -a--a-#');
      expectObservable(source$.pipe(onEnd), '-------^').toBe(' --------a-|');
      expectSubscriptions(source$.subscriptions).toBe(['^--!', '---^--!', '-------^--!']);
    })();
    expect(told.sort()).toEqual(['completed', 'completed', 'completed', 'failed', 'failed']);
  });

  test('a retry starts after the callback of the try before', () => {
    const { log, onEnd, observer } = ordered();
    marbles(({ cold }) => {
      const source$ = merge(cold('--#'), of('start').pipe(tap(() => log.push('subscribed'))));
      source$.pipe(finalizeWith(onEnd), retry(1)).subscribe(observer);
    })();
    expect(log).toEqual(['subscribed', 'next start', 'told failed', 'subscribed', 'next start', 'told failed', 'error error']);
  });

  test('X2: what it gives back is free in the subscriber\'s own handler', () => {
    let inUse = 0;
    const seen: number[] = [];
    const held$ = (end$: Observable<never>): Observable<never> => end$.pipe(tap({ subscribe: () => { inUse += 1; } }), finalizeWith(() => { inUse -= 1; }));
    marbles(({ cold }) => {
      held$(cold<never>('-|')).subscribe({ complete: () => seen.push(inUse) });
      held$(cold<never>('--#')).subscribe({ error: () => seen.push(inUse) });
    })();
    // The other one still holds its own.
    expect(seen).toEqual([1, 0]);
  });
});

describe('finalizeWith, when the callback throws', () => {
  test('after a completion or a failure: the result fails with what it threw', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const done$ = cold('    -a-|');
    const failed$ = cold('  -a-#');
    const sourceSubs = '    ^--!';
    const expected = '      -a-#';

    expectObservable(done$.pipe(finalizeWith(broken))).toBe(expected, undefined, brokenError);
    expectObservable(failed$.pipe(finalizeWith(broken))).toBe(expected, undefined, brokenError);
    expectSubscriptions(done$.subscriptions).toBe(sourceSubs);
    expectSubscriptions(failed$.subscriptions).toBe(sourceSubs);
  }));

  test('also for a synchronous source', () => {
    const { log, observer } = ordered();
    of('a').pipe(finalizeWith(broken)).subscribe(observer);
    expect(log).toEqual(['next a', `error ${String(brokenError)}`]);
  });

  test('after an unsubscription: unsubscribe() throws, and the source is torn down all the same', () => {
    let closed = false;
    const subscription = NEVER.pipe(finalize(() => { closed = true; }), finalizeWith(broken)).subscribe();
    expect(() => subscription.unsubscribe()).toThrow('broken callback');
    expect(closed).toBe(true);
  });

  test('after an unsubscription from below: the error is dropped, the result stands', () => {
    const { log, observer } = ordered();
    of('a', 'b').pipe(finalizeWith(broken), take(1)).subscribe(observer);
    expect(log).toEqual(['next a', 'complete']);
  });
});
