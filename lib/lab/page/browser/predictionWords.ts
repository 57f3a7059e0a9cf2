import type { Band, Thresholds } from '../../whatif/whatIf.js';
import { duration, notMeasured, percent } from './words.js';

/** `20 s before the first words or 30 s in mid-stream`. */
export function thresholdWords({ hedgeAfterMs, hedgeStallAfterMs }: Thresholds): string {
  const first = hedgeAfterMs === null ? [] : [`${duration(hedgeAfterMs)} before the first words`];
  const stall = hedgeStallAfterMs === null ? [] : [`${duration(hedgeStallAfterMs)} in mid-stream`];
  return [...first, ...stall].join(' or ') || 'no hedging';
}

/** `32–38 s`, or with both units where they differ. */
export function rangeWords({ low, high }: Band, words: (value: number) => string): string {
  const [from, to] = [words(low), words(high)];
  const [number = '', unit = '', ...more] = from.split('\u00a0');
  return more.length === 0 && to.split('\u00a0').length === 2 && to.endsWith(`\u00a0${unit}`) ? `${number}–${to}` : `${from} – ${to}`;
}

export const bandWords = (band: Band | null, words: (value: number) => string): string =>
  band === null ? notMeasured : `${words(band.value)} (${words(band.low)} to ${words(band.high)})`;

export const percentBand = (band: Band | null): string => bandWords(band, percent);
export const durationBand = (band: Band | null): string => bandWords(band, duration);
