import { errorFields, kindOf } from './kindOf.js';
import { isAsymmetric, isLike } from './asymmetric.js';

/** Where two values differ, for instance `stats.hedges` or `toolCalls[0].name`; `''` is the whole. Absent is `undefined`. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

interface Way {
  readonly path: string;
  /** Only the fields of `expected` count. */
  readonly partial: boolean;
  /** What is being compared further up, so that a circle ends. */
  readonly above: readonly (readonly [unknown, unknown])[];
}

/**
 * Every place where `actual` is not what was expected. Values are compared deeply: errors by name, code and message, absent
 * fields as `undefined`, objects without regard to their class. Matchers in `expected` decide for themselves.
 */
export function differencesOf(actual: unknown, expected: unknown, { partial = false } = {}): readonly Difference[] {
  return compare(actual, expected, { path: '', partial, above: [] });
}

function compare(actual: unknown, expected: unknown, way: Way): readonly Difference[] {
  const differ = [{ path: way.path, expected, actual }];
  if (Object.is(actual, expected)) return [];
  if (isLike(expected)) return compare(actual, expected.partial, { ...way, partial: true });
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? [] : differ;
  if (way.above.some(([one, other]) => one === actual && other === expected)) return [];
  const inside: Way = { ...way, above: [...way.above, [actual, expected]] };
  const kind = kindOf(expected);
  if (kind === 'object' && way.partial && isObject(actual)) return compareFields(actual, expected as object, inside);
  if (kind !== kindOf(actual)) return differ;
  switch (kind) {
    case 'primitive':
    case 'function':
      return differ;
    case 'date':
    case 'regexp':
      return comparable(actual) === comparable(expected) ? [] : differ;
    case 'error':
      return compareFields(errorFields(actual), errorFields(expected), inside);
    case 'set':
      return compareSets(actual as Set<unknown>, expected as Set<unknown>) ? [] : differ;
    case 'map':
      return compareMaps(actual as Map<unknown, unknown>, expected as Map<unknown, unknown>) ? [] : differ;
    case 'list':
      return compareLists(actual as unknown[], expected as unknown[], inside);
    case 'bytes':
    case 'object':
      return compareFields(actual as object, expected as object, inside);
    default:
      return kind satisfies never;
  }
}

function compareFields(actual: object, expected: object, way: Way): readonly Difference[] {
  const keys = new Set([...Object.keys(expected), ...(way.partial ? [] : Object.keys(actual))]);
  return [...keys].flatMap((key) => compare(fieldOf(actual, key), fieldOf(expected, key), { ...way, path: pathTo(way.path, key) }));
}

function compareLists(actual: readonly unknown[], expected: readonly unknown[], way: Way): readonly Difference[] {
  const longer = Math.max(actual.length, expected.length);
  return Array.from({ length: longer }, (_, at) => {
    const path = `${way.path}[${at}]`;
    if (at >= actual.length || at >= expected.length) return [{ path, expected: expected[at], actual: actual[at] }];
    return compare(actual[at], expected[at], { ...way, path });
  }).flat();
}

function compareSets(actual: ReadonlySet<unknown>, expected: ReadonlySet<unknown>): boolean {
  return actual.size === expected.size && [...expected].every((one) => actual.has(one) || [...actual].some((other) => same(other, one)));
}

function compareMaps(actual: ReadonlyMap<unknown, unknown>, expected: ReadonlyMap<unknown, unknown>): boolean {
  return compareSets(new Set(actual), new Set(expected));
}

export function same(actual: unknown, expected: unknown): boolean {
  return differencesOf(actual, expected).length === 0;
}

function comparable(value: unknown): string {
  return value instanceof Date || kindOf(value) === 'date' ? String((value as Date).getTime()) : String(value);
}

function fieldOf(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function pathTo(path: string, key: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
