import type { Distribution, ReportFigures } from '../../report/reportFigures.js';
import type { Charts } from './charts.js';
import { distributionHead, distributionPlot, distributionRow } from './distributionPlot.js';
import { element } from './element.js';
import type { Section } from './section.js';
import { lookOf, seriesLegend } from './series.js';
import type { Series } from './series.js';
import { seriesOf } from './seriesOf.js';
import { count, counted, duration } from './words.js';

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
    title: titleOf(figures),
    children: [...(ttft.count > 0 ? [firstWordsFigure(figures, charts)] : []), element('div', { class: 'pair' }, ...pairs)],
  };
}

function titleOf({ ttft, wall, net, overall: { neverSpoke } }: ReportFigures): string {
  const never = neverSpoke > 0 ? `; ${counted(neverSpoke, 'stream')} never spoke` : '';
  const first = `${ttft.count === 0 ? 'First words were not measured' : `Of the streams that spoke, half did within ${duration(ttft.p50Ms)}, 19 in 20 within ${duration(ttft.p95Ms)}`}${never}`;
  return wall.count === 0 ? first : `${first}; at p95 an attempt takes ${duration(wall.p95Ms)}, net of silence ${duration(net.p95Ms)}`;
}

function firstWordsFigure(figures: ReportFigures, charts: Charts): HTMLElement {
  const { series, left } = seriesOf(figures, 'ttft');
  const { neverSpoke } = figures.overall;
  const never = neverSpoke > 0 ? ` ${counted(neverSpoke, 'stream')} that never spoke ${neverSpoke === 1 ? 'has' : 'have'} no place in it.` : '';
  return charts.figure({
    label: 'Lines per source: share of the streams that spoke that had done so within a time, on a log scale',
    caption: `The wait for the first words: a line further left is a source that begins sooner. Signs stand at p50, p90, p95 and p99.${never}${left}`,
    legend: seriesLegend(series),
    draw: (width) => distributionPlot({ width, series, share: 'below', of: 'streams that spoke', axis: 'time to the first words' }),
    numbers: {
      caption: 'Time to the first words',
      head: [...distributionHead('source'), 'never spoke'],
      rows: [{ source: 'all sources', ttft: figures.ttft, time: figures.overall }, ...figures.sources].map(({ source, ttft, time }) => [...distributionRow(source, ttft), count(time.neverSpoke)]),
    },
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
    numbers: { caption: `Duration of ${of}`, head: distributionHead('duration of'), rows: series.map(({ name, distribution }) => distributionRow(name, distribution)) },
  });
}
