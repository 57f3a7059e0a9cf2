import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GrowingText } from '../../lib/model/growingText.js';

function grown(pieces: readonly string[]): GrowingText {
  const text = new GrowingText();
  for (const piece of pieces) text.add(piece);
  return text;
}

describe('GrowingText', () => {
  test('is what its pieces are one after the other, whatever characters they hold, halves of surrogate pairs too', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary-ascii' }), fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }), fc.string({ unit: 'grapheme' }), fc.string({ minLength: 200, maxLength: 600 }));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = grown(pieces);
        expect(text.toString()).toBe(pieces.join(''));
        expect(text).toHaveLength(pieces.join('').length);
      }),
    );
  });

  test('may be read before it has ended', () => {
    const text = grown(['caf', 'é']);
    expect(text.toString()).toBe('café');
    text.add(' ✓');
    expect(text.toString()).toBe('café ✓');
  });

  test('is empty at first', () => {
    expect(grown([]).toString()).toBe('');
  });
});
