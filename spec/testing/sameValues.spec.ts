import { describe, expect, test } from '@jest/globals';
import { of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { compareMarbles, like } from '../../lib/testing/index.js';

/** The first sentence where `actual` comes in the place of `expected`; `undefined`: they are the same. */
function sentenceFor(actual: unknown, expected: unknown): string | undefined {
  try {
    new TestScheduler(compareMarbles).run(({ expectObservable }) => expectObservable(of(actual)).toBe('(a|)', { a: expected }));
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[0]?.replace('At 0 ms ', '');
  }
}

class Hidden {
  readonly #figure: number;
  constructor(figure: number) {
    this.#figure = figure;
  }
  get figure(): number {
    return this.#figure;
  }
}

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}

const long = `Hello there, ${'x'.repeat(80)}`;
const inside = 'the value is not as expected: ';

describe('what differs is told, wherever a value keeps it', () => {
  test.each<[string, unknown, unknown, string]>([
    ['addresses', new URL('http://a/'), new URL('http://b/'), 'URL "http://b/" was expected, but URL "http://a/" came.'],
    ['headers', new Headers({ a: '1' }), new Headers({ a: '2' }), `${inside}[0][1]: expected "2", got "1".`],
    ['blobs', new Blob(['a']), new Blob(['b']), `${inside}expected Blob {}, got another Blob {}.`],
    ['buffers', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 3]).buffer, `${inside}[1]: expected 3, got 2.`],
    ['views', new DataView(new ArrayBuffer(2)), new DataView(new ArrayBuffer(3)), `${inside}[2]: expected 0, got nothing.`],
    ['kinds of bytes', new Int8Array(1), new Uint8Array(1), 'Uint8Array of 1 bytes was expected, but Int8Array of 1 bytes came.'],
    ['boxed figures', Object(1), Object(2), 'Number 2 was expected, but Number 1 came.'],
    ['promises', Promise.resolve(1), Promise.resolve(1), `${inside}expected Promise {}, got another Promise {}.`],
    ['private fields', new Hidden(1), new Hidden(2), `${inside}expected Hidden {}, got another Hidden {}.`],
    ['fields named by symbols', { [Symbol.for('a')]: 1 }, { [Symbol.for('a')]: 2 }, `${inside}[Symbol(a)]: expected 2, got 1.`],
    ['a field that every object inherits', {}, { constructor: Object }, `${inside}constructor: expected function Object, got nothing.`],
    ['members, one to one', new Set([{ a: 1 }, { a: 1 }]), new Set([{ a: 1 }, { a: 2 }]), `${inside}member: expected { a: 2 }, got { a: 1 }.`],
    ['members, the other way round', new Set([{ a: 1 }, { a: 2 }]), new Set([{ a: 1 }, { a: 1 }]), `${inside}member: expected { a: 1 }, got { a: 2 }.`],
    ['keys that are objects', new Map([[{ k: 1 }, 1], [{ k: 2 }, 1]]), new Map([[{ k: 1 }, 1], [{ k: 1 }, 1]]), `${inside}entry: expected [{ k: 1 }, 1], got [{ k: 2 }, 1].`],
    ['values of a map', { m: new Map([['k', { w: [0, 1, 2] }]]) }, { m: new Map([['k', { w: [0, 1, 3] }]]) }, `${inside}m.get("k").w[2]: expected 3, got 2.`],
    ['keys of a map', new Map([['k', undefined]]), new Map(), `${inside}has("k"): expected false, got true.`],
    ['long texts', `${long}A`, `${long}B`, `${inside}expected "…${'x'.repeat(20)}B", got "…${'x'.repeat(20)}A" (from character 94 on).`],
    ['long deltas', { type: 'content', text: `${long}A` }, { type: 'content', text: `${long}B` }, `${inside}text: expected "…${'x'.repeat(20)}B", got "…${'x'.repeat(20)}A" (from character 94 on).`],
    ['long messages', new Error(`${long}A`), new Error(`${long}B`), `${inside}message: expected "…${'x'.repeat(20)}B", got "…${'x'.repeat(20)}A" (from character 94 on).`],
    ['the sign of zero', -0, 0, '0 was expected, but -0 came.'],
    ['functions', () => 1, () => 2, `${inside}expected function, got another function.`],
    ['symbols', Symbol('a'), Symbol('a'), `${inside}expected Symbol(a), got another Symbol(a).`],
    ['spaces', 'a b', 'a\u00a0b', '"a\\u00a0b" was expected, but "a b" came.'],
    ['composed letters', 'caf\u00e9', 'cafe\u0301', `${inside}expected "cafe\\u0301", got "caf\\u00e9".`],
    ['classes', new Point(1), new Point(2), `${inside}x: expected 2, got 1.`],
    ['a matcher without words', { content: 'a' }, expect.objectContaining({ content: 'b' }), 'ObjectContaining { content: "b" } was expected, but { content: "a" } came.'],
  ])('%s', (_what, actual, expected, sentence) => {
    expect(sentenceFor(actual, expected)).toBe(sentence);
    expect(sentenceFor(expected, expected)).toBeUndefined();
  });

  test('members and entries are found in any order, and matchers leave to others what only those can take', () => {
    expect(sentenceFor(new Set([{ a: 1 }, { a: 2 }]), new Set([{ a: 2 }, { a: 1 }]))).toBeUndefined();
    expect(sentenceFor(new Set(['x', 1]), new Set([expect.anything(), expect.any(String)]))).toBeUndefined();
    expect(sentenceFor(new Set([2, 1]), new Set([expect.anything(), expect.any(String)]))).toContain('member: expected Any<String>');
    expect(sentenceFor(new Map([[{ k: 1 }, 1], [{ k: 2 }, 2]]), new Map([[{ k: 2 }, 2], [{ k: 1 }, 1]]))).toBeUndefined();
  });

  test('like is partial inside sets and maps too', () => {
    const actual = { s: new Set([{ a: 1, b: 2 }]), m: new Map([['k', { v: 1, w: 2 }]]) };
    expect(sentenceFor(actual, like({ s: new Set([{ a: 1 }]), m: new Map([['k', { v: 1 }]]) }))).toBeUndefined();
    expect(sentenceFor(actual, like({ s: new Set([{ a: 1 }]), m: new Map([['k', { v: 3 }]]) }))).toContain('m.get("k").v: expected 3, got 1');
  });

  test('large values are told in a moment', () => {
    const listOf = (from: number): object[] => Array.from({ length: 3000 }, (_, at) => ({ at: from + at, inside: { at } }));
    const startedMs = performance.now();
    expect(sentenceFor(new Set(listOf(0)), new Set(listOf(1).reverse()))).toContain('member: expected { at: 3000,');
    expect(sentenceFor(new Uint8Array(300_000), new Uint8Array(300_000).fill(1, 200_000))).toContain('[200000]: expected 1, got 0');
    expect(() => new TestScheduler(compareMarbles).run(({ expectObservable }) => expectObservable(of(...listOf(0))).toEqual(of(...listOf(3000))))).toThrow('At 0 ms the value is not as expected: at: expected 3000, got 0.');
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });
});
