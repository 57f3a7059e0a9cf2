/**
 * Finds for each expected one an actual one of its own, whatever their order; a matcher may take several, so that what was given
 * to another may have to be moved. The places of the actual ones by those of the expected; `undefined` where there is none.
 */
export function matchUp<E, A>(expected: readonly E[], actual: readonly A[], isSame: (actual: A, expected: E) => boolean): readonly (number | undefined)[] {
  const takenBy = new Map<number, number>();
  const place = (nth: number, tried: Set<number>): boolean => {
    const takes = (at: number): boolean => {
      if (at >= actual.length || tried.has(at) || !isSame(actual[at] as A, expected[nth] as E)) return false;
      tried.add(at);
      const holder = takenBy.get(at);
      if (holder !== undefined && !place(holder, tried)) return false;
      takenBy.set(at, nth);
      return true;
    };
    // Commonly they stand in the same order.
    return takes(nth) || actual.some((_, at) => at !== nth && takes(at));
  };
  // One that finds no place decides it: to look for the others would take long.
  expected.every((_, nth) => place(nth, new Set()));
  const places = new Map([...takenBy].map(([at, nth]) => [nth, at]));
  return expected.map((_, nth) => places.get(nth));
}
