import type { ReportFigures, SourceFigures, TimeSplit } from '../../report/reportFigures.js';
import { failedOf } from '../../report/outcomes.js';
import { knownSilenceMs } from '../../report/timeSplit.js';
import { extraCost } from '../../whatif/extraCost.js';
import type { WhatIf } from '../../whatif/whatIf.js';
import { element, paragraph } from './element.js';
import { losersCost } from './hedgesFigures.js';
import { thresholdWords } from './predictionWords.js';
import { count, counted, duration, percent, ratio } from './words.js';

interface Answer {
  readonly question: string;
  readonly figure: string;
  readonly sentence: string;
}

/** The answers that a reader came for, each a figure and a sentence. */
export function headline(figures: ReportFigures, whatIf: WhatIf | undefined): HTMLElement {
  const answers = [silenceAnswer(figures), sourceAnswer(figures), hedgeAnswer(figures), ...(whatIf ? [whatIfAnswer(whatIf)] : [])];
  return element('div', { class: 'answers' }, ...answers.map(tile));
}

function tile({ question, figure, sentence }: Answer): HTMLElement {
  return element('div', { class: 'answer' }, paragraph(question, { class: 'question' }), paragraph(figure, { class: 'figure' }), paragraph(sentence));
}

// From here on cut attempts had so much of all time that a share of the measured time alone would mislead.
const muchCut = 0.2;

function silenceAnswer(figures: ReportFigures): Answer {
  const { measuredMs, stallMs, firstWaitMs, cutMs, wallMs } = figures.overall;
  const question = 'How much time did silence cost?';
  const cut = cutWords(figures);
  if (measuredMs === 0) return { question, figure: 'Not measured', sentence: [unmeasuredWords(figures), ...cut].join(' ') };
  const share = percent(stallMs / measuredMs);
  const measured = [
    `Silence took ${share} of the measured time: ${duration(stallMs)} of ${duration(measuredMs)}.`,
    `The wait for the first words took another ${percent(firstWaitMs / measuredMs)} (${duration(firstWaitMs)}).`,
  ];
  return cutMs < wallMs * muchCut
    ? { question, figure: share, sentence: [...measured, ...cut].join(' ') }
    : { question, figure: `${share} of the measured time`, sentence: [...cut, ...measured].join(' ') };
}

function unmeasuredWords({ overall: { attempts }, longestSilence }: ReportFigures): string {
  const known = longestSilence.count > 0 ? '; the longest silences of streams are, and stand below' : '';
  return `How much time silence took is known of none of ${counted(attempts, 'attempt')}${known}.`;
}

/** What cut attempts lost, and how many failed. */
function cutWords({ overall, outcomes }: ReportFigures): string[] {
  const failed = failedOf(outcomes);
  const { attempts, neverSpoke, cutFirstWaitMs, cutSilentMs, wallMs } = overall;
  return [
    ...(failed > 0 ? [`${count(failed)} of ${counted(attempts, 'attempt')} failed.`] : []),
    ...(waitMatters(overall)
      ? [`Cut attempts waited ${duration(cutFirstWaitMs)} for first words (${percent(ratio(cutFirstWaitMs, wallMs))} of all time)${neverSpoke > 0 ? `; ${count(neverSpoke)} of them never got any` : ''}.`]
      : []),
    ...(cutSilentMs > 0 ? [`Cut attempts ended in at least ${duration(cutSilentMs)} of silence in mid-stream.`] : []),
  ];
}

/** Whether waiting for words that were cut is worth a sentence. */
export const waitMatters = ({ cutFirstWaitMs, wallMs }: TimeSplit): boolean => cutFirstWaitMs >= wallMs * 0.005 && cutFirstWaitMs > 0;

function sourceAnswer({ sources, overall }: ReportFigures): Answer {
  const question = 'Which source most?';
  const most = mostOf(sources, knownSilenceMs);
  if (most === undefined || knownSilenceMs(most.time) === 0) return { question, figure: overall.measured === 0 ? 'Not known' : 'None', sentence: `${noSilence(sources, overall)}.` };
  const { time } = most;
  const own = ratio(time.stallMs, time.measuredMs);
  return {
    question,
    figure: most.source,
    sentence: `It was silent for ${duration(knownSilenceMs(time))}, ${percent(ratio(knownSilenceMs(time), knownSilenceMs(overall)))} of all known silence${own === null ? '' : `; of its own measured time silence takes ${percent(own)}`}.`,
  };
}

/** What to say where no silence is known. */
export function noSilence(sources: readonly SourceFigures[], overall: TimeSplit): string {
  const silence = overall.measured === 0 ? 'At no source is it known how much time silence took' : 'No source is known to have fallen silent in mid-stream';
  const slowest = mostOf(sources, ({ cutFirstWaitMs }) => cutFirstWaitMs);
  if (slowest === undefined || !waitMatters(overall)) return silence;
  return `${silence}; at ${slowest.source} cut attempts waited ${duration(slowest.time.cutFirstWaitMs)} for first words`;
}

/** The source with the most of a time. */
export function mostOf(sources: readonly SourceFigures[], ms: (time: TimeSplit) => number): SourceFigures | undefined {
  return [...sources].sort((a, b) => ms(b.time) - ms(a.time))[0];
}

function hedgeAnswer({ hedges, calls }: ReportFigures): Answer {
  const question = 'What did hedging do?';
  const backups = hedges.started.first_increment + hedges.started.stall;
  if (backups === 0) return { question, figure: 'No backup', sentence: `None of ${counted(calls.calls, 'call')} had one: hedging was off, or was never needed.` };
  const cost = hedges.losers.attempts > 0 ? ` Cost of losers: ${losersCost(hedges)}.` : '';
  return {
    question,
    figure: `${count(hedges.won)} of ${count(backups)} won`,
    sentence: `${counted(hedges.calls, 'call')} of ${count(calls.calls)} had a backup; ${count(hedges.won)} backups won, ${count(hedges.wasted)} were wasted, ${count(hedges.failed)} failed.${cost}`,
  };
}

function whatIfAnswer({ recommendation, unhedged, maxExtra, maxExtraOf }: WhatIf): Answer {
  const question = 'Which threshold should I set?';
  if (recommendation === null) return { question, figure: 'None', sentence: `No threshold is recommended within the budget of ${percent(maxExtra)} more ${maxExtraOf}; the section below says why.` };
  const { prediction } = recommendation;
  const { value, low, high } = prediction.latency.p95Ms;
  const extra = extraCost(prediction, maxExtraOf);
  return {
    question,
    figure: thresholdWords(prediction),
    sentence: `A backup after that much silence is predicted to bring p95 to ${duration(value)} (${duration(low)} to ${duration(high)}), from ${duration(unhedged.p95Ms.value)} without hedging, for ${percent(extra.band.value)} more ${extra.of}.`,
  };
}
