import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import type { TimeSplit } from './reportFigures.js';
import { cutSilenceMs } from './silences.js';

/** Figures that are being summed up. */
export type Sum<Figures> = { -readonly [Name in keyof Figures]: number };

export function noTime(): Sum<TimeSplit> {
  return { attempts: 0, wallMs: 0, measured: 0, measuredMs: 0, stallMs: 0, firstWaitMs: 0, cut: 0, neverSpoke: 0, cutMs: 0, cutFirstWaitMs: 0, cutSilentMs: 0, wholeMs: 0 };
}

export function timeOf(attempt: StoredAttempt): TimeSplit {
  const wallMs = attempt.latency_ms ?? 0;
  const time = { ...noTime(), attempts: 1, wallMs };
  if (attempt.stall_ms !== null) return { ...time, measured: 1, measuredMs: wallMs, stallMs: attempt.stall_ms, firstWaitMs: attempt.ttft_ms ?? 0 };
  if (attempt.streamed && attempt.outcome === 'error') {
    const neverSpoke = attempt.ttft_ms === null ? 1 : 0;
    return { ...time, cut: 1, neverSpoke, cutMs: wallMs, cutFirstWaitMs: attempt.ttft_ms ?? wallMs, cutSilentMs: cutSilenceMs(attempt) };
  }
  return { ...time, wholeMs: wallMs };
}

/** All silence in mid-stream that is known of: a source whose stalls are always cut is not a quiet one. */
export function knownSilenceMs({ stallMs, cutSilentMs }: Pick<TimeSplit, 'stallMs' | 'cutSilentMs'>): number {
  return stallMs + cutSilentMs;
}

export function addUp<Name extends string>(sum: Record<Name, number>, figures: Readonly<Record<Name, number>>): void {
  for (const name in sum) sum[name] += figures[name];
}
