import type { TimeSplit } from '../../report/reportFigures.js';
import type { Paint } from './paints.js';

export const output: Paint = { name: 'output', colour: 'output', pattern: 'plain' };
export const firstWait: Paint = { name: 'wait for the first words', colour: 'first-wait', pattern: 'dotted' };
export const silence: Paint = { name: 'silence in mid-stream', colour: 'silence', pattern: 'rising' };
export const cutSilence: Paint = { name: 'cut attempts: silent at their end', colour: 'cut', pattern: 'rising' };
export const cutRest: Paint = { name: 'cut attempts: the rest', colour: 'cut', pattern: 'upright' };
export const whole: Paint = { name: 'whole answers, nothing known of their middle', colour: 'whole', pattern: 'plain' };

export interface Part {
  readonly paint: Paint;
  readonly value: number;
}

export const timePaints: readonly Paint[] = [silence, firstWait, output, cutSilence, cutRest, whole];

/** Whole-time parts in the order of `timePaints`; their sum is `wallMs`. */
export function timeParts(time: TimeSplit): Part[] {
  return [
    { paint: silence, value: time.stallMs },
    { paint: firstWait, value: time.firstWaitMs },
    { paint: output, value: outputMs(time) },
    { paint: cutSilence, value: time.cutSilentMs },
    { paint: cutRest, value: time.cutMs - time.cutSilentMs },
    { paint: whole, value: time.wholeMs },
  ].map(({ paint, value }) => ({ paint, value: Math.max(0, value) }));
}

/** What there is of the parts, for a legend. */
export const paintsIn = (time: TimeSplit): Paint[] => timeParts(time).flatMap(({ paint, value }) => (value > 0 ? [paint] : []));

const outputMs = ({ measuredMs, stallMs, firstWaitMs }: TimeSplit): number => measuredMs - stallMs - firstWaitMs;

/** Silence that is known: in mid-stream of answered streams, and at the end of those that were cut. */
export const silentMs = ({ stallMs, cutSilentMs }: TimeSplit): number => stallMs + cutSilentMs;
