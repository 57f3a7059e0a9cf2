import plot from 'simple-ascii-chart';
import type { Distribution } from '../../lab/report/reportFigures.js';
import type { Screen } from '../terminal.js';
import { duration } from '../../lab/report/duration.js';
import { percent } from './percent.js';
import { plotLines } from './plotLines.js';

export interface SilencePlotOptions {
  readonly longest: Distribution;
  /** A threshold to mark. */
  readonly markMs: number | null;
  readonly screen: Pick<Screen, 'columns' | 'paint'>;
}

const fromMs = 1000;
const ticksMs = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600].map((seconds) => seconds * 1000);
// All as wide: the room for them is measured on the points, not on the ticks.
const labelWidth = 5;
const axisWidth = labelWidth + 4;
const mostColumns = 100;
const height = 5;

/** Share of streamed attempts whose longest silence was longer than x, from a second on, on a log scale; nothing where none was. */
export function silencePlot({ longest, markMs, screen: { columns, paint } }: SilencePlotOptions): string[] {
  const { maxMs } = longest;
  const highest = shareOver(longest, fromMs);
  if (maxMs === null || maxMs <= fromMs || highest === 0) return [];
  const width = Math.min(columns, mostColumns) - axisWidth;
  const points = Array.from({ length: width }, (_, at): [number, number] => {
    const ms = fromMs * (maxMs / fromMs) ** (at / (width - 1));
    return [Math.log10(ms), shareOver(longest, ms)];
  });
  const marked = markMs !== null && markMs >= fromMs && markMs < maxMs;
  const drawn = plot(points, {
    width,
    height,
    yRange: [0, highest],
    customXAxisTicks: ticksMs.filter((ms) => ms < maxMs).map(Math.log10),
    customYAxisTicks: [0, highest / 2, highest],
    formatter: (value, { axis }) => (axis === 'x' ? duration(10 ** value) : percent(value).padStart(labelWidth)),
    ...(marked ? { thresholds: [{ x: Math.log10(markMs) }] } : {}),
  });
  const title = `Share of streamed attempts with a silence longer than${marked ? ` (┃ ${duration(markMs)}, recommended)` : ''}:`;
  return [paint('bold', title), ...plotLines(drawn)];
}

/** Share of the values above `ms`. */
export function shareOver({ cdf }: Distribution, ms: number): number {
  const below = cdf.findLast(([value]) => value <= ms);
  return cdf.length === 0 ? 0 : 1 - (below?.[1] ?? 0);
}
