import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { of, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { RequestError, TransientError } from '../../lib/index.js';
import { MarbleMismatch, compareMarbles, like } from '../../lib/testing/index.js';

type Written = readonly [diagram: string, values?: Readonly<Record<string, unknown>>, error?: unknown];

const content = (text: string): object => ({ type: 'content', text });
const deltas = { a: content('Hel'), b: content('lo'), c: content('lo!') };
const failed = new TransientError('broke off');
const response = { content: 'x', source: 'fast', callId: '1', stats: { hedges: 0, attempts: 1 } };

/** The message for a stream that is `actual` where `expected` was written; `undefined`: it fits. */
function messageFor(actual: Written, expected: Written): string | undefined {
  return messageOf(() => new TestScheduler(compareMarbles).run(({ cold, expectObservable }) => expectObservable(cold(...actual)).toBe(...expected)));
}

function subscriptionsMessage(actual: readonly string[], expected: readonly string[]): string | undefined {
  const never = '-';
  return messageOf(() =>
    new TestScheduler(compareMarbles).run(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot(never);
      for (const diagram of actual) expectObservable(source, diagram);
      expectSubscriptions(source.subscriptions).toBe([...expected]);
    }),
  );
}

function messageOf(test: () => void): string | undefined {
  try {
    test();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(MarbleMismatch);
    expect(error).toMatchObject({ name: 'MarbleMismatch', code: 'marble_mismatch' });
    return `\n${(error as Error).message}\n`;
  }
}

describe('a wrong diagram is told by its first difference, drawn, and listed', () => {
  test('what did not come', () => {
    expect(messageFor(['-a 20s ---', deltas], ['-a 20s ---b|', deltas])).toBe(`
At 20.005 s content "lo" was expected, but nothing came.

time      0         20.005s
expected  -a 20s ---b|
actual    -a 20s -----
differs             ^^

a = content "Hel"
b = content "lo"

time      expected      actual
20.005 s  content "lo"  nothing
20.006 s  the end       nothing
`);
  });

  test('what came as another, and an end that came late; a wait is compressed in both rows', () => {
    expect(messageFor(['-a 20s ---c--|', deltas], ['-a 20s ---b|', deltas])).toBe(`
At 20.005 s content "lo" was expected, but content "lo!" came.

time      0         20.005s
expected  -a 20s ---b|
actual    -a 20s ---x--|
differs             ^^ ^

a = content "Hel"
b = content "lo"
x = content "lo!" (not expected)

time      expected      actual
20.005 s  content "lo"  content "lo!"
20.006 s  the end       came 2 ms late, at 20.008 s
`);
  });

  test('a stream that is late from some time on; each row drawn is a diagram by itself', () => {
    expect(messageFor(['- 20s ---(r|)'], ['- 20s --(r|)'])).toBe(`
From 20.003 s on, everything came 1 ms late.

time      0       20.003s
expected  - 20s --(r|)
actual    - 20s ---(r|)
differs           ^^^^^

time      expected  actual
20.003 s  "r"       came 1 ms late, at 20.004 s
20.003 s  the end   came 1 ms late, at 20.004 s
`);
  });

  test('what was not expected, and swapped values', () => {
    expect(messageFor(['-a-x|'], ['-a--|'])).toBe(`
At 3 ms "x" came, but nothing was expected.

time      0  3ms
expected  -a--|
actual    -a-x|
differs      ^

time  expected  actual
3 ms  nothing   "x"
`);
    expect(messageFor(['-b-a|'], ['-a-b|'])).toBe(`
At 1 ms "a" was expected; it came 2 ms late, at 3 ms.

time       1ms
expected  -a-b|
actual    -b-a|
differs    ^ ^

time  expected  actual
1 ms  "a"       "b" (expected at 3 ms); the expected came 2 ms late, at 3 ms
3 ms  "b"       "a" (expected at 1 ms); the expected came 2 ms early, at 1 ms
`);
  });

  test('of a value under like only the fields that were asked for', () => {
    const wanted = { r: like({ content: 'xy', stats: { hedges: 1 } }) };
    expect(messageFor(['- 20s ---(r|)', { r: response }], ['- 20s ---(r|)', wanted])).toBe(`
At 20.004 s the value is not as expected: content: expected "xy", got "x" (and 1 more).

time      0        20.004s
expected  - 20s ---(a|)
actual    - 20s ---(x|)
differs            ^^^^

a = like { content: "xy", stats: { hedges: 1 } }
x = response "x" from "fast" (not expected)

time      expected                                      actual
20.004 s  like { content: "xy", stats: { hedges: 1 } }  { content: "x", stats: { hedges: 0 } }
  content: expected "xy", got "x"
  stats.hedges: expected 1, got 0
`);
    expect(messageFor(['- 20s ----(r|)', { r: response }], ['- 20s ---(r|)', wanted])).toContain(
      'it came 1 ms late, at 20.005 s, and differs: content: expected "xy", got "x" (and 1 more).',
    );
  });

  test('an error instead of values, with its name, code and message; what would break a line is escaped', () => {
    expect(messageFor(['-a#', deltas, new TransientError('line\nbroke\u0007\u202e')], ['-a-|', deltas])).toBe(`
At 2 ms the error TransientError (transient) "line\\nbroke\\u0007\\u202e" came, but nothing was expected.

time      0 2ms
expected  -a-|
actual    -a#
differs     ^^

a = content "Hel"

time  expected  actual
2 ms  nothing   the error TransientError (transient) "line\\nbroke\\u0007\\u202e"
3 ms  the end   nothing
`);
  });

  test('long texts are cut to where they differ, and long streams to where they do', () => {
    const long = 'x'.repeat(200);
    const message = messageFor(['-a|', { a: { text: `${long}A${long}`, type: 'x', more: 1, fields: 2 } }], ['-a|', { a: { text: `${long}B${long}`, type: 'x', more: 1, fields: 2 } }]) ?? '';
    expect(message).toContain(`  text: expected "…${'x'.repeat(20)}B${'x'.repeat(37)}…", got "…${'x'.repeat(20)}A${'x'.repeat(37)}…" (from character 201 on)`);
    const many = messageFor(['a'.repeat(500)], [`${'a'.repeat(300)}${'b'.repeat(200)}`]) ?? '';
    expect(many.split('\n').every((line) => line.length <= 120)).toBe(true);
    expect(many).toContain('(268 earlier and 136 later times are left out)');
    expect(many).toContain('… and 190 more moments');
  });
});

describe('subscriptions that differ are told, and drawn', () => {
  test('one that was left open', () => {
    expect(subscriptionsMessage(['^ 20s ---!', '-^---'], ['^ 20s ---!', '-^ 20s !'])).toBe(`
Subscription 2 of 2 was left open; it was expected to be unsubscribed at 20.002 s.

time           0      20.002s
1 as expected  ^- 20s --!
2 expected     -^ 20s !
2 actual       -^ 20s ---
differs               ^
`);
  });

  test('one that was closed late, one that was never made, one too many', () => {
    expect(subscriptionsMessage(['^ 20s ---!'], ['^ 20s !'])).toBe(`
The subscription was unsubscribed at 20.004 s, 3 ms later than expected (20.001 s).

time      0     20.001s
expected  ^ 20s !
actual    ^ 20s ---!
differs         ^  ^
`);
    expect(subscriptionsMessage([], ['^--!'])).toContain('The subscription was expected to be subscribed at 0 ms, but never was (1 was expected, there is none).');
    expect(subscriptionsMessage(['^--!'], [])).toContain('The subscription, subscribed at 0 ms, was not expected (none was expected, there is 1).');
    expect(subscriptionsMessage(['^--!'], ['^--!'])).toBeUndefined();
  });
});

describe('values are the same', () => {
  const elsewhere = (code: string): unknown => runInContext(code, createContext({}));
  const fits = (actual: unknown, expected: unknown): boolean => messageFor(['(a|)', { a: actual }], ['(a|)', { a: expected }]) === undefined;

  test.each([
    ['in whichever realm they were made', { list: [1, { two: 2 }], when: new Date(5), by: /x/u }, elsewhere('({ list: [1, { two: 2 }], when: new Date(5), by: /x/u })')],
    ['whether a field is undefined or absent', { a: 1, b: undefined }, { a: 1 }],
    ['for bytes, sets and maps by what is in them', [new Uint8Array([1, 2]), new Set([{ a: 1 }]), new Map([['k', { v: 1 }]])], [new Uint8Array([1, 2]), new Set([{ a: 1 }]), new Map([['k', { v: 1 }]])]],
    ['for NaN', Number.NaN, Number.NaN],
    ['for errors by name, code and message', { inside: [failed] }, { inside: [Object.assign(elsewhere('new Error("broke off")') as Error, { name: 'TransientError', code: 'transient' })] }],
    ['where a matcher of a framework says so', { id: 'abc', at: 3 }, { id: expect.any(String), at: expect.anything() }],
    ['where like says so, however deep', { a: { b: [{ c: 1, d: 2 }] }, e: 3 }, like({ a: { b: [{ c: 1 }] } })],
    ['where like holds a matcher', { a: { b: 1 }, c: 2 }, like({ a: expect.objectContaining({ b: 1 }) })],
    ['where like asks an error for its fields', new RequestError('no', { source: 'a', cause: failed }), like({ code: 'request', source: 'a', cause: { message: 'broke off' } })],
  ])('%s', (_title, actual, expected) => expect(fits(actual, expected)).toBe(true));

  test.each([
    ['a field more', { a: 1, b: 2 }, { a: 1 }],
    ['an element less under like', { a: [1] }, like({ a: [1, 2] })],
    ['0 and -0', 0, -0],
    ['null and absent', { a: null }, {}],
    ['a list and what looks like one', { 0: 'x', length: 1 }, ['x']],
    ['the code of a nested error', { inside: failed }, { inside: Object.assign(new Error('broke off'), { name: 'TransientError', code: 'other' }) }],
    ['the name of an error', failed, Object.assign(new Error('broke off'), { code: 'transient' })],
    ['a matcher that refuses', 1, expect.any(String)],
    ['members of sets', new Set([{ a: 1 }]), new Set([{ a: 2 }])],
  ])('but not: %s', (_title, actual, expected) => expect(fits(actual, expected)).toBe(false));

  test('errors of a stream by name, code and message, and like asks for any of their fields', () => {
    expect(messageFor(['-#', {}, failed], ['-#', {}, new TransientError('broke off')])).toBeUndefined();
    expect(messageFor(['-#', {}, failed], ['-#', {}, new TransientError('other')])).toContain('TransientError (transient) "other"');
    expect(messageFor(['-#', {}, failed], ['-#', {}, like({ retryable: true })])).toBeUndefined();
    expect(messageFor(['-#', {}, failed], ['-#', {}, like({ code: 'source' })])).toContain('At 1 ms the error is not as expected: code: expected "source", got "transient".');
  });

  test('like is a matcher for jest too', () => {
    expect([response]).toEqual([like({ stats: { hedges: 0 } })]);
    expect([response]).not.toEqual([like({ stats: { hedges: 1 } })]);
  });

  test('a circle ends', () => {
    const circle = (name: string): object => {
      const made: Record<string, unknown> = { name };
      return Object.assign(made, { self: made });
    };
    expect(fits(circle('a'), circle('a'))).toBe(true);
    expect(fits(circle('a'), circle('b'))).toBe(false);
  });

  test('streams inside streams, and streams compared with streams', () => {
    expect(messageOf(() => new TestScheduler(compareMarbles).run(({ cold, expectObservable }) => expectObservable(of(cold('-a|'))).toBe('(x|)', { x: cold('-a|') })))).toBeUndefined();
    expect(messageOf(() => new TestScheduler(compareMarbles).run(({ expectObservable }) => expectObservable(timer(3)).toEqual(timer(2))))).toContain('From 2 ms on, everything came 1 ms late.');
  });
});
