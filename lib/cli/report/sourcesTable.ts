import type { ReportFigures, SourceFigures } from '../../lab/report/reportFigures.js';
import { table } from '../table.js';
import type { Screen } from '../terminal.js';
import { grouped } from './counted.js';
import { duration } from './duration.js';
import { silentShare } from './headlines.js';
import { percent, shareOf } from './percent.js';
import { printable } from './printable.js';

// The other five columns and the borders.
const otherColumns = 66;
const mostSources = 4;

/** The sources, most silence first; those that don't fit into a summary together in the last row. */
export function sourcesTable({ sources }: ReportFigures, { paint, columns, isTerminal }: Pick<Screen, 'paint' | 'columns' | 'isTerminal'>): string[] {
  const sorted = [...sources].sort((a, b) => b.time.stallMs - a.time.stallMs);
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
    measured ? duration(time.stallMs) : notMeasured,
    measured ? percent(silentShare(figures)) : notMeasured,
    durationOf(longestSilence.p95Ms),
    durationOf(ttft.p95Ms),
  ];
}

function others(rest: readonly SourceFigures[]): string[][] {
  if (rest.length === 0) return [];
  const sum = (figure: (figures: SourceFigures) => number): number => rest.reduce((total, figures) => total + figure(figures), 0);
  const stallMs = sum(({ time }) => time.stallMs);
  return [[`${rest.length} others`, grouped(sum(({ time }) => time.attempts)), duration(stallMs), percent(shareOf(stallMs, sum(({ time }) => time.measuredMs))), '', '']];
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

const notMeasured = '-';

function durationOf(ms: number | null): string {
  return ms === null ? notMeasured : duration(ms);
}
