import { errorFields, fieldNamesOf, kindOf, tagOf } from './kindOf.js';
import type { Told } from './kindOf.js';
import { isAsymmetric, isLike } from './asymmetric.js';
import { matchUp } from './matchUp.js';
import { pathTo } from './pathTo.js';
import { showTime } from './showTime.js';

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

/** Nobody reads more. */
const most = 1000;

/**
 * The places where `actual` is not what was expected. Values are compared deeply: errors by name, code and message, absent
 * fields as `undefined`, objects without regard to their class; those of a class that keeps all it has to itself by identity.
 * Matchers in `expected` decide for themselves.
 */
export function differencesOf(actual: unknown, expected: unknown, { partial = false } = {}): readonly Difference[] {
  const found: Difference[] = [];
  for (const difference of compare(actual, expected, { path: '', partial, above: [] })) {
    if (found.push(difference) === most) break;
  }
  return found;
}

export function same(actual: unknown, expected: unknown, { partial = false } = {}): boolean {
  return compare(actual, expected, { path: '', partial, above: [] }).next().done === true;
}

function* compare(actual: unknown, expected: unknown, way: Way): Generator<Difference, void, undefined> {
  if (Object.is(actual, expected)) return;
  if (isLike(expected)) return yield* compare(actual, expected.partial, { ...way, partial: true });
  const differ = { path: way.path, expected, actual };
  if (isAsymmetric(expected)) {
    if (!expected.asymmetricMatch(actual)) yield differ;
    return;
  }
  if (way.above.some(([one, other]) => one === actual && other === expected)) return;
  const inside: Way = { ...way, above: [...way.above, [actual, expected]] };
  const kind = kindOf(expected);
  if (kind === 'object' && way.partial && typeof actual === 'object' && actual !== null) return yield* compareFields(actual, expected as object, inside);
  if (kind !== kindOf(actual) || (kind !== 'error' && tagOf(actual) !== tagOf(expected))) return yield differ;
  switch (kind) {
    case 'primitive':
    case 'function':
    case 'opaque':
      return yield differ;
    case 'date':
    case 'boxed':
      if (!Object.is((actual as object).valueOf(), (expected as object).valueOf())) yield differ;
      return;
    case 'regexp':
    case 'url':
      if (String(actual) !== String(expected)) yield differ;
      return;
    case 'error':
      return yield* compareFields(errorFields(actual), errorFields(expected), inside);
    case 'set':
      return yield* compareMembers([...(actual as Set<unknown>)], [...(expected as Set<unknown>)], 'member', inside);
    case 'map':
      return yield* compareMaps(actual as Map<unknown, unknown>, expected as Map<unknown, unknown>, inside);
    case 'stream':
      return yield* compareStreams(actual as Told[], expected as Told[], inside);
    case 'list':
      return yield* compareLists(actual as unknown[], expected as unknown[], inside);
    case 'pairs':
      return yield* compareLists([...(actual as Iterable<unknown>)], [...(expected as Iterable<unknown>)], inside);
    case 'bytes':
      return yield* compareBytes(actual as ArrayBufferView | ArrayBuffer, expected as ArrayBufferView | ArrayBuffer, inside);
    case 'object':
      return yield* compareFields(actual as object, expected as object, inside);
    default:
      return kind satisfies never;
  }
}

function* compareFields(actual: object, expected: object, way: Way): Generator<Difference, void, undefined> {
  const keys = new Set([...fieldNamesOf(expected), ...(way.partial ? [] : fieldNamesOf(actual))]);
  for (const key of keys) {
    // What a class gives to all counts where it was asked for.
    const came = way.partial || Object.hasOwn(actual, key) ? (actual as Record<string | symbol, unknown>)[key] : undefined;
    const wanted = Object.hasOwn(expected, key) ? (expected as Record<string | symbol, unknown>)[key] : undefined;
    yield* compare(came, wanted, { ...way, path: pathTo(way.path, key) });
  }
}

function* compareLists(actual: readonly unknown[], expected: readonly unknown[], way: Way): Generator<Difference, void, undefined> {
  const longer = Math.max(actual.length, expected.length);
  for (let at = 0; at < longer; at += 1) {
    const path = `${way.path}[${at}]`;
    if (at >= actual.length || at >= expected.length) yield { path, expected: expected[at], actual: actual[at] };
    else yield* compare(actual[at], expected[at], { ...way, path });
  }
}

/** Element by element would be slow for what is large: the first that differs is told. */
function* compareBytes(actual: ArrayBufferView | ArrayBuffer, expected: ArrayBufferView | ArrayBuffer, { path }: Way): Generator<Difference, void, undefined> {
  const [came, wanted] = [elementsOf(actual), elementsOf(expected)];
  const shorter = Math.min(came.length, wanted.length);
  let at = 0;
  while (at < shorter && Object.is(came[at], wanted[at])) at += 1;
  if (at < Math.max(came.length, wanted.length)) yield { path: `${path}[${at}]`, expected: wanted[at], actual: came[at] };
}

function elementsOf(bytes: ArrayBufferView | ArrayBuffer): ArrayLike<unknown> {
  if (!ArrayBuffer.isView(bytes)) return new Uint8Array(bytes);
  return 'length' in bytes ? (bytes as Uint8Array) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function* compareMembers(actual: readonly unknown[], expected: readonly unknown[], name: string, way: Way): Generator<Difference, void, undefined> {
  const { partial } = way;
  const places = matchUp(expected, actual, (one, other) => same(one, other, { partial }));
  const missing = places.indexOf(undefined);
  if (missing < 0 && actual.length === expected.length) return;
  const over = actual.findIndex((_, at) => !places.includes(at));
  yield { path: pathTo(way.path, name), expected: expected[missing], actual: actual[over] };
}

/** Keys that are objects are compared deeply too. */
function* compareMaps(actual: ReadonlyMap<unknown, unknown>, expected: ReadonlyMap<unknown, unknown>, way: Way): Generator<Difference, void, undefined> {
  const isSimple = (key: unknown): boolean => kindOf(key) === 'primitive';
  const [simple, others] = [[...new Set([...expected.keys(), ...actual.keys()])].filter(isSimple), [actual, expected].map((map) => [...map].filter(([key]) => !isSimple(key)))];
  for (const key of simple) {
    const has = { expected: expected.has(key), actual: actual.has(key) };
    if (has.expected === has.actual) yield* compare(actual.get(key), expected.get(key), { ...way, path: pathTo(way.path, 'get', key) });
    else yield { path: pathTo(way.path, 'has', key), ...has };
  }
  yield* compareMembers(others[0] ?? [], others[1] ?? [], 'entry', way);
}

/** Of two streams that say the same things at the same times, what they say; else they differ as a whole. */
function* compareStreams(actual: readonly Told[], expected: readonly Told[], way: Way): Generator<Difference, void, undefined> {
  const path = `${way.path === '' ? '' : `${way.path} `}inner stream`;
  const isAlike = actual.length === expected.length && expected.every(({ frame, notification }, at) => frame === actual[at]?.frame && notification.kind === actual[at].notification.kind);
  if (!isAlike) return yield { path, expected, actual };
  for (const [at, { frame, notification: wanted }] of expected.entries()) {
    const came = actual[at]?.notification;
    const said = wanted.kind === 'E' ? 'error' : 'value';
    yield* compare(came?.[said], wanted[said], { ...way, path: `${path} at ${showTime(frame)}` });
  }
}
