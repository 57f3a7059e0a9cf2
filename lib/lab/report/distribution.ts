import type { Distribution } from './reportFigures.js';

/** Counts whole milliseconds as they come; holds each distinct value once. */
export interface Tally {
  add(valueMs: number): void;
  distribution(): Distribution;
}

/** How often each value was seen, growing. */
type Counts = readonly (readonly [valueMs: number, count: number])[];

const mostPoints = 200;

export function createTally(): Tally {
  const counts = new Map<number, number>();
  let count = 0;
  let sumMs = 0;
  return {
    add(valueMs) {
      counts.set(valueMs, (counts.get(valueMs) ?? 0) + 1);
      count += 1;
      sumMs += valueMs;
    },
    distribution() {
      const sorted: Counts = [...counts].sort(([a], [b]) => a - b);
      const [p50Ms = null, p90Ms = null, p95Ms = null, p99Ms = null] = ranked(sorted, [50, 90, 95, 99].map((percent) => Math.ceil((percent * count) / 100)));
      return { count, meanMs: count === 0 ? null : sumMs / count, p50Ms, p90Ms, p95Ms, p99Ms, maxMs: sorted.at(-1)?.[0] ?? null, cdf: cdfOf(sorted, count) };
    },
  };
}

/** The values at the given ranks, which grow and begin with 1. */
function ranked(sorted: Counts, ranks: readonly number[]): number[] {
  const found: number[] = [];
  let passed = 0;
  for (const [valueMs, count] of sorted) {
    passed += count;
    while (passed >= (ranks[found.length] ?? Infinity)) found.push(valueMs);
  }
  return found;
}

/** Each share is exact at its value. Where there are too many values, those are left that are the last before one of some marks. */
function cdfOf(sorted: Counts, total: number): Distribution['cdf'] {
  const marks = sorted.length <= mostPoints ? undefined : marksOf(sorted);
  let passed = 0;
  let mark = 0;
  return sorted.flatMap(([valueMs, count], at) => {
    passed += count;
    const nextMs = sorted[at + 1]?.[0];
    while ((marks?.[mark] ?? Infinity) < valueMs) mark += 1;
    const isKept = marks === undefined || at === 0 || nextMs === undefined || (marks[mark] ?? Infinity) < nextMs;
    return isKept ? [[valueMs, passed / total] as const] : [];
  });
}

/** Even on a log scale. The first value and the last are points in any case, whatever rounding makes of these. */
function marksOf(sorted: Counts): readonly number[] {
  const from = Math.log(Math.max(1, sorted[0]?.[0] ?? 1));
  const to = Math.log(sorted.at(-1)?.[0] ?? 1);
  const count = mostPoints - 2;
  return Array.from({ length: count }, (_, step) => Math.exp(from + ((to - from) * step) / count));
}
