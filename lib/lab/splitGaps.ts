import type { StoredAttempt } from '../telemetry/attemptReader.js';

/** `[from the attempt's start, length]` in ms. */
export type Gap = readonly [number, number];

/** The first of the recorded waits, if it is the one for the first increment, and those after it; where nothing ever came, all there is is that one. */
export function splitGaps({ ttft_ms: ttftMs, record_gaps: records }: Pick<StoredAttempt, 'ttft_ms' | 'record_gaps'>): { readonly first: Gap | undefined; readonly later: readonly Gap[] } {
  const [head] = records;
  const isFirst = head !== undefined && head[0] === 0 && (ttftMs === null || head[1] === ttftMs);
  return isFirst ? { first: head, later: records.slice(1) } : { first: undefined, later: records };
}
