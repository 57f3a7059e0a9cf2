import type { ReportFigures, SourceFigures } from '../../report/reportFigures.js';
import type { WhatIf } from '../../whatif/whatIf.js';
import { element, paragraph } from './element.js';
import { silentMs } from './timeParts.js';
import { extraOf, thresholdWords } from './predictionWords.js';
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

function silenceAnswer({ overall }: ReportFigures): Answer {
  const { attempts, measuredMs, stallMs, firstWaitMs, cutSilentMs } = overall;
  const question = 'How much time did silence cost?';
  if (measuredMs === 0) return { question, figure: 'Not measured', sentence: `Silence is known of none of ${counted(attempts, 'attempt')}${cutSilentMs > 0 ? `, but cut ones were silent for at least ${duration(cutSilentMs)}` : ''}.` };
  const cut = cutSilentMs > 0 ? ` Attempts that were cut had been silent for at least ${duration(cutSilentMs)} more.` : '';
  return {
    question,
    figure: percent(stallMs / measuredMs),
    sentence: `Silence took ${percent(stallMs / measuredMs)} of the measured time: ${duration(stallMs)} of ${duration(measuredMs)}. The wait for the first words took another ${percent(firstWaitMs / measuredMs)} (${duration(firstWaitMs)}).${cut}`,
  };
}

function sourceAnswer({ sources, overall }: ReportFigures): Answer {
  const question = 'Which source most?';
  const most = quietest(sources);
  if (most === undefined || silentMs(most.time) === 0) return { question, figure: 'None', sentence: 'No source is known to have fallen silent in mid-stream.' };
  const { time } = most;
  const own = ratio(time.stallMs, time.measuredMs);
  return {
    question,
    figure: most.source,
    sentence: `It was silent for ${duration(silentMs(time))}, ${percent(ratio(silentMs(time), silentMs(overall)))} of all known silence${own === null ? '' : `; of its own measured time silence takes ${percent(own)}`}.`,
  };
}

/** The source with the most known silence. */
export function quietest(sources: readonly SourceFigures[]): SourceFigures | undefined {
  return [...sources].sort((a, b) => silentMs(b.time) - silentMs(a.time))[0];
}

function hedgeAnswer({ hedges, calls }: ReportFigures): Answer {
  const question = 'What did hedging do?';
  const backups = hedges.started.first_increment + hedges.started.stall;
  if (backups === 0) return { question, figure: 'No backup', sentence: `None of ${counted(calls.calls, 'call')} had one: hedging was off, or was never needed.` };
  const tokens = hedges.losers.tokensReported + hedges.losers.tokensEstimated;
  const cost = tokens > 0 ? ` Losers cost about ${count(tokens)} tokens${hedges.winnersTokens > 0 ? `, ${percent(tokens / hedges.winnersTokens)} of what winners used` : ''}.` : '';
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
  const extra = extraOf(prediction, maxExtraOf);
  return {
    question,
    figure: thresholdWords(prediction),
    sentence: `A backup after that much silence is predicted to bring p95 to ${duration(value)} (${duration(low)} to ${duration(high)}), from ${duration(unhedged.p95Ms.value)} without hedging, for ${percent(extra.band?.value ?? null)} more ${extra.of}.`,
  };
}
