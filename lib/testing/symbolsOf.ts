import { same } from './differencesOf.js';
import type { Moment } from './momentsOf.js';
import { showValue } from './showValue.js';
import type { Told } from './told.js';

/** What letters of a diagram stand for. */
export type Letters = ReadonlyMap<string, unknown>;

export interface Symbols {
  of(this: void, told: Told): string;
  /** The lines that say what the symbols stand for which `isShown`. */
  legend(this: void, isShown: (frame: number) => boolean): readonly string[];
}

interface Entry {
  readonly symbol: string;
  readonly value: unknown;
  readonly expected: boolean;
}

const forExpected = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ');
const forOthers = Array.from('xyzwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA');

const mostInLegend = 12;

/**
 * A letter for each value: the one that the diagram's writer gave to it, itself where it is a letter, or a free one; those that
 * were not expected take theirs from the end of the alphabet.
 */
export function symbolsOf(moments: readonly Moment[], letters: Letters = new Map()): Symbols {
  const entries: Entry[] = [...letters].map(([symbol, value]) => ({ symbol, value, expected: true }));
  const symbols = new Map<Told, string>();
  const own = new Set(moments.flatMap(({ expected, actual }) => [expected, actual]).flatMap((told) => (told === undefined ? [] : (ownLetter(told) ?? []))));

  const entryOf = (value: unknown, isIt: (entry: Entry) => boolean, expected: boolean): Entry => {
    const known = entries.find(isIt);
    if (known !== undefined) return known;
    const symbol = (expected ? forExpected : forOthers).find((letter) => !own.has(letter) && entries.every((entry) => entry.symbol !== letter)) ?? '?';
    const entry = { symbol, value, expected };
    entries.push(entry);
    return entry;
  };

  for (const { expected } of moments) {
    if (expected === undefined) continue;
    const { value } = expected.notification;
    symbols.set(expected, fixed(expected, letters) ?? entryOf(value, (entry) => Object.is(entry.value, value) || isEqual(entry.value, value), true).symbol);
  }
  for (const { expected, actual, same: isSame } of moments) {
    if (actual === undefined) continue;
    const { value } = actual.notification;
    const paired = isSame && expected !== undefined ? symbols.get(expected) : undefined;
    symbols.set(actual, paired ?? fixed(actual, letters) ?? entryOf(value, (entry) => same(value, entry.value), false).symbol);
  }

  return {
    of: (told) => symbols.get(told) ?? '?',
    legend(isShown) {
      const seen = moments.filter(({ frame }) => isShown(frame)).flatMap(({ expected, actual }) => [expected, actual]);
      const used = new Set(seen.flatMap((told) => (told === undefined ? [] : (symbols.get(told) ?? []))));
      const lines = entries.filter(({ symbol, value }) => used.has(symbol) && symbol !== value && symbol !== '?').map(({ symbol, value, expected }) => `${symbol} = ${showValue(value)}${expected ? '' : ' (not expected)'}`);
      return lines.length <= mostInLegend ? lines : [...lines.slice(0, mostInLegend), `… and ${lines.length - mostInLegend} more letters`];
    },
  };
}

/** An end and an error have a sign of their own, and a text of one letter is its own letter unless the writer used it for another. */
function fixed(told: Told, letters: Letters): string | undefined {
  const { kind } = told.notification;
  if (kind !== 'N') return kind === 'C' ? '|' : '#';
  const letter = ownLetter(told);
  return letter === undefined || letters.has(letter) ? undefined : letter;
}

function ownLetter({ notification: { kind, value } }: Told): string | undefined {
  return kind === 'N' && typeof value === 'string' && /^[\p{L}\p{N}]$/u.test(value) ? value : undefined;
}

/** Between two expected values a matcher is not asked. */
function isEqual(one: unknown, other: unknown): boolean {
  return showValue(one) === showValue(other) && same(one, other);
}
