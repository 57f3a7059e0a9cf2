import { extraCost } from '../../whatif/extraCost.js';
import { hedgeSettings } from '../../whatif/hedgeSettings.js';
import type { Band, Prediction, WhatIf } from '../../whatif/whatIf.js';
import type { Charts } from './charts.js';
import { element, paragraph } from './element.js';
import type { Child } from './element.js';
import { durationBand, rangeWords, thresholdWords } from './predictionWords.js';
import type { Section } from './section.js';
import { seriesLegend } from './series.js';
import { table } from './table.js';
import type { TableOptions } from './table.js';
import { tickTime } from './timeScale.js';
import { isAnyAffordable, kindLooks, whatIfPlot } from './whatIfPlot.js';
import { count, counted, duration, notMeasured, percent } from './words.js';

const kinds = [
  { key: 'first', name: 'silence before the first words', threshold: ({ hedgeAfterMs }: Prediction) => hedgeAfterMs },
  { key: 'stall', name: 'silence in mid-stream', threshold: ({ hedgeStallAfterMs }: Prediction) => hedgeStallAfterMs },
] as const;

export function whatIfSection(whatIf: WhatIf, scope: string, charts: Charts): Section {
  const { recommendation, maxExtra, maxExtraOf, warnings } = whatIf;
  const shown = kinds.filter(({ key }) => whatIf[key].length > 0);
  const tables = shown.map((kind) => element('div', {}, element('h3', {}, `A backup after ${kind.name}, the other kind off`), table(predictionTable(kind, whatIf))));
  return {
    id: 'whatif',
    short: 'Other thresholds',
    title: titleOf(whatIf),
    children: [
      ...(recommendation === null ? [] : [recommendationBox(recommendation.prediction, recommendation.reason, scope)]),
      ...(shown.length === 0 ? [] : isAnyAffordable(whatIf) ? [costFigure(shown, whatIf, charts)] : [paragraph(`Every threshold would cost more than four times the budget of ${percent(maxExtra)} more ${maxExtraOf}; the tables tell how much.`), table(observedTable(whatIf))]),
      ...tables,
      ...(warnings.length === 0 ? [] : [element('h3', {}, 'Before you believe it'), element('ul', { class: 'warnings' }, ...warnings.map((text) => element('li', {}, text)))]),
      element('h3', {}, 'How it was predicted'),
      ...assumptions(whatIf).map((text) => paragraph(text)),
    ],
  };
}

function titleOf({ recommendation, unhedged, maxExtraOf }: WhatIf): string {
  if (recommendation === null) return 'Other thresholds: none is recommended';
  const { prediction } = recommendation;
  const extra = extraCost(prediction, maxExtraOf);
  return `A backup after ${thresholdWords(prediction)} would bring p95 from ${duration(unhedged.p95Ms.value)} to ${duration(prediction.latency.p95Ms.value)} for ${percent(extra.band.value)} more ${extra.of}`;
}

function recommendationBox(prediction: Prediction, reason: string, scope: string): HTMLElement {
  return element('div', { class: 'recommendation' }, paragraph(reason), paragraph(`To set it: ${hedgeSettings(prediction, scope).join(' ')}. Nothing changes by itself.`));
}

type Kind = (typeof kinds)[number];

function costFigure(shown: readonly Kind[], whatIf: WhatIf, charts: Charts): HTMLElement {
  const { recommendation, confidence, maxExtra, maxExtraOf } = whatIf;
  const ring = recommendation === null ? '' : ' The ring is the recommendation.';
  return charts.figure({
    label: `Lines per kind of threshold: predicted p95 of call latency against extra ${maxExtraOf}, with bands`,
    caption: `Each sign is a threshold: further right costs more, further down is faster. The upright axis does not start at 0. Uprights are bands of ${percent(confidence)}; the level line is p95 without hedging, in its band; the dashed upright the budget of ${percent(maxExtra)}.${ring} What costs more than four times the budget stands in the tables alone.`,
    legend: seriesLegend(shown.map(({ key, name }) => ({ name: `after ${name}`, look: kindLooks[key] }))),
    draw: (width) => whatIfPlot({ width, whatIf }),
    numbers: observedTable(whatIf),
  });
}

function predictionTable({ name, key, threshold }: Kind, whatIf: WhatIf): TableOptions {
  return {
    caption: `Predictions for a backup after ${name}`,
    head: ['backup after', 'calls hedged', 'p50', 'p90', 'p95', 'p99', 'saved a call', 'saved of all', 'extra tokens', 'extra requests', 'fewer failed calls'],
    rows: whatIf[key].map((prediction) => [
      tickTime(threshold(prediction) ?? 0),
      twoLines(percent(prediction.hedgedShare), prediction.imputedShare > 0 ? `${percent(prediction.imputedShare)} imputed` : 'exact'),
      ...(['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms'] as const).map((percentile) => bandCell(prediction.latency[percentile], duration)),
      bandCell(prediction.savedMsPerCall, duration),
      bandCell(prediction.savedShare, percent),
      bandCell(prediction.extraTokensShare, percent),
      bandCell(prediction.extraRequestsShare, percent),
      bandCell(prediction.failedShare, percent),
    ]),
  };
}

const bandCell = (band: Band | null, words: (value: number) => string): Child => (band === null ? notMeasured : twoLines(words(band.value), rangeWords(band, words)));

const twoLines = (first: string, second: string): HTMLElement => element('span', {}, first, element('br'), element('small', {}, second));

function observedTable({ observed, unhedged }: WhatIf): TableOptions {
  const { p50Ms, p90Ms, p95Ms, p99Ms, hedgedShare, failedShare } = observed;
  return {
    caption: 'Call latency as it was, and without hedging',
    head: ['calls', 'p50', 'p90', 'p95', 'p99', 'calls hedged', 'calls failed'],
    rows: [
      ['as it was', ...[p50Ms, p90Ms, p95Ms, p99Ms].map(duration), percent(hedgedShare), percent(failedShare)],
      ['without hedging, predicted', ...[unhedged.p50Ms, unhedged.p90Ms, unhedged.p95Ms, unhedged.p99Ms].map(durationBand), percent(0), ''],
    ],
  };
}

function assumptions({ calls, attempts, sampledCalls, seed, resamples, confidence, maxExtra, maxExtraOf }: WhatIf): string[] {
  const sample = sampledCalls < calls ? `a seeded sample of ${count(sampledCalls)} of them` : 'all of them';
  return [
    `Read were ${counted(calls, 'call')} with ${counted(attempts, 'attempt')}; predictions were made from ${sample}. The share of calls that a threshold would have hedged is counted from the recorded silences of primaries over all calls; it is exact where no hedge of the time had cut a primary, and imputed for the others.`,
    `What a backup would have taken is drawn from the other sources\u2019 own attempts. Attempts that were cut are not left out: they count as having taken at least as long as they did. Bands hold ${percent(confidence)} of ${count(resamples)} resamples of the calls (seed ${seed}: the same rows give the same figures).`,
    `It is assumed that a backup would have been admitted, that more requests would not have slowed the sources, and that the days ahead are like the days that were read. The budget is ${percent(maxExtra)} more ${maxExtraOf}; bands tell of chance in the sample, not of these assumptions.`,
  ];
}
