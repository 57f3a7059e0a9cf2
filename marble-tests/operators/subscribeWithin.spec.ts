import { describe, expect, test } from '@jest/globals';
import { defer } from 'rxjs';
import { subscribeWithin } from '../../lib/operators/subscribeWithin.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

describe('subscribeWithin', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable }) => {
    const { source = '', result = '' } = diagramOf('subscribeWithin');
    expectObservable(cold(source).pipe(subscribeWithin((subscribe) => subscribe()))).toBe(result);
    expect(source.trim()).toBe('-a-b-|');
  }));

  test('subscribes in the same frame and passes everything on', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('-a-b-#');
    const sourceSubs = '  ^----!';
    const expected = '    -a-b-#';

    expectObservable(source$.pipe(subscribeWithin((subscribe) => subscribe()))).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
  }));

  test('unsubscribes from its source', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('-a-b-');
    const subs = '        ^--!';
    const expected = '    -a---';

    expectObservable(source$.pipe(subscribeWithin((subscribe) => subscribe())), subs).toBe(expected);
    expectSubscriptions(source$.subscriptions).toBe(subs);
  }));

  test('only the subscription runs inside', marbles(({ cold, flush }) => {
    let inside = false;
    const told: [string, boolean][] = [];
    const within = (subscribe: () => void): void => {
      inside = true;
      subscribe();
      inside = false;
    };
    const source$ = defer(() => {
      told.push(['subscribed', inside]);
      return cold('-(a|)');
    });
    source$.pipe(subscribeWithin(within)).subscribe(() => told.push(['value', inside]));
    flush();
    expect(told).toEqual([['subscribed', true], ['value', false]]);
  }));
});
