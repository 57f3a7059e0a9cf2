import { isDeepStrictEqual } from 'node:util';
import { standsForItself } from '../parseDiagram.js';
import { same } from './differencesOf.js';
import type { Moment } from './momentsOf.js';
import { showValue } from './showValue.js';
import type { Told } from './told.js';

/** How a diagram was written: what its letters stand for, and which sign each notification is. */
export interface Writing {
  readonly values: Readonly<Record<string, unknown>>;
  readonly symbols: ReadonlyMap<Told, string>;
}

export interface Symbols {
  of(this: void, told: Told): string;
  /** The lines that say what the symbols stand for which `isShown`; those of what differs come first where there are many. */
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
 * were not expected take theirs from the end of the alphabet. What is left when all are used up is `?`.
 */
export function symbolsOf(moments: readonly Moment[], { values, symbols: written }: Writing = { values: {}, symbols: new Map() }): Symbols {
  const entries = new Map(Object.entries(values).map(([symbol, value]): [string, Entry] => [symbol, { symbol, value, expected: true }]));
  const symbols = new Map<Told, string>();
  const own = new Set(moments.flatMap(toldOf).flatMap((told) => ownLetter(told) ?? []));

  const symbolFor = ({ notification: { kind, value } }: Told, isIt: (entry: Entry) => boolean, expected: boolean): string => {
    if (kind !== 'N') return kind === 'C' ? '|' : '#';
    // With hundreds of values to compare with, a message would take minutes.
    const known = [...entries.values()].find(entries.size < forExpected.length ? isIt : (entry) => Object.is(entry.value, value));
    if (known !== undefined) return known.symbol;
    const letter = isLetter(value) && !entries.has(value) ? value : (expected ? forExpected : forOthers).find((free) => !own.has(free) && !entries.has(free));
    if (letter !== undefined) entries.set(letter, { symbol: letter, value, expected });
    return letter ?? '?';
  };

  for (const { expected } of moments) {
    const symbol = expected === undefined ? undefined : written.get(expected);
    // A stream among the values is told by what it says.
    if (symbol !== undefined && entries.has(symbol)) entries.set(symbol, { symbol, value: expected?.notification.value, expected: true });
  }
  for (const { expected } of moments) {
    if (expected === undefined) continue;
    const { value } = expected.notification;
    // Between two expected values a matcher is not asked.
    symbols.set(expected, written.get(expected) ?? symbolFor(expected, (entry) => isDeepStrictEqual(entry.value, value), true));
  }
  for (const { expected, actual, same: isSame } of moments) {
    if (actual === undefined) continue;
    const paired = isSame && expected !== undefined ? symbols.get(expected) : undefined;
    symbols.set(actual, paired ?? symbolFor(actual, (entry) => same(actual.notification.value, entry.value), false));
  }

  return {
    of: (told) => symbols.get(told) ?? '?',
    legend(isShown) {
      const shown = moments.filter(({ frame }) => isShown(frame));
      const used = new Set(shown.flatMap(toldOf).map((told) => symbols.get(told)));
      const differing = new Set(shown.filter(({ same: isSame }) => !isSame).flatMap(toldOf).map((told) => symbols.get(told)));
      const all = [...entries.values()].filter(({ symbol, value }) => used.has(symbol) && symbol !== value);
      const first = all.length <= mostInLegend ? all : [...all.filter(({ symbol }) => differing.has(symbol)), ...all.filter(({ symbol }) => !differing.has(symbol))];
      const lines = first.slice(0, mostInLegend).map(({ symbol, value, expected }) => `${symbol} = ${showValue(value)}${expected ? '' : ' (not expected)'}`);
      return all.length <= mostInLegend ? lines : [...lines, `… and ${all.length - mostInLegend} more letters`];
    },
  };
}

function toldOf({ expected, actual }: Moment): readonly Told[] {
  return [expected, actual].filter((told) => told !== undefined);
}

function ownLetter({ notification: { kind, value } }: Told): string | undefined {
  return kind === 'N' && isLetter(value) ? value : undefined;
}

function isLetter(value: unknown): value is string {
  return typeof value === 'string' && standsForItself(value);
}
