/** An expected thing beside what came in its place; one of the two may be missing. */
export interface Pair<E, A> {
  readonly expected?: E;
  readonly actual?: A;
  readonly same: boolean;
}

/** Two lists side by side: what they begin and end with in common is matched, the rest between in order. */
export function pairUp<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): readonly Pair<E, A>[] {
  const shorter = Math.min(expected.length, actual.length);
  const matches = (at: number, from: 0 | 1): boolean => {
    const [one, other] = from === 0 ? [actual[at], expected[at]] : [actual.at(-1 - at), expected.at(-1 - at)];
    return isSame(one as A, other as E);
  };
  const head = countWhile(shorter, (at) => matches(at, 0));
  const tail = countWhile(shorter - head, (at) => matches(at, 1));
  const [wanted, came] = [expected.slice(head, expected.length - tail), actual.slice(head, actual.length - tail)];
  return [
    ...zip(expected.slice(0, head), actual.slice(0, head), () => true),
    ...zip(wanted, came, isSame),
    ...zip(expected.slice(expected.length - tail), actual.slice(actual.length - tail), () => true),
  ];
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
