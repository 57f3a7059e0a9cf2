import type { Kind } from './kind.js';

/** A Node timer that is set for longer fires at once (T5). */
export const longestMs = 2 ** 31 - 1;

const plainDecimal = /^\d+(?:\.\d+)?$/;

/** A duration in seconds, fractions allowed, that a timer can hold (C1, T5). */
export const seconds = numberKind(
  'seconds above 0 and not above 2147483.647 in plain digits, such as 30 or 0.5',
  (value) => value > 0 && value * 1000 <= longestMs,
);

/** A duration in whole milliseconds (C1). */
export const milliseconds = numberKind(
  'whole milliseconds from 1 to 2147483647 in plain digits, such as 800',
  (value) => Number.isInteger(value) && value >= 1 && value <= longestMs,
);

/** How many of something, at least one. */
export const count = numberKind('a whole number of 1 or more in plain digits, such as 10', (value) => Number.isSafeInteger(value) && value >= 1);

/** A place in an order, from 0. */
export const rank = numberKind('a whole number of 0 or more in plain digits, such as 1', (value) => Number.isSafeInteger(value) && value >= 0);

/** A share, above 0 and at most 1. */
export const share = numberKind('a share above 0 and not above 1 in plain digits, such as 0.05', (value) => value > 0 && value <= 1);

/** A relative weight, above 0. */
export const weight = numberKind('a finite number above 0 in plain digits, such as 2', (value) => value > 0 && Number.isFinite(value));

/** `true` or `false`. */
export const flag: Kind<boolean> = {
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  read: (value) => (typeof value === 'boolean' ? { value } : { problem: 'must be true or false' }),
};

/** One of a few words. */
export function choice<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  return {
    fromText: (text) => text,
    read: (value) => {
      const word = words.find((known) => known === value);
      return word === undefined ? { problem: `must be ${words.join(' or ')}` } : { value: word };
    },
  };
}

function numberKind(expects: string, fits: (value: number) => boolean): Kind<number> {
  return {
    fromText: (text) => (plainDecimal.test(text) ? Number(text) : text),
    read: (value) => (typeof value === 'number' && fits(value) ? { value } : { problem: `must be ${expects}` }),
  };
}
