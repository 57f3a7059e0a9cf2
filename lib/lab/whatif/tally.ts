import type { CallShape } from './callShape.js';

/** Counts, over all calls and in small memory, who would have been hedged at which thresholds. */
export interface Tally {
  readonly calls: number;
  /** The longest first wait and the longest later one. */
  readonly longest: { readonly firstMs: number; readonly gapMs: number };
  add(this: void, call: CallShape): void;
  /** Thresholds must be of the grids; `null`: never. `hidden`: calls of which a hedge of the time hides it. */
  count(this: void, hedgeAfterMs: number | null, hedgeStallAfterMs: number | null): { readonly hedged: number; readonly hidden: number };
}

/** A call is hedged where its longest wait of either kind exceeds that kind's threshold, so one count per pair of steps is enough. */
export function createTally(afterGrid: readonly number[], stallGrid: readonly number[]): Tally {
  const width = stallGrid.length + 1;
  const all = new Float64Array((afterGrid.length + 1) * width);
  const hidden = new Float64Array(all.length);
  const longest = { firstMs: 0, gapMs: 0 };
  let calls = 0;

  function countAbove(cells: Float64Array, first: number, gap: number): number {
    return cells.reduce((sum, cell, at) => (Math.floor(at / width) >= first || at % width >= gap ? sum + cell : sum), 0);
  }

  return {
    get calls() {
      return calls;
    },
    longest,
    add(call) {
      calls += 1;
      longest.firstMs = Math.max(longest.firstMs, call.longestFirstMs);
      longest.gapMs = Math.max(longest.gapMs, call.longestGapMs);
      const cell = stepsBelow(afterGrid, call.longestFirstMs) * width + stepsBelow(stallGrid, call.longestGapMs);
      all[cell] = (all[cell] ?? 0) + 1;
      if (call.hidden) hidden[cell] = (hidden[cell] ?? 0) + 1;
    },
    count(hedgeAfterMs, hedgeStallAfterMs) {
      const first = hedgeAfterMs === null ? Infinity : afterGrid.indexOf(hedgeAfterMs) + 1;
      const gap = hedgeStallAfterMs === null ? Infinity : stallGrid.indexOf(hedgeStallAfterMs) + 1;
      const hiddenCalls = hidden.reduce((sum, cell) => sum + cell, 0);
      return { hedged: countAbove(all, first, gap), hidden: hiddenCalls - countAbove(hidden, first, gap) };
    },
  };
}

/** How many steps of the growing grid are exceeded. */
function stepsBelow(grid: readonly number[], valueMs: number): number {
  const at = grid.findIndex((stepMs) => valueMs <= stepMs);
  return at === -1 ? grid.length : at;
}
