/** What is not a finite number does not count. */
export const median = (list) => {
  const sorted = ascending(list.filter(Number.isFinite));
  const half = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

/** The smallest element that at least the share `q` of the list does not exceed. */
export const quantile = (list, q) => {
  const sorted = ascending(list);
  return sorted.length === 0 ? NaN : sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
};

/**
 * The median over rounds of each contestant's ratio to `base` within the round: `[{ floor: 2, ours: 3 }, …]` to `{ floor: 1, ours: 1.5 }`.
 * Within the round, since the machine is not the same in the next one.
 */
export const ratioToBase = (rowsByRound, base) => {
  const names = [...new Set(rowsByRound.flatMap(Object.keys))];
  return Object.fromEntries(names.map((name) => [name, median(rowsByRound.map((round) => round[name] / round[base]))]));
};

// The default order of an array is that of text; that of a typed array is by size, and fast.
const ascending = (list) => Float64Array.from(list).sort();
