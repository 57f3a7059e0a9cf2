import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isGatewayError } from '../../lib/model/errors.js';
import { embeddingAnswer } from '../../lib/wire/embeddingAnswer.js';

function vectorsOf(data: unknown, inputs: number, dimensions?: number): unknown {
  try {
    return embeddingAnswer({ data }, { inputs, dimensions }).vectors.map((vector) => [...vector]);
  } catch (error) {
    return isGatewayError(error) ? error.code : error;
  }
}

const packed = (...numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

describe('an embedding as base64', () => {
  test('may lack its padding', () => {
    expect(vectorsOf([{ embedding: packed(1).replace(/=+$/, '') }], 1)).toEqual([[1]]);
  });

  test.each([
    ['a digit too many', `${packed(1, 2, 3)}A`],
    ['a space amid it', `${packed(1, 2, 3).slice(0, 4)} ${packed(1, 2, 3).slice(4)}`],
    ['half a float', packed(1, 2, 3).slice(0, 8)],
    ['padding amid it', `${packed(1)}${packed(2)}`],
    ['a number that is none', packed(1, NaN)],
    ['an infinite number', packed(1, Infinity)],
    ['nothing', ''],
  ])('is refused with %s', (_, embedding) => {
    expect(vectorsOf([{ embedding }], 1)).toBe('transient');
  });

  test('whatever the bits of a finite float, they are the same after the way over JSON', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true });
    const batch = fc.integer({ min: 1, max: 6 }).chain((length) => fc.array(fc.tuple(fc.array(float, { minLength: length, maxLength: length }), fc.boolean(), fc.nat()), { minLength: 1, maxLength: 8 }));
    fc.assert(
      fc.property(batch, fc.boolean(), (entries, indexed) => {
        const items = entries.map(([numbers, asText], index) => ({ embedding: asText ? packed(...numbers) : numbers, ...(indexed ? { index } : {}) }));
        const order = entries.map(([, , at], place) => [at, place] as const).sort(([a], [b]) => a - b).map(([, place]) => place);
        const sent = JSON.stringify({ data: indexed ? order.map((place) => items[place]) : items });
        const { vectors } = embeddingAnswer(JSON.parse(sent) as Record<string, unknown>, { inputs: entries.length });
        // JSON has no negative zero.
        expect(vectors.map((vector) => [...vector])).toEqual(entries.map(([numbers, asText]) => numbers.map((number) => (asText ? number : number + 0))));
      }),
      { numRuns: 200 },
    );
  });
});

describe('dimensions that were asked for', () => {
  test('are what the vectors must have; another length puts the source out', () => {
    expect(vectorsOf([{ embedding: [1, 2] }], 1, 2)).toEqual([[1, 2]]);
    expect(vectorsOf([{ embedding: [1, 2, 3] }], 1, 2)).toBe('source');
  });
});
