import type { ReportFigures, SourceFigures, TimeSplit } from '../../lab/report/reportFigures.js';
import { knownSilenceMs } from '../../lab/report/timeSplit.js';
import { table } from '../table.js';
import type { Screen } from '../terminal.js';
import { grouped } from './counted.js';
import { duration } from '../../lab/report/duration.js';
import { mostSilentFirst, silentShare } from './headlines.js';
import { percent, shareOf } from './percent.js';
import { printable } from './printable.js';

// The other five columns and the borders.
const otherColumns = 66;
const mostSources = 4;

/** The sources, most silence first; those that don't fit into a summary together in the last row. */
export function sourcesTable({ sources }: ReportFigures, { paint, columns, isTerminal }: Pick<Screen, 'paint' | 'columns' | 'isTerminal'>): string[] {
  const sorted = mostSilentFirst(sources);
  const shown = sorted.length > mostSources ? sorted.slice(0, mostSources - 1) : sorted;
  // Names are cut only where lines would break.
  const width = isTerminal ? Math.max(12, columns - otherColumns) : Infinity;
  const drawn = table({
    head: ['source', 'attempts', 'silent', 'share', 'silence p95', 'first p95'],
    rows: [...shown.map((figures) => sourceRow(figures, width)), ...others(sorted.slice(shown.length))],
    figures: [1, 2, 3, 4, 5],
    paint,
  });
  return drawn.split('\n');
}

function sourceRow(figures: SourceFigures, width: number): string[] {
  const { source, time, longestSilence, ttft } = figures;
  const measured = time.measured > 0;
  return [
    cut(printable(source), width),
    grouped(time.attempts),
    silence(time),
    measured ? percent(silentShare(figures)) : notMeasured,
    durationOf(longestSilence.p95Ms),
    durationOf(ttft.p95Ms),
  ];
}

function others(rest: readonly SourceFigures[]): string[][] {
  if (rest.length === 0) return [];
  const sum = (figure: (figures: SourceFigures) => number): number => rest.reduce((total, figures) => total + figure(figures), 0);
  const time = { measured: sum((of) => of.time.measured), stallMs: sum((of) => of.time.stallMs), cutSilentMs: sum((of) => of.time.cutSilentMs) };
  return [[`${rest.length} others`, grouped(sum((of) => of.time.attempts)), silence(time), percent(shareOf(time.stallMs, sum((of) => of.time.measuredMs))), '', '']];
}

/** Of what was cut, only what it was at least is known. */
function silence(time: Pick<TimeSplit, 'measured' | 'stallMs' | 'cutSilentMs'>): string {
  if (time.measured === 0 && time.cutSilentMs === 0) return notMeasured;
  return `${time.cutSilentMs > 0 ? '≥ ' : ''}${duration(knownSilenceMs(time))}`;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

const notMeasured = '-';

function durationOf(ms: number | null): string {
  return ms === null ? notMeasured : duration(ms);
}
