import { axisX, axisY, dot, gridX, gridY, line, plot, pointer, ruleX, ruleY, text, tip } from '@observablehq/plot';
import type { Distribution } from '../../report/reportFigures.js';
import type { Series } from './series.js';
import { logTicks, tickPercent, tickTime } from './timeScale.js';
import { duration, percent } from './words.js';

export interface MarkedTime {
  readonly atMs: number;
  readonly text: string;
}

export interface DistributionPlotOptions {
  readonly width: number;
  readonly series: readonly Series[];
  readonly axis: string;
  /** `below`: the share at or below a time, evenly; `above`: the share above it, on a log scale, where the rare ones can be seen. */
  readonly share: 'below' | 'above';
  readonly of: string;
  readonly marked?: readonly MarkedTime[];
}

interface Point {
  readonly series: Series;
  readonly ms: number;
  readonly share: number;
}

/** Below this all are alike, and a log scale has no 0. */
const leastMs = 1;
const ofLog = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/** Lines of cumulated shares over a log scale of times; signs on a line stand at its p50, p90, p95 and p99. */
export function distributionPlot({ width, series, axis, share, of, marked = [] }: DistributionPlotOptions): Element {
  const above = share === 'above';
  const domain = domainOf(series, marked);
  const lines = series.map((one) => pointsOf(one, { domain, above }));
  const points = lines.flat();
  const shares = above ? ofLog.filter((tick) => tick >= leastShare(points)) : [0, 0.25, 0.5, 0.75, 1];
  const ticks = logTicks(domain, width - 70);
  const told = ({ series: { name }, ms, share: part }: Point): string => `${name}\n${percent(part)} ${above ? `longer than ${duration(ms)}` : `within ${duration(ms)}`}`;
  return plot({
    width,
    height: Math.round(Math.min(360, Math.max(240, width * 0.45))) + (marked.length > 0 ? 30 : 0),
    marginLeft: 52,
    marginRight: 18,
    marginTop: marked.length > 0 ? 54 : 28,
    marginBottom: 44,
    x: { type: 'log', domain: [...domain] },
    y: above ? { type: 'log', domain: [leastShare(points), 1], clamp: true } : { domain: [0, 1] },
    marks: [
      gridX({ ticks }),
      gridY({ ticks: shares }),
      ruleY([above ? leastShare(points) : 0], { stroke: 'var(--ink)' }),
      ruleX(marked, { x: 'atMs', stroke: 'var(--ink)', strokeDasharray: '4 3' }),
      ...series.map(({ look }, index) => line(lines[index] ?? [], { x: 'ms', y: 'share', curve: 'step-after', stroke: look.colour, strokeWidth: look.width, strokeDasharray: look.dashes })),
      ...series.map((one) => dot(signsOf(one, { domain, above }), { x: 'ms', y: 'share', symbol: one.look.sign, fill: one.look.colour, stroke: 'var(--paper)', r: 4.5 })),
      ...marked.map((mark, index) => text([mark], { x: 'atMs', frameAnchor: 'top', dy: -8 - index * 15, text: 'text', textAnchor: isRight(mark, domain) ? 'end' : 'start', fontWeight: 600 })),
      axisX({ ticks, text: tickTime, label: `${axis} (log scale)`, labelAnchor: 'center', labelOffset: 38, labelArrow: 'none' }),
      axisY({ ticks: shares, text: tickPercent, label: `share of ${of} ${above ? 'with a longer one (log scale)' : 'at or below'}`, labelArrow: 'none', labelOffset: 50 }),
      tip(points, pointer({ x: 'ms', y: 'share', title: told, maxRadius: 80 })),
    ],
  });
}

const isRight = ({ atMs }: MarkedTime, [from, to]: readonly [number, number]): boolean => Math.log(atMs / from) / Math.log(to / from) > 0.5;

function domainOf(series: readonly Series[], marked: readonly MarkedTime[]): [number, number] {
  const marks = marked.map(({ atMs }) => atMs);
  const [begin = leastMs, ...others] = [...series.flatMap(beginOf), ...marks];
  const from = others.reduce((least, ms) => Math.min(least, ms), begin);
  const to = [...series.flatMap(({ distribution: { maxMs } }) => maxMs ?? []), ...marks].reduce((most, ms) => Math.max(most, ms), from);
  // Equal values stand in the middle, not in a corner.
  return to > from * 4 ? [from, to] : [Math.max(leastMs, from / 2), to * 2];
}

/** Where its line leaves the edge: the least hundredth, and what has no place on a log scale, would stretch the axis for a level line. */
function beginOf({ distribution: { cdf } }: Series): number[] {
  const zero = cdf.findLast(([ms]) => ms < leastMs)?.[1] ?? 0;
  const begin = cdf.find(([, share]) => share >= Math.min(1, zero + 0.01));
  return begin === undefined || begin[0] < leastMs ? [] : [begin[0]];
}

/** The last point of all, where nothing is above, has no place on a log scale: the line ends at the height it had before. */
function pointsOf(series: Series, { domain: [from], above }: { readonly domain: readonly [number, number]; readonly above: boolean }): Point[] {
  const cdf = series.distribution.cdf;
  if (!above) return [{ series, ms: from, share: 0 }, ...cdf.map(([ms, share]) => ({ series, ms: Math.max(from, ms), share }))];
  const falling = [{ series, ms: from, share: 1 }, ...cdf.map(([ms, share]) => ({ series, ms: Math.max(from, ms), share: 1 - share }))];
  return falling.map((point, index) => (point.share > 0 ? point : { ...point, share: falling[index - 1]?.share ?? 1 }));
}

function signsOf(series: Series, { domain: [from], above }: { readonly domain: readonly [number, number]; readonly above: boolean }): Point[] {
  const { p50Ms, p90Ms, p95Ms, p99Ms } = series.distribution;
  return ([[p50Ms, 0.5], [p90Ms, 0.9], [p95Ms, 0.95], [p99Ms, 0.99]] as const).flatMap(([ms, share]) =>
    ms === null ? [] : [{ series, ms: Math.max(from, ms), share: above ? 1 - share : share }],
  );
}

function leastShare(points: readonly Point[]): number {
  const least = points.reduce((smallest, { share }) => Math.min(smallest, share), 0.5);
  return Math.max(0.001, ofLog.find((tick) => tick <= least) ?? 0.001);
}

export const distributionHead = (of: string): readonly string[] => [of, 'count', 'mean', 'p50', 'p90', 'p95', 'p99', 'longest'];

export function distributionRow(name: string, { count: number, meanMs, p50Ms, p90Ms, p95Ms, p99Ms, maxMs }: Distribution): string[] {
  return [name, number.toLocaleString('en'), ...[meanMs, p50Ms, p90Ms, p95Ms, p99Ms, maxMs].map(duration)];
}
