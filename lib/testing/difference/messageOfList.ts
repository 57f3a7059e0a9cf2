import { differencesOf, same } from './differencesOf.js';
import type { Difference } from './differencesOf.js';
import { pairUp } from './pairUp.js';
import type { Pair } from './pairUp.js';
import { showDifference } from './showDifference.js';
import { showValue } from './showValue.js';
import { textTable, widthOf } from './textTable.js';
import { isAsymmetric, isLike } from './asymmetric.js';

export interface ListNaming {
  readonly one: string;
  readonly many: string;
  /** The fields by which one knows an element, shown whether or not they were asked for. */
  readonly fields: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Beside = Pair<unknown, object> & { readonly nth: number; readonly differences: readonly Difference[] };

const mostShown = 8;
const mostPaths = 8;
const cellChars = 28;

/** What differs between a list and what was expected of its elements, each partially; `undefined`: nothing. */
export function messageOfList(actual: readonly object[], expected: readonly unknown[], naming: ListNaming): string | undefined {
  if (!Array.isArray(expected)) throw new TypeError(`The expected ${naming.many} are not a list, but ${showValue(expected)}. Write one: [{ … }].`);
  const pairs = pairUp(expected as readonly unknown[], actual, (one, other) => same(one, other, { partial: true })).map((pair, at): Beside => ({
    ...pair,
    nth: at + 1,
    differences: pair.same || pair.actual === undefined || pair.expected === undefined ? [] : differencesIn(pair.actual, pair.expected),
  }));
  const differing = pairs.filter(({ same }) => !same);
  const [first] = differing;
  if (first === undefined) return undefined;
  const from = Math.max(0, Math.min(first.nth - 3, pairs.length - mostShown));
  const shown = pairs.slice(from, from + mostShown);
  const leftOut = pairs.length - shown.length;
  const leftOutDiffering = differing.filter((pair) => !shown.includes(pair)).length;
  const paths = shown.flatMap(({ nth, differences }) => differences.filter(isBeyondCell).map((difference) => `${naming.one} ${nth}: ${showDifference(difference)}`));
  return [
    sentenceOf(first, expected.length, actual.length, naming),
    '',
    ...tableOf(shown, naming),
    ...(leftOut === 0 ? [] : [`… and ${leftOut} more ${leftOut === 1 ? naming.one : naming.many}, ${leftOutDiffering === 0 ? 'as expected' : leftOutDiffering === leftOut ? 'not as expected' : `${leftOutDiffering} of them not as expected`}`]),
    ...(paths.length === 0 ? [] : ['', ...paths.slice(0, mostPaths), ...(paths.length > mostPaths ? [`… and ${paths.length - mostPaths} more fields`] : [])]),
  ].join('\n');
}

function differencesIn(actual: object, expected: unknown): readonly Difference[] {
  return differencesOf(actual, expected, { partial: true });
}

function sentenceOf({ nth, expected, actual, differences }: Beside, wanted: number, came: number, { one, many, fields }: ListNaming): string {
  const counts = `${wanted === 0 ? `No ${one} was` : wanted === 1 ? `1 ${one} was` : `${wanted} ${many} were`} expected, but there ${came === 1 ? 'is' : 'are'} ${came === 0 ? 'none' : came}`;
  if (actual === undefined) return `${counts}: ${one} ${nth}, ${showValue(expected, 90)}, is missing.`;
  if (expected === undefined) return `${counts}: ${one} ${nth}, ${showValue(pick(actual, fields), 90)}, is one too many.`;
  const [difference] = differences;
  const more = differences.length > 1 ? ` (and ${differences.length - 1} more)` : '';
  const inside = `${one[0]?.toUpperCase() ?? ''}${one.slice(1)} ${nth} of ${Math.max(wanted, came)} differs in ${difference === undefined ? '' : showDifference(difference)}${more}.`;
  return wanted === came ? inside : `${counts}. ${inside}`;
}

function tableOf(pairs: readonly Beside[], { one, fields }: ListNaming): readonly string[] {
  const asked = pairs.flatMap(({ expected }) => Object.keys(fieldsOf(expected)));
  const columns = [...new Set([...fields, ...asked])];
  const rows = pairs.flatMap((pair): string[][] => {
    const name = `${one} ${pair.nth}`;
    const { expected, actual, same } = pair;
    const came = actual === undefined ? ['(none)'] : columns.map((column) => cellOf(actual, column));
    if (same) return [[name, 'as expected', ...came]];
    const wanted = expected === undefined ? ['(none)'] : columns.map((column) => (column in fieldsOf(expected) ? cellOf(fieldsOf(expected), column) : ''));
    const marks = columns.map((column, at) => (pair.differences.some(({ path }) => topOf(path) === column) ? '^'.repeat(Math.max(widthOf(wanted[at] ?? ''), widthOf(came[at] ?? ''))) : ''));
    return [[name, 'expected', ...wanted], ['', 'actual', ...came], ...(marks.some((text) => text !== '') ? [['', '', ...marks]] : [])];
  });
  return textTable([['', '', ...columns], ...rows]);
}

function cellOf(element: object, column: string): string {
  return showValue((element as Fields)[column], cellChars);
}

/** What was asked of an element; a matcher for the whole of it names no field. */
function fieldsOf(expected: unknown): Fields {
  if (isLike(expected)) return fieldsOf(expected.partial);
  return typeof expected === 'object' && expected !== null && !isAsymmetric(expected) ? (expected as Fields) : {};
}

function pick(element: object, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, (element as Fields)[field]]));
}

function topOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? '';
}

/** What a cell of the table does not show: something inside a field, or a long one. */
function isBeyondCell({ path, expected, actual }: Difference): boolean {
  return path !== topOf(path) || path === '' || [expected, actual].some((value) => showValue(value).length > cellChars);
}
