import type { CallStats } from '../model/response.js';
import { isRecord } from '../operators/stallMetrics.js';
import type { StallFigures } from '../operators/stallMetrics.js';

/** Figures of one attempt in whole milliseconds. */
export interface AttemptFigures {
  wallMs: number;
  generationMs: number;
  ttftMs: number | null;
  stallMs: number | null;
  stallCount: number | null;
  maxInterTokenMs: number | null;
}

const truncOrNull = (ms: number | null): number | null => (ms === null ? null : Math.trunc(ms));

/**
 * The one place where times become whole milliseconds (M3): wall = generation + stall where stall is not `null`.
 * What came in one piece (`streamed: false`) has no first increment to wait for, only an end; silence within it, or within
 * what was not answered, has no meaning (M2).
 */
export function toFigures(figures: StallFigures, endMs: number, { streamed, answered }: { streamed: boolean; answered: boolean }): AttemptFigures {
  const watched = streamed && answered;
  const wallMs = Math.trunc(endMs - figures.startMs);
  const stallMs = watched ? truncOrNull(figures.stallMs) : null;
  return {
    wallMs,
    generationMs: Math.max(0, wallMs - (stallMs ?? 0)),
    ttftMs: streamed ? truncOrNull(figures.firstMs) : null,
    stallMs,
    stallCount: watched ? figures.stallCount : null,
    maxInterTokenMs: watched ? truncOrNull(figures.maxGapMs) : null,
  };
}

/** The record gaps in whole milliseconds, with the wait from the last increment to the attempt's end (interface: `record_gaps`). */
export function withTail(figures: StallFigures, endMs: number): (readonly [number, number])[] {
  const tailMs = endMs - figures.lastMs;
  const tail: (readonly [number, number])[] = isRecord(tailMs, figures.maxGapMs) ? [[figures.lastMs - figures.startMs, tailMs]] : [];
  return [...figures.recordGaps, ...tail].map(([offsetMs, gapMs]) => [Math.trunc(offsetMs), Math.trunc(gapMs)] as const);
}

/** Stats of a call are those of its winning attempt (M5), beside the call's own counts. */
export function toCallStats(winner: AttemptFigures, counts: Omit<CallStats, 'generationMs' | 'stallMs' | 'stallCount'>): CallStats {
  return { generationMs: winner.generationMs, stallMs: winner.stallMs, stallCount: winner.stallCount, ...counts };
}
