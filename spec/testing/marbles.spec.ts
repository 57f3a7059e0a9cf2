import { describe, expect, test } from '@jest/globals';
import { NEVER, animationFrames, expand, ignoreElements, interval, map, of, take, timer } from 'rxjs';
import { MarbleMismatch, like, marbles } from '../../lib/testing/index.js';

const request = { messages: [{ role: 'user', content: 'hi' }] };

describe('marbles', () => {
  test('what the body throws is thrown as it is', () => {
    const thrown = new Error('mine');
    expect(marbles(({ expectObservable }) => {
      expectObservable(of(1)).toBe('-');
      throw thrown;
    })).toThrow(thrown);
  });

  test('every check is made after one has failed, and the message names those that failed too', () => {
    const made: string[] = [];
    const run = marbles(({ testGateway, expectObservable, expectCalls, expectAtRest, afterwards }) => {
      const gateway = testGateway({ sources: { only: '-a|' } });
      expectObservable(gateway.chat$(request)).toBe('---(r|)', { r: like({ content: 'a' }) });
      expectObservable(timer(2).pipe(map(() => 'x'))).toBe('-(x|)');
      expectCalls(gateway, []);
      expectAtRest(gateway);
      afterwards(() => void made.push('afterwards'));
    });
    expect(run).toThrow(MarbleMismatch);
    expect(run).toThrow(/^From 3 ms on, everything came 1 ms early\.[^]*\n\n2 more checks failed:\n {2}- From 1 ms on, everything came 1 ms late\.\n {2}- No call was expected, but there is 1/);
    expect(made).toEqual(['afterwards', 'afterwards']);
  });

  test('an error points at the line where the expectation was written, not into the kit', () => {
    const run = marbles(({ expectObservable }) => {
      expectObservable(of(1)).toBe('-');
    });
    expect(stackOf(run)).toMatch(/^MarbleMismatch: At 0 ms 1 came, but nothing was expected\.[^]*?\n\s+at [^\n]*marbles\.spec\.ts/);
    const calls = marbles(({ testGateway, expectCalls }) => {
      expectCalls(testGateway({ sources: { a: '-a|' } }), [{}]);
    });
    expect(stackOf(calls)).toMatch(/^GatewayAssertionError: 1 call was expected[^]*?\n\s+at [^\n]*marbles\.spec\.ts/);
  });

  test('each of several expectations has its own line and letters, in whichever order they are completed', () => {
    const run = marbles(({ expectObservable }) => {
      const first = expectObservable(of('v'));
      expectObservable(of('v')).toBe('(a|)', { a: 'v' });
      function written(): void {
        first.toBe('(b|)', { b: 'w' });
      }
      written();
    });
    expect(stackOf(run)).toMatch(/\n\s+at written /);
    expect(run).toThrow('b = "w"');
    const toEqual = marbles(({ expectObservable }) => {
      expectObservable(of('v')).toBe('(a|)', { a: 'v' });
      function written(): void {
        expectObservable(of('v')).toEqual(of('w'));
      }
      written();
    });
    expect(stackOf(toEqual)).toMatch(/\n\s+at written /);
  });

  test('what is wrong with a check itself points at its line too', () => {
    const run = marbles(({ testGateway, expectSockets }) => {
      const gateway = testGateway({ sources: { a: '-a|' } });
      function written(): void {
        expectSockets(gateway, { b: '^' } as never);
      }
      written();
    });
    expect(stackOf(run)).toMatch(/^Error: There is no scripted source "b"[^]*?\n\s+at written /);
  });

  test.each([
    ['-(a 5s b|)', 'cannot be read: no time passes inside a group.\n  -(a 5s b|)\n      ^'],
    ['-(ab|', 'the group is not closed by ")"'],
    ['-a)b', 'no group is open that ")" could close'],
    ['-a|-b', '"b" stands after the end, "|", where nothing can come.\n  -a|-b\n      ^'],
    ['-#|', '"|" stands after the end, "#"'],
  ])('a diagram that cannot be read is refused, with a pointer: %s', (diagram, message) => {
    expect(marbles(({ cold, expectObservable }) => expectObservable(cold('-(ab|)')).toBe(diagram))).toThrow(message);
    expect(marbles(({ cold }) => void cold(diagram))).toThrow(message);
    expect(marbles(({ hot }) => void hot(diagram))).toThrow(message);
  });

  test('so is a subscription diagram', () => {
    expect(marbles(({ cold, expectSubscriptions }) => expectSubscriptions(cold('-').subscriptions).toBe('^--a'))).toThrow('"a" is no sign of a subscription diagram');
    expect(marbles(({ cold, expectObservable }) => expectObservable(cold('-'), '^-(!').toBe('-'))).toThrow('the group is not closed');
  });

  test('a wait may be the last thing of a diagram', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const source$ = cold('-a 20s', { a: 'a' });
    expectObservable(source$, '^ 5s -!').toBe('-a 4s');
    expectSubscriptions(source$.subscriptions).toBe('^ 5s -!');
  }));

  test('an error in the place of values is refused', () => {
    expect(marbles(({ expectObservable }) => expectObservable(of(1)).toBe('-#', new Error('x')))).toThrow("The error is the third argument: toBe('-#', undefined, error).");
    expect(marbles(({ expectObservable }) => expectObservable(of(1)).toBe('-#', like({ code: 'x' })))).toThrow('The error is the third argument');
  });

  test('an expectation without toBe is an error, as is one that comes when time has run out', () => {
    expect(marbles(({ expectObservable }) => void expectObservable(NEVER))).toThrow('expectObservable(…) was called without toBe(…)');
    expect(marbles(({ expectSubscriptions, cold }) => void expectSubscriptions(cold('-').subscriptions))).toThrow('expectSubscriptions(…) was called without toBe(…)');
    expect(marbles(({ expectObservable, afterwards }) => afterwards(() => expectObservable(of(1)).toBe('-')))).toThrow('virtual time had run out');
  });

  test('a letter that has no value is an error, not undefined', () => {
    expect(marbles(({ expectObservable }) => expectObservable(of(undefined)).toBe('(b|)', { a: 1 }))).toThrow('toBe(\'(b|)\', …) does not say what "b" stands for: it has values for a.');
  });

  test('the letters of a diagram are kept in the message', () => {
    const run = marbles(({ expectObservable }) => expectObservable(of('Hello', 'there')).toBe('(hw|)', { h: 'Hello', w: 'world' }));
    expect(run).toThrow('expected  (hw|)\nactual    (hx|)');
    expect(run).toThrow('h = "Hello"\nw = "world"\nx = "there" (not expected)');
  });

  test('the body may run time itself; what is expected before and after is checked', () => {
    const failing = (first: string, second: string) => marbles(({ flush, expectObservable, testScheduler }) => {
      expectObservable(timer(2).pipe(map(() => 'x'))).toBe(first);
      flush();
      expect(testScheduler.now()).toBe(2);
      expectObservable(timer(1).pipe(map(() => 'x'))).toBe(second);
    });
    expect(failing('--(x|)', '---(x|)')).not.toThrow();
    expect(failing('-(x|)', '---(x|)')).toThrow('everything came 1 ms late');
    expect(failing('--(x|)', '-(x|)')).toThrow('everything came 2 ms late');
  });

  test.each([['async', async (): Promise<void> => Promise.reject(new Error('later'))], ['thenable', (): unknown => ({ then: () => undefined })]])('a body that returns a promise (%s) is refused, whatever becomes of it', (_what, body) => {
    expect(marbles(body)).toThrow('The body of marbles(…) returned a promise, which virtual time cannot cover.');
  });

  test('a promise from afterwards is refused, at its line', () => {
    const run = marbles(({ afterwards }) => {
      function written(): void {
        const rejects: () => unknown = async () => Promise.reject(new Error('later'));
        afterwards(rejects);
      }
      written();
    });
    expect(run).toThrow('What afterwards(…) was given returned a promise, which virtual time cannot cover.');
    expect(stackOf(run)).toMatch(/\n\s+at written /);
  });

  test('whatever a check throws fails the test, and what else failed is named', () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the point
    expect(marbles(({ afterwards }) => afterwards(() => { throw undefined; }))).toThrow('A check threw undefined, which is no error.');
    const run = marbles(({ afterwards, testGateway, expectCalls }) => {
      afterwards(() => expect(1).toBe(2));
      expectCalls(testGateway({ sources: { a: '-a|' } }), [{}]);
    });
    expect(run).toThrow(/Expected: .*2.*\n[^]*\n\n1 more check failed:\n {2}- 1 call was expected, but there are none/);
  });

  test('hot, animate and time are as RxJS has them, and time understands waits', marbles(({ hot, time, animate, expectObservable }) => {
    expect(time('---|')).toBe(3);
    expect(time('  -  --| ')).toBe(3);
    expect(time(' 20s --|')).toBe(20_002);
    expect(() => time('---')).toThrow('time(\'---\') has no "|"');
    animate('            ---x---x');
    expectObservable(animationFrames().pipe(take(2), map(({ timestamp }) => timestamp))).toBe('---a---(b|)', { a: 3, b: 7 });
    expectObservable(hot('a-^-b-|')).toBe('--b-|');
  }));

  test('an endless test ends after 200,000 timers', () => {
    let fired = 0;
    expect(marbles(() => void interval(1).subscribe(() => (fired += 1)))).toThrow('after 200000 timers it is');
    expect(fired).toBeLessThanOrEqual(200_000);
  });

  test('virtual time that never ends is an error, not a runner that hangs', () => {
    expect(marbles(({ expectObservable }) => expectObservable(interval(10)).toBe('-'), { maxActions: 1000 })).toThrow('Virtual time does not end: after 1000 timers it is 10 s, and there are more.');
    expect(marbles(({ expectObservable }) => expectObservable(of(1).pipe(expand(() => timer(0)), ignoreElements())).toBe('-'), { maxActions: 1000 })).toThrow('after 1000 timers it is 0 ms');
  });

  test('what is thrown in virtual time ends the test', () => {
    expect(marbles(({ testScheduler }) => void testScheduler.schedule(() => { throw new Error('in time'); }, 5))).toThrow('in time');
    expect(marbles(() => void timer(5).subscribe(() => { throw new Error('in a subscriber'); }))).toThrow('in a subscriber');
  });
});

function stackOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    return (error as Error).stack ?? '';
  }
  return '';
}
