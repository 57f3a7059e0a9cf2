/** Things with a level each, one of which can be drawn from those above a level. */
export interface Pool<T> {
  readonly size: number;
  /** The weight of all; their number where none are set. */
  total(this: void): number;
  /** One of those strictly above `level`, by weight; `undefined` where there is none. */
  draw(this: void, random: () => number, above?: number): T | undefined;
  /** From now on each counts as often as its group does; without weights each counts once. */
  weigh(this: void, weightOfGroup: ArrayLike<number> | undefined): void;
}

export interface Member<T> {
  readonly value: T;
  readonly level: number;
  readonly group: number;
}

/**
 * The at-risk sets of a Kaplan-Meier estimate: whoever was cut at a level draws one of those that came further; if that one
 * was cut too, it draws again from there. Chances follow Efron's redistribution to the right, so nobody is dropped.
 */
export function createPool<T>(members: readonly Member<T>[]): Pool<T> {
  const sorted = [...members].sort((a, b) => a.level - b.level);
  const levels = Float64Array.from(sorted, ({ level }) => level);
  const groups = Int32Array.from(sorted, ({ group }) => group);
  const sums = new Float64Array(sorted.length + 1);

  function weigh(weightOfGroup: ArrayLike<number> | undefined): void {
    for (let at = 0; at < groups.length; at++) sums[at + 1] = (sums[at] ?? 0) + (weightOfGroup === undefined ? 1 : (weightOfGroup[groups[at] ?? 0] ?? 0));
  }

  function draw(random: () => number, above = -Infinity): T | undefined {
    const from = firstAbove(levels, above, 0);
    const low = sums[from] ?? 0;
    const weight = (sums[sorted.length] ?? 0) - low;
    // A resample may lack all of them; then those of the sample serve.
    const at = weight > 0 ? firstAbove(sums, low + random() * weight, from) - 1 : from + Math.floor(random() * (sorted.length - from));
    return sorted[at]?.value;
  }

  weigh(undefined);
  return { size: sorted.length, total: () => sums[sorted.length] ?? 0, draw, weigh };
}

/** The first index from `from` on whose value is greater; the length where none is. */
function firstAbove(ascending: Float64Array, value: number, from: number): number {
  let low = from;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
