import type { ChatResponse } from '../../model/response.js';
import { inSeconds } from '../inSeconds.js';

/** A call in one line: who answered, and where the time went. */
export function callSummary({ source, callMs, latencyMs, finishReason, stats }: ChatResponse): string {
  const { generationMs, stallMs, stallCount, hedges, hedgeWon, attempts } = stats;
  const parts = [
    source,
    `wall ${inSeconds(latencyMs)}`,
    `net ${inSeconds(generationMs)}`,
    stallMs === null ? 'stall not measured' : `stall ${inSeconds(stallMs)}${stallMs > 0 ? ` (${stallCount ?? 0})` : ''}`,
    `hedges ${hedges}${hedgeWon ? ', a backup won' : ''}`,
    ...(attempts > 1 ? [`whole call ${inSeconds(callMs)}, ${attempts} requests`] : []),
    ...(finishReason === 'stop' ? [] : [`ended as ${finishReason}`]),
  ];
  return parts.join(' | ');
}
