import type { StoredAttempt } from '../../telemetry/attemptReader.js';

/** `[offset, length]` in ms, counted from the attempt's start. */
export type Gap = readonly [number, number];

/** What a hedge signal sees of an attempt. */
export interface Silences {
  /** The wait for the first increment; the whole attempt where none came. */
  readonly firstMs: number;
  /** Of the later waits, the tail included, those that are longer than each before them. */
  readonly gaps: readonly Gap[];
}

/** Reads the silences of a stored attempt; what is not streamed has only a first wait (H2). */
export function silencesOf({ streamed, ttft_ms: ttftMs, latency_ms: latencyMs, record_gaps: records }: StoredAttempt): Silences {
  const [head] = records;
  const headIsFirst = head !== undefined && head[0] === 0 && (ttftMs === null || head[1] === ttftMs);
  const firstMs = ttftMs ?? (streamed && headIsFirst ? head[1] : (latencyMs ?? 0));
  return { firstMs, gaps: streamed ? records.slice(headIsFirst ? 1 : 0) : [] };
}

/**
 * When a backup would have been asked for, in ms after the attempt's start (H1); `Infinity`: never. An unset threshold is
 * `Infinity`. A silence that is just as long as the threshold does not count, since what ends it wins (T4). Signals before `fromMs` are passed over.
 */
export function triggerMs({ firstMs, gaps }: Silences, afterMs: number, stallAfterMs: number, fromMs = 0): number {
  if (firstMs > afterMs && afterMs >= fromMs) return afterMs;
  // The last is the longest. An index, since this runs millions of times.
  const count = (gaps.at(-1)?.[1] ?? 0) > stallAfterMs ? gaps.length : 0;
  for (let at = 0; at < count; at++) {
    const gap = gaps[at] as Gap;
    if (gap[1] > stallAfterMs && gap[0] + stallAfterMs >= fromMs) return gap[0] + stallAfterMs;
  }
  return Infinity;
}
