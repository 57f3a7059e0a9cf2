/** Values at growing shares by nearest rank: the smallest with at least that share at or below it. Reorders `values`. */
export function percentiles(values: Float64Array, shares: readonly number[]): number[] {
  let from = 0;
  return shares.map((share) => {
    const rank = Math.min(values.length - 1, Math.max(0, Math.ceil(share * values.length) - 1));
    from = Math.min(from, rank);
    selectRank(values, rank, from);
    from = rank;
    return values[rank] ?? 0;
  });
}

/** Brings the value of a rank to its place, with none greater before it and none smaller after; what is before `from` is in place. */
function selectRank(values: Float64Array, rank: number, from: number): void {
  let left = from;
  let right = values.length - 1;
  while (left < right) {
    const pivot = values[(left + right) >>> 1] ?? 0;
    let low = left;
    let high = right;
    while (low <= high) {
      while ((values[low] ?? 0) < pivot) low += 1;
      while ((values[high] ?? 0) > pivot) high -= 1;
      if (low <= high) {
        const swapped = values[low] ?? 0;
        values[low++] = values[high] ?? 0;
        values[high--] = swapped;
      }
    }
    if (rank <= high) right = high;
    else if (rank >= low) left = low;
    else return;
  }
}
