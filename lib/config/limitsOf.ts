import type { SourceLimits } from '../model/source.js';
import type { ResolvedSource } from './settings.js';

/** The limits of an attempt at this source, as the source port has them. */
export function limitsOf({ timeoutS, ttftTimeoutS, interTokenTimeoutS }: ResolvedSource): Required<SourceLimits> {
  return { timeoutMs: secondsToMs(timeoutS), ttftTimeoutMs: secondsToMs(ttftTimeoutS), interTokenTimeoutMs: secondsToMs(interTokenTimeoutS) };
}

/** Seconds of a setting in milliseconds, without the noise of binary fractions (1.005 s is 1005 ms). */
export function secondsToMs(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e3;
}
