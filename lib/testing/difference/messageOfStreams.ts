import { askedFor, isTelling, showDifference } from './showDifference.js';
import { isLike } from './asymmetric.js';
import { hintOf } from './hintOf.js';
import { drawDiagram } from './drawDiagram.js';
import type { Mark } from './drawDiagram.js';
import { kindOf } from './kindOf.js';
import { momentsOf } from './momentsOf.js';
import type { Moment } from './momentsOf.js';
import { showTime } from './showTime.js';
import { showValue } from './showValue.js';
import { symbolsOf } from './symbolsOf.js';
import type { Writing } from './symbolsOf.js';
import { textTable } from './textTable.js';
import { differencesOfTold, isDelta, showTold } from './told.js';
import type { Told } from './told.js';

const mostInTable = 10;
const mostPaths = 6;

/** What differs between two streams, and when; `undefined`: nothing. */
export function messageOfStreams(actual: readonly Told[], expected: readonly Told[], writing?: Writing): string | undefined {
  const moments = momentsOf(actual, expected);
  const differing = moments.filter(({ same }) => !same);
  const [first] = differing;
  if (first === undefined) return undefined;
  const symbols = symbolsOf(moments, writing);
  const marksOf = (all: readonly (Told | undefined)[]): Mark[] => all.flatMap((told) => (told === undefined ? [] : [{ frame: told.frame, symbol: symbols.of(told) }]));
  const drawing = drawDiagram(
    [
      { label: 'expected', marks: marksOf(moments.map(({ expected: one }) => one)) },
      { label: 'actual', marks: marksOf(moments.map(({ actual: one }) => one)) },
    ],
    new Set(differing.map(({ frame }) => frame)),
  );
  const legend = symbols.legend(drawing.isShown);
  const parts = [[sentenceOf(first, moments)], drawing.lines, legend, tableOf(differing), hintOf(first)];
  return parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')).join('\n\n');
}

function sentenceOf(first: Moment, moments: readonly Moment[]): string {
  const shift = shiftOf(moments);
  if (shift !== undefined) return `From ${showTime(first.expectedAt ?? first.frame)} on, everything came ${lateBy(shift)}.`;
  const { frame, expected, actual, cameAt, cameAs, expectedAt } = first;
  const at = `At ${showTime(frame)}`;
  const others = moments.some((other) => other.frame === frame && other.same);
  if (expected === undefined) {
    const came = actual === undefined ? '' : showTold(actual);
    if (expectedAt !== undefined) return `${at} ${came} came ${lateBy(frame - expectedAt)}; it was expected at ${showTime(expectedAt)}.`;
    return others ? `${at} ${came} came too, which was not expected.` : `${at} ${came} came, but nothing was expected.`;
  }
  const wanted = showTold(expected);
  if (cameAt !== undefined) return `${at} ${wanted} was expected; it came ${lateBy(cameAt - frame)}, at ${showTime(cameAt)}${cameAs === undefined ? '' : `, and differs: ${insideOf(expected, cameAs)}`}.`;
  if (actual === undefined) return others ? `${at} ${wanted} was expected too, but did not come.` : `${at} ${wanted} was expected, but nothing came.`;
  return isToldWhole(expected, actual) ? `${at} ${wanted} was expected, but ${showTold(actual)} came.` : `${at} the ${expected.notification.kind === 'E' ? 'error' : 'value'} is not as expected: ${insideOf(expected, actual)}.`;
}

function insideOf(expected: Told, actual: Told): string {
  const [difference, ...rest] = differencesOfTold(actual, expected);
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return difference === undefined ? '' : `${showDifference(difference)}${more}`;
}

/** Two that are best told as a whole, and are short enough for it: otherwise what is inside says more. */
function isToldWhole(expected: Told, actual: Told): boolean {
  const { kind, value, error } = expected.notification;
  if (kind !== actual.notification.kind) return true;
  if (!isTelling(showTold(expected), showTold(actual))) return false;
  const wanted = kind === 'N' ? value : error;
  const [difference] = differencesOfTold(actual, expected);
  return difference?.path === '' || (!isLike(wanted) && (kindOf(wanted) === 'error' || isDelta(wanted)));
}

/** By how much all came late from the first difference on, where it is the same for all of it. */
function shiftOf(moments: readonly Moment[]): number | undefined {
  const differing = moments.filter(({ same }) => !same);
  const from = differing[0]?.frame ?? Infinity;
  if (moments.some(({ same, frame }) => same && frame >= from)) return undefined;
  const missing = differing.filter(({ expected }) => expected !== undefined);
  const shifts = new Set(missing.map(({ frame, cameAt, cameAs }) => (cameAs === undefined ? (cameAt ?? NaN) : NaN) - frame));
  const [shift] = shifts;
  const nothingElse = differing.every(({ actual, expectedAt }) => actual === undefined || expectedAt !== undefined);
  return missing.length > 1 && shifts.size === 1 && nothingElse && !Number.isNaN(shift) ? shift : undefined;
}

function lateBy(ms: number): string {
  return `${showTime(Math.abs(ms))} ${ms < 0 ? 'early' : 'late'}`;
}

/** One that only came at another time than expected stands there, not twice. */
function tableOf(differing: readonly Moment[]): readonly string[] {
  const told = differing.filter(({ expected, expectedAt }) => expected !== undefined || expectedAt === undefined);
  const shown = told.slice(0, mostInTable);
  const rows = textTable([['time', 'expected', 'actual'], ...shown.map(rowOf)]);
  const [head = '', ...lines] = rows;
  const more = told.length - shown.length;
  return [head, ...lines.flatMap((line, at) => [line, ...pathsOf(shown[at])]), ...(more === 0 ? [] : [`… and ${more} more ${more === 1 ? 'moment' : 'moments'}`])];
}

function rowOf({ frame, expected, actual, cameAt, cameAs, expectedAt }: Moment): readonly string[] {
  const wanted = expected === undefined ? 'nothing' : showTold(expected);
  const came = actual === undefined ? undefined : `${showActual(actual, expected)}${expectedAt === undefined ? '' : ` (expected at ${showTime(expectedAt)})`}`;
  const moved = cameAt === undefined ? undefined : `came ${lateBy(cameAt - frame)}, at ${showTime(cameAt)}${cameAs === undefined ? '' : ', and differs'}`;
  return [showTime(frame), wanted, came === undefined ? (moved ?? 'nothing') : [came, ...(moved === undefined ? [] : [`the expected ${moved}`])].join('; ')];
}

function showActual(actual: Told, expected: Told | undefined): string {
  const { kind, value, error } = actual.notification;
  if (kind !== expected?.notification.kind || kind === 'C') return showTold(actual);
  return kind === 'N' ? showValue(askedFor(value, expected.notification.value)) : `the error ${showValue(askedFor(error, expected.notification.error))}`;
}

function pathsOf(moment: Moment | undefined): readonly string[] {
  const came = moment?.cameAs ?? (moment?.cameAt === undefined ? moment?.actual : undefined);
  if (moment?.expected === undefined || came?.notification.kind !== moment.expected.notification.kind) return [];
  const inside = differencesOfTold(came, moment.expected);
  // What stands in the row as a whole is not said again.
  if (isToldWhole(moment.expected, came) && inside.length === 1) return [];
  const more = inside.length - mostPaths;
  return [...inside.slice(0, mostPaths).map((difference) => `  ${showDifference(difference)}`), ...(more > 0 ? [`  … and ${more} more fields`] : [])];
}
