import { expect, test } from '@jest/globals';
import { TransientError } from '../../lib/index.js';
import { like, marbles } from '../../lib/testing/index.js';

type Written = readonly [diagram: string, values?: Readonly<Record<string, unknown>>, error?: unknown];

/** The message for a stream that is `actual` where `expected` was written. */
function messageFor(actual: Written, expected: Written): string {
  return messageOf(marbles(({ cold, expectObservable }) => expectObservable(cold(...actual)).toBe(...expected)));
}

function messageOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    return `\n${(error as Error).message}\n`;
  }
  throw new Error('nothing was thrown');
}

test('a stream of which only a part is late is not said to be late as a whole', () => {
  expect(messageFor(['--a-b-c'], ['-a-b--c'])).toBe(`
At 1 ms "a" was expected; it came 1 ms late, at 2 ms.

time       1ms  6ms
expected  -a-b--c
actual    --a-b-c
differs    ^^^^

time  expected  actual
1 ms  "a"       came 1 ms late, at 2 ms
3 ms  "b"       came 1 ms late, at 4 ms
`);
});

test('the letters are those of the writer, also for values that are letters, and for one value with two', () => {
  expect(messageFor(['-axv-b|'], ['-rsv-t|', { r: 'a', s: 'x', v: 'v', t: 'x' }])).toBe(`
At 5 ms "x" was expected, but "b" came.

time      0    5ms
expected  -rsv-t|
actual    -rsv-b|
differs        ^

r = "a"
s = "x"
t = "x"

time  expected  actual
5 ms  "x"       "b"
`);
});

test('a long text is cut in both, and a line says where they differ', () => {
  const long = 'Hello there, this goes on and on and on and on and on and on, and ';
  expect(messageFor(['(a|)', { a: `${long}A` }], ['(a|)', { a: `${long}B` }])).toBe(`
At 0 ms the value is not as expected: expected "… and on and on, and B", got "… and on and on, and A" (from character 67 on).

time      0
expected  (a|)
actual    (x|)
differs   ^^^^

a = "Hello there, this goes on and on and on and on and on and…"
x = "Hello there, this goes on and on and on and on and on and…" (not expected)

time  expected                                                      actual
0 ms  "Hello there, this goes on and on and on and on and on and…"  "Hello there, this goes on and on and on and on and on and…"
  expected "… and on and on, and B", got "… and on and on, and A" (from character 67 on)
`);
});

test('a stream inside a stream is shown as a diagram', () => {
  const inner = (...written: readonly [string, Record<string, unknown>?][]): string =>
    messageOf(marbles(({ cold, expectObservable }) => {
      const [actual$, expected$] = written.map(([diagram, values]) => cold(diagram, values));
      expectObservable(cold('-x|', { x: actual$ })).toBe('-x|', { x: expected$ });
    }));
  expect(inner(['-a|'], ['-b|'])).toBe(`
At 1 ms the value is not as expected: inner stream at 1 ms: expected "b", got "a".

time       1ms
expected  -x|
actual    -y|
differs    ^

x = stream -b|
y = stream -a| (not expected)

time  expected    actual
1 ms  stream -b|  stream -a|
  inner stream at 1 ms: expected "b", got "a"
`);
  expect(inner(['--a|'], ['-a|'])).toContain('inner stream: expected stream -a|, got stream --a|.');
  expect(inner(['-a|', { a: { content: 'q' } }], ['-a|', { a: { content: 'r' } }])).toContain('inner stream at 1 ms.content: expected "r", got "q".');
});

test('a diagram that is too wide is cut, by columns and not by characters, a group too', () => {
  const wide = messageFor(['🙂-🎉-'.repeat(40)], [`${'🙂-🎉-'.repeat(39)}🙂-a-`]);
  expect(wide).toMatch(/\nexpected {2}… [🙂🎉]+a\nactual {4}… [🙂🎉]+x\n/u);
  expect(messageFor(['🙂-🎉-'.repeat(40)], [`a-🎉-${'🙂-🎉-'.repeat(39)}`])).toMatch(/\nexpected {2}a-[🙂🎉]+ …\n/u);
  const group = messageFor([`-(${'a'.repeat(200)})`], [`-(${'a'.repeat(199)}b)`]);
  expect(group.split('\n').every((line) => line.length <= 120)).toBe(true);
  expect(group).toMatch(/\nexpected {2}-\(a+ …\n/);
});

test('of many letters those that differ are explained first', () => {
  const values = Object.fromEntries(Array.from('abcdefghijklmnopqrst').map((letter) => [letter, letter + letter]));
  expect(messageFor(['-abcdefghijklmnopqrs|', values], ['-abcdefghijklmnopqrt|', values])).toMatch(/\n\ns = "ss"\nt = "tt"\na = "aa"\n[^]*\n… and 8 more letters\n/);
});

test('what is commonly meant is said', () => {
  const failed = new TransientError('q');
  const response = { content: 'a', callId: 'x', stats: {}, source: 's' };
  expect(messageFor(['-#', {}, failed], ['-#'])).toContain("\n\nThe error is the third argument: toBe('#', undefined, like({ code: … })).\n");
  expect(messageFor(['-#', {}, failed], ['-#', {}, { code: 'x' }])).toContain('\n\nTo ask an error for some of its fields, expect like({ … }).\n');
  expect(messageFor(['-r', { r: response }], ['-r', { r: { content: 'a' } }])).toContain('\n\nA response has times and a callId of its own: expect like({ … }), which asks for the fields that matter, or map it to its content.\n');
  expect(messageFor(['-r', { r: response }], ['-r', { r: like({ content: 'b' }) }])).not.toContain('of its own');
});
