/** Each item whose key an earlier item had, behind the first that had it. */
export function twins<T>(items: readonly T[], keyOf: (item: T) => string): (readonly [first: T, twin: T])[] {
  const firsts = new Map<string, T>();
  return items.flatMap((item) => {
    const key = keyOf(item);
    const first = firsts.get(key);
    if (first !== undefined) return [[first, item] as const];
    firsts.set(key, item);
    return [];
  });
}
