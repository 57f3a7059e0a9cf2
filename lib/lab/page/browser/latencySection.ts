import type { Distribution, ReportFigures } from '../../report/reportFigures.js';
import type { Charts } from './charts.js';
import { distributionHead, distributionPlot, distributionRow } from './distributionPlot.js';
import { element } from './element.js';
import type { Section } from './section.js';
import { lookOf, seriesLegend } from './series.js';
import type { Series } from './series.js';
import { seriesOf } from './seriesOf.js';
import { count, duration } from './words.js';

export function latencySection(figures: ReportFigures, charts: Charts): Section {
  const { ttft, wall, net, calls } = figures;
  const pairs = [
    ...(wall.count > 0 ? [pairFigure({ charts, wall, net, of: 'attempts', caption: `Measured attempts: the room between the lines is silence. Their p95 is ${duration(wall.p95Ms)} by the wall clock and ${duration(net.p95Ms)} net of silence.` })] : []),
    ...(calls.latency.count > 0
      ? [pairFigure({ charts, wall: calls.latency, net: calls.net, of: 'calls', caption: `What callers waited, from entering to the answer, failed rounds and waits included: p95 ${duration(calls.latency.p95Ms)}${calls.net.count > 0 ? `, and ${duration(calls.net.p95Ms)} less the winner\u2019s silence` : ''}. ${count(calls.answered)} of ${count(calls.calls)} calls were answered.` })]
      : []),
  ];
  return {
    id: 'latency',
    short: 'First words, wall and net',
    title: titleOf(ttft, wall, net),
    children: [...(ttft.count > 0 ? [firstWordsFigure(figures, charts)] : []), element('div', { class: 'pair' }, ...pairs)],
  };
}

function titleOf(ttft: Distribution, wall: Distribution, net: Distribution): string {
  const first = ttft.count === 0 ? 'First words were not measured' : `Half of the streams spoke within ${duration(ttft.p50Ms)}, one in twenty after more than ${duration(ttft.p95Ms)}`;
  return wall.count === 0 ? first : `${first}; at p95 an attempt takes ${duration(wall.p95Ms)}, net of silence ${duration(net.p95Ms)}`;
}

function firstWordsFigure(figures: ReportFigures, charts: Charts): HTMLElement {
  const { series, left } = seriesOf(figures, 'ttft');
  return charts.figure({
    label: 'Lines per source: share of streams that had spoken within a time, on a log scale',
    caption: `The wait for the first words: a line further left is a source that begins sooner. Signs stand at p50, p90, p95 and p99.${left}`,
    legend: seriesLegend(series),
    draw: (width) => distributionPlot({ width, series, share: 'below', of: 'streams', axis: 'time to the first words' }),
    numbers: { caption: 'Time to the first words', head: distributionHead, rows: [distributionRow('all sources', figures.ttft), ...figures.sources.map(({ source, ttft }) => distributionRow(source, ttft))] },
  });
}

interface PairOptions {
  readonly charts: Charts;
  readonly wall: Distribution;
  readonly net: Distribution;
  readonly of: string;
  readonly caption: string;
}

function pairFigure({ charts, wall, net, of, caption }: PairOptions): HTMLElement {
  const series: Series[] = [
    { name: `${of}, wall clock`, distribution: wall, look: lookOf(1) },
    { name: `${of}, net of silence`, distribution: net, look: lookOf(0) },
  ].filter(({ distribution }) => distribution.count > 0);
  return charts.figure({
    label: `Two lines: share of ${of} done within a time, by the wall clock and net of silence, on a log scale`,
    caption,
    legend: seriesLegend(series),
    draw: (width) => distributionPlot({ width, series, share: 'below', of, axis: 'duration' }),
    numbers: { caption: `Duration of ${of}`, head: distributionHead, rows: series.map(({ name, distribution }) => distributionRow(name, distribution)) },
  });
}
