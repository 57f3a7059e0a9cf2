import { duration as spaced } from '../../report/duration.js';

/** Between a number and its unit: they stay on one line. */
const tie = '\u00a0';

export const notMeasured = 'not measured';

/** As the terminal has it; what is not known, and what is negative, too. */
export function duration(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return notMeasured;
  return ms < 0 ? `−${duration(-ms)}` : spaced(ms).replaceAll(' ', tie);
}

/** A share from 0 to 1: `41 %`, `3.1 %`, `<0.1 %`. */
export function percent(share: number | null): string {
  if (share === null || !Number.isFinite(share)) return notMeasured;
  if (share < 0) return `−${percent(-share)}`;
  if (share > 0 && share < 0.0005) return `<0.1${tie}%`;
  if (share > 0.9995 && share < 1) return `>99.9${tie}%`;
  const fine = (share > 0 && share < 0.0995) || (share >= 0.995 && share < 1);
  return `${(share * 100).toFixed(fine ? 1 : 0)}${tie}%`;
}

/** A part's share of a whole; `null` where there is no whole. */
export const ratio = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

export const count = (value: number | null): string => (value === null ? notMeasured : Math.round(value).toLocaleString('en'));

/** `1 call`, `2 calls`. */
export const counted = (value: number, noun: string): string => `${count(value)}${tie}${noun}${value === 1 ? '' : 's'}`;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `12 Mar`. */
export const monthDay = (date: Date): string => `${date.getUTCDate()}${tie}${months[date.getUTCMonth()] ?? ''}`;

/** `14:05`. */
export const timeOfDay = (date: Date): string => date.toISOString().slice(11, 16);

/** `12 Mar 2026, 14:05 UTC`, of an ISO instant. */
export function instant(iso: string | null): string {
  if (iso === null) return 'no attempt';
  const date = new Date(iso);
  return `${monthDay(date)}${tie}${date.getUTCFullYear()}, ${timeOfDay(date)}${tie}UTC`;
}
