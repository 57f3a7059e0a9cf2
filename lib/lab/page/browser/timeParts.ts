import type { TimeSplit } from '../../report/reportFigures.js';
import type { Paint } from './paints.js';

export const output: Paint = { name: 'output', colour: 'output', pattern: 'plain' };
export const firstWait: Paint = { name: 'wait for the first words', colour: 'first-wait', pattern: 'dotted' };
export const silence: Paint = { name: 'silence in mid-stream', colour: 'silence', pattern: 'rising' };
export const cutSilence: Paint = { name: 'cut attempts: silent at their end', colour: 'cut', pattern: 'rising' };
export const cutFirstWait: Paint = { name: 'cut attempts: waiting for first words', colour: 'cut', pattern: 'dotted' };
export const cutRest: Paint = { name: 'cut attempts: the rest', colour: 'cut', pattern: 'plain' };
export const whole: Paint = { name: 'attempts whose time in silence is not known', colour: 'whole', pattern: 'plain' };

export interface Part {
  readonly paint: Paint;
  readonly value: number;
}

export const timePaints: readonly Paint[] = [silence, firstWait, output, cutSilence, cutFirstWait, cutRest, whole];

/** Whole-time parts in the order of `timePaints`; their sum is `wallMs`. */
export function timeParts(time: TimeSplit): Part[] {
  return [
    { paint: silence, value: time.stallMs },
    { paint: firstWait, value: time.firstWaitMs },
    { paint: output, value: outputMs(time) },
    { paint: cutSilence, value: time.cutSilentMs },
    { paint: cutFirstWait, value: time.cutFirstWaitMs },
    { paint: cutRest, value: time.cutMs - time.cutSilentMs - time.cutFirstWaitMs },
    { paint: whole, value: time.wholeMs },
  ].map(({ paint, value }) => ({ paint, value: Math.max(0, value) }));
}

/** What there is of the parts, for a legend. */
export const paintsIn = (time: TimeSplit): Paint[] => timeParts(time).flatMap(({ paint, value }) => (value > 0 ? [paint] : []));

const outputMs = ({ measuredMs, stallMs, firstWaitMs }: TimeSplit): number => measuredMs - stallMs - firstWaitMs;

/** Sentences on the patterns among the parts; none where there is none. */
export function patternWords(time: TimeSplit): string {
  const seen = new Set(paintsIn(time).map(({ pattern }) => pattern));
  return `${seen.has('rising') ? ' Slanting lines mark silence.' : ''}${seen.has('dotted') ? ' Dots mark the wait for the first words.' : ''}`;
}
