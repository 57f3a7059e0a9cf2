/** An expected thing beside what came in its place; one of the two may be missing. */
export interface Pair<E, A> {
  readonly expected?: E;
  readonly actual?: A;
  readonly same: boolean;
}

/** To compare each with each would take too long above this. */
const mostComparisons = 10_000;

/** Two lists side by side: what they have in common in the same order is matched, the rest between in order. */
export function pairUp<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): readonly Pair<E, A>[] {
  const shorter = Math.min(expected.length, actual.length);
  const head = countWhile(shorter, (at) => isSame(actual[at] as A, expected[at] as E));
  const tail = countWhile(shorter - head, (at) => isSame(actual.at(-1 - at) as A, expected.at(-1 - at) as E));
  const between = <T>(list: readonly T[]): readonly T[] => list.slice(head, list.length - tail);
  return [
    ...zip(expected.slice(0, head), actual.slice(0, head), () => true),
    ...pairMiddle(between(expected), between(actual), isSame),
    ...zip(expected.slice(expected.length - tail), actual.slice(actual.length - tail), () => true),
  ];
}

/** Elements are moved against each other only where that explains more: of two that are swapped, each stands beside the other. */
function pairMiddle<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): readonly Pair<E, A>[] {
  const inOrder = zip(expected, actual, isSame);
  if (expected.length * actual.length > mostComparisons) return inOrder;
  const common = commonOf(expected, actual, isSame);
  const gain = common.length - inOrder.filter(({ same }) => same).length;
  if (gain === 0 || (gain === 1 && expected.length === actual.length)) return inOrder;
  return [...common, [expected.length, actual.length] as const].flatMap(([wantedAt, cameAt], nth) => {
    const [wantedFrom, cameFrom] = nth === 0 ? [0, 0] : (common[nth - 1] ?? [0, 0]).map((at) => at + 1);
    const matched = nth < common.length ? zip([expected[wantedAt] as E], [actual[cameAt] as A], () => true) : [];
    return [...zip(expected.slice(wantedFrom, wantedAt), actual.slice(cameFrom, cameAt), () => false), ...matched];
  });
}

/** The longest row of places that are the same in both lists. */
function commonOf<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): readonly (readonly [number, number])[] {
  const matches = expected.map((one) => actual.map((other) => isSame(other, one)));
  const lengths = Array.from({ length: expected.length + 1 }, () => new Array<number>(actual.length + 1).fill(0));
  const lengthAt = (at: number, other: number): number => lengths[at]?.[other] ?? 0;
  for (let at = expected.length - 1; at >= 0; at -= 1) {
    for (let other = actual.length - 1; other >= 0; other -= 1) {
      const length = matches[at]?.[other] === true ? lengthAt(at + 1, other + 1) + 1 : Math.max(lengthAt(at + 1, other), lengthAt(at, other + 1));
      lengths[at]?.splice(other, 1, length);
    }
  }
  const common: (readonly [number, number])[] = [];
  for (let at = 0, other = 0; at < expected.length && other < actual.length; ) {
    if (matches[at]?.[other] === true) common.push([at++, other++]);
    else if (lengthAt(at + 1, other) >= lengthAt(at, other + 1)) at += 1;
    else other += 1;
  }
  return common;
}

function zip<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): Pair<E, A>[] {
  return Array.from({ length: Math.max(expected.length, actual.length) }, (_, at) => {
    const wanted = at < expected.length ? { expected: expected[at] as E } : undefined;
    const came = at < actual.length ? { actual: actual[at] as A } : undefined;
    return { ...wanted, ...came, same: wanted !== undefined && came !== undefined && isSame(came.actual, wanted.expected) };
  });
}

function countWhile(limit: number, holds: (at: number) => boolean): number {
  let count = 0;
  while (count < limit && holds(count)) count += 1;
  return count;
}
