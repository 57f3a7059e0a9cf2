import { isLike } from './asymmetric.js';
import type { Difference } from './differencesOf.js';
import { showAscii, showText, showValue } from './showValue.js';

const mostChars = 60;

/** `content: expected "xy", got "x"`; of long texts the part around the first difference. */
export function showDifference({ path, expected, actual }: Difference): string {
  const [wanted, got] = typeof expected === 'string' && typeof actual === 'string' ? aroundDifference(expected, actual) : [orNothing(expected), orNothing(actual)];
  return `${path === '' ? '' : `${path}: `}expected ${wanted}, got ${wanted === got ? 'another ' : ''}${got}`;
}

/** Whether one sees, from what is shown of two values, how they differ. */
export function isTelling(expected: string, actual: string): boolean {
  return expected !== actual && !looksLike(expected, actual) && !expected.includes('…') && !actual.includes('…');
}

function orNothing(value: unknown): string {
  return value === undefined ? 'nothing' : showValue(value);
}

function aroundDifference(expected: string, actual: string): readonly [string, string] {
  const [one, other] = [Array.from(expected), Array.from(actual)];
  const differsAt = one.findIndex((char, at) => char !== other[at]);
  const first = differsAt < 0 ? one.length : differsAt;
  const show = looksLike(expected, actual) ? showAscii : showText;
  if (Math.max(one.length, other.length) <= mostChars || first <= mostChars / 2) return [show(cutTo(one)), show(cutTo(other))];
  const from = first - mostChars / 3;
  const cut = (chars: readonly string[]): string => show(cutTo(['…', ...chars.slice(from)]));
  return [cut(one), `${cut(other)} (from character ${first + 1} on)`];
}

function cutTo(chars: readonly string[]): string {
  return chars.length <= mostChars ? chars.join('') : `${chars.slice(0, mostChars - 1).join('')}…`;
}

/** Composed letters and composing ones, or spaces of one width. */
function looksLike(one: string, other: string): boolean {
  return one !== other && one.normalize('NFKC') === other.normalize('NFKC');
}

/** Of `actual` what `like` asks for, so that a message is about that alone. */
export function askedFor(actual: unknown, expected: unknown): unknown {
  return isLike(expected) ? pick(actual, expected.partial) : actual;
}

function pick(actual: unknown, partial: unknown): unknown {
  if (isLike(partial)) return pick(actual, partial.partial);
  if (Array.isArray(partial)) return Array.isArray(actual) ? (actual as unknown[]).map((one, at) => pick(one, (partial as unknown[])[at])) : actual;
  if (!isFields(partial) || typeof actual !== 'object' || actual === null) return actual;
  return Object.fromEntries(Object.keys(partial).map((key) => [key, pick((actual as Record<string, unknown>)[key], partial[key])]));
}

function isFields(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]' && !('asymmetricMatch' in (value as object));
}
