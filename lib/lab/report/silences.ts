import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { splitGaps } from '../splitGaps.js';
import type { Gap } from '../splitGaps.js';

// Offset, length and latency of a row are each cut to whole milliseconds.
const truncationMs = 2;

/**
 * The recorded silences in mid-stream, `[from the attempt's start, length]`: those after the first increment, the tail only
 * where it cut the stream off (M4). None where nothing ever came, or all of it at once.
 */
export function midSilences({ outcome, ttft_ms, max_inter_token_ms, record_gaps }: StoredAttempt): readonly Gap[] {
  if (ttft_ms === null) return [];
  const { later } = splitGaps({ ttft_ms, record_gaps });
  if (outcome === 'error') return later;
  // A tail is recorded only where it is longer than every gap between increments.
  return max_inter_token_ms === null ? [] : later.filter(([, lengthMs]) => lengthMs <= max_inter_token_ms);
}

/** The longest silence in mid-stream of an attempt that had begun to speak; `undefined` if it had not, or if there was but one increment. */
export function longestSilenceMs(attempt: StoredAttempt): number | undefined {
  const { streamed, outcome, ttft_ms, max_inter_token_ms } = attempt;
  if (!streamed || ttft_ms === null) return undefined;
  if (outcome === 'ok') return max_inter_token_ms ?? undefined;
  return midSilences(attempt).reduce((longestMs, [, lengthMs]) => Math.max(longestMs, lengthMs), 0);
}

/** The silence that the end of an attempt cut off, if it was the longest of its stream: a shorter one is not recorded. */
export function cutSilenceMs(attempt: StoredAttempt): number {
  const [offsetMs, lengthMs] = midSilences(attempt).at(-1) ?? [0, 0];
  return offsetMs + lengthMs >= (attempt.latency_ms ?? 0) - truncationMs ? lengthMs : 0;
}
