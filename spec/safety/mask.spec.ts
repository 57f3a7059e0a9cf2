import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maskKnown } from '../../lib/model/mask.js';

const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary' });
const around = fc.uint8Array({ maxLength: 9 });

describe('R7 a key that is known is taken out of a text', () => {
  test('whatever it looks like, as it is and as it stands in a URL or in JSON', () => {
    fc.assert(
      fc.property(secret, (key) => {
        const json = JSON.stringify(key).slice(1, -1);
        for (const form of [key, json, json.replaceAll('/', '\\/'), encodeURIComponent(key)]) expect(maskKnown(`a${form}z`, [key])).toBe('a[masked]z');
      }),
    );
  });

  test('in base64, wherever it begins in what was encoded: what is left is the text around it and no more than a letter of it', () => {
    fc.assert(
      fc.property(secret, around, around, fc.constantFrom<'base64' | 'base64url'>('base64', 'base64url'), (key, before, after, encoding) => {
        const encoded = Buffer.concat([before, Buffer.from(key), after]).toString(encoding);
        const [start = '', end] = maskKnown(encoded, [key]).split('[masked]');
        expect(end).toBeDefined();
        const shown = Buffer.from(start, encoding);
        expect(shown.length).toBeLessThanOrEqual(before.length + 1);
      }),
    );
  });

  test('of two that begin alike the longer one goes whole; one of three letters stays, since it is everywhere', () => {
    expect(maskKnown('swordfish-two, swordfish, one', ['swordfish', 'swordfish-two', 'one'])).toBe('[masked], [masked], one');
  });
});
