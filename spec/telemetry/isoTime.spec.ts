import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isoTime } from '../../lib/telemetry/isoTime.js';

const longestMs = 8.64e15;

describe('the time of a row', () => {
  test('is what a date says of it, before 1970, after 9999 and between milliseconds too', () => {
    for (const atMs of [0, -0.5, -1, 999.9, 1000, -1000, 1_772_366_405_007.25, 253_402_300_800_000, -longestMs, longestMs]) {
      expect(isoTime(atMs)).toBe(new Date(atMs).toISOString());
    }
    fc.assert(fc.property(fc.double({ min: -longestMs, max: longestMs, noNaN: true }), (atMs) => isoTime(atMs) === new Date(atMs).toISOString()));
  });

  test('is refused where there is none', () => {
    for (const atMs of [NaN, Infinity, longestMs + 1000]) expect(() => isoTime(atMs)).toThrow(RangeError);
  });
});
