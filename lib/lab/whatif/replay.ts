import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { splitGaps } from '../splitGaps.js';
import type { Gap } from '../splitGaps.js';

/** What a hedge signal sees of an attempt. */
export interface Silences {
  /** The wait for the first increment; the whole attempt where none came. */
  readonly firstMs: number;
  /** Of the later waits, the tail included, those that are longer than each before them. */
  readonly gaps: readonly Gap[];
}

/** Reads the silences of a stored attempt; what is not streamed has only a first wait (H2). */
export function silencesOf(attempt: StoredAttempt): Silences {
  const { streamed, ttft_ms: ttftMs, latency_ms: latencyMs } = attempt;
  const { first, later } = splitGaps(attempt);
  return { firstMs: ttftMs ?? (streamed && first !== undefined ? first[1] : (latencyMs ?? 0)), gaps: streamed ? later : [] };
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
