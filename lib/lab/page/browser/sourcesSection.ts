import type { ReportFigures, SourceFigures, TimeSplit } from '../../report/reportFigures.js';
import { knownSilenceMs } from '../../report/timeSplit.js';
import type { Charts } from './charts.js';
import { mostOf, noSilence } from './headline.js';
import { paintLegend } from './paints.js';
import type { Section } from './section.js';
import { stackedRows } from './stackedRows.js';
import { paintsIn, patternWords, timePaints, timeParts } from './timeParts.js';
import { table } from './table.js';
import { linearTicks, tickPercent, tickTime } from './timeScale.js';
import { count, duration, percent, ratio } from './words.js';

export function sourcesSection({ sources, overall }: ReportFigures, charts: Charts): Section {
  const rows = [...(sources.length > 1 ? [{ source: 'all sources', time: overall }] : []), ...sources];
  const head = ['source', ...timePaints.map(({ name }) => name), 'all'];
  const legend = (): HTMLElement => paintLegend(paintsIn(overall));
  return {
    id: 'sources',
    short: 'Sources',
    title: titleOf(sources, overall),
    children: [
      charts.figure({
        label: 'Stacked bars: shares of each source\u2019s time spent in silence, waiting, output and attempts that were cut',
        caption: `Shares of each source\u2019s own time.${patternWords(overall)}`,
        legend: legend(),
        draw: (width) => stackedRows({ width, rows: rows.map(shareRow), until: 1, ticks: [0, 0.25, 0.5, 0.75, 1], axis: 'share of the time of all attempts', format: percent, tickFormat: tickPercent }),
        numbers: { caption: 'Shares of each source\u2019s time', head, rows: rows.map(sharesRow) },
      }),
      charts.figure({
        label: 'Stacked bars: hours of each source spent in silence, waiting, output and attempts that were cut',
        caption: 'The same in absolute time: a long bar is a source that was used much, so its silence weighs more.',
        legend: legend(),
        draw: (width) => {
          const most = Math.max(...sources.map(({ time }) => time.wallMs), 1);
          return stackedRows({ width, rows: sources.map(hourRow), axis: 'time of all attempts', format: duration, tickFormat: tickTime, ticks: linearTicks(most, width / 90) });
        },
        numbers: { caption: 'Time of each source', head, rows: rows.map(hoursRow) },
      }),
      table({ caption: 'Sources', head: ['source', 'models', 'attempts', 'never spoke', 'time', 'silence in mid-stream', 'share of measured time', 'silent when cut, at least', 'median first wait', 'p95 of longest silences'], rows: sources.map(sourceRow), words: 2 }),
    ],
  };
}

function titleOf(sources: readonly SourceFigures[], overall: TimeSplit): string {
  const most = mostOf(sources, knownSilenceMs);
  if (most === undefined || knownSilenceMs(most.time) === 0) return noSilence(sources, overall);
  return `${most.source} was silent longest: ${duration(knownSilenceMs(most.time))} of its ${duration(most.time.wallMs)}`;
}

interface TimeOfSource {
  readonly source: string;
  readonly time: TimeSplit;
}

const hourRow = ({ source, time }: TimeOfSource): { label: string; note: string; parts: ReturnType<typeof timeParts> } => ({ label: source, note: duration(time.wallMs), parts: timeParts(time) });

const shareRow = (row: TimeOfSource): ReturnType<typeof hourRow> => ({ ...hourRow(row), parts: timeParts(row.time).map(({ paint, value }) => ({ paint, value: ratio(value, row.time.wallMs) ?? 0 })) });

const hoursRow = ({ source, time }: TimeOfSource): string[] => [source, ...timeParts(time).map(({ value }) => duration(value)), duration(time.wallMs)];

const sharesRow = ({ source, time }: TimeOfSource): string[] => [source, ...timeParts(time).map(({ value }) => percent(ratio(value, time.wallMs))), percent(ratio(time.wallMs, time.wallMs))];

function sourceRow({ source, models, time, ttft, longestSilence }: SourceFigures): string[] {
  const measured = time.measured > 0;
  return [
    source,
    models.join(', '),
    count(time.attempts),
    count(time.neverSpoke),
    duration(time.wallMs),
    duration(measured ? time.stallMs : null),
    percent(ratio(time.stallMs, time.measuredMs)),
    duration(time.cut > 0 ? time.cutSilentMs : 0),
    duration(ttft.p50Ms),
    duration(longestSilence.p95Ms),
  ];
}
