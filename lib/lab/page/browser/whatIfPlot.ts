import { axisX, axisY, dot, gridX, gridY, line, plot, pointer, rect, ruleX, ruleY, text, tip } from '@observablehq/plot';
import type { Band, Prediction, WhatIf } from '../../whatif/whatIf.js';
import { durationBand, extraOf, percentBand, thresholdWords } from './predictionWords.js';
import { lookOf } from './series.js';
import type { Look } from './series.js';
import { linearTicks, tickPercent, tickTime } from './timeScale.js';
import { duration, percent } from './words.js';

interface Point {
  readonly prediction: Prediction;
  readonly x: number;
  readonly p95: Band;
  readonly name: string;
}

export const kindLooks: Readonly<Record<'first' | 'stall', Look>> = { first: lookOf(0), stall: lookOf(1) };

const marginLeft = 58;
const marginRight = 18;
const marginTop = 30;
const marginBottom = 46;

/** Cost against p95, a line a kind of threshold. */
export function whatIfPlot({ width, whatIf }: { readonly width: number; readonly whatIf: WhatIf }): Element {
  const { unhedged, maxExtra, maxExtraOf, recommendation } = whatIf;
  const point = (prediction: Prediction, name: string): Point => ({ prediction, name, x: extraOf(prediction, maxExtraOf).band?.value ?? 0, p95: prediction.latency.p95Ms });
  const dear = 4 * maxExtra;
  const lines = (['first', 'stall'] as const).map((kind) => ({
    look: kindLooks[kind],
    points: whatIf[kind].map((prediction) => point(prediction, tickTime((kind === 'first' ? prediction.hedgeAfterMs : prediction.hedgeStallAfterMs) ?? 0))).filter(({ x }) => x <= dear),
  }));
  const best = recommendation === null ? [] : [point(recommendation.prediction, width < 600 ? 'recommended' : `recommended: ${thresholdWords(recommendation.prediction)}`)];
  const all = [...lines.flatMap(({ points }) => points), ...best];
  const right = Math.max(...all.map(({ x }) => x), maxExtra) * 1.04;
  const left = Math.min(0, ...all.map(({ x }) => x));
  const top = Math.max(...all.map(({ p95 }) => p95.high), unhedged.p95Ms.high) * 1.05;
  const height = Math.round(Math.min(420, Math.max(280, width * 0.5)));
  const yTicks = linearTicks(top, 7);
  const across = (x: number): number => ((x - left) / (right - left)) * (width - marginLeft - marginRight);
  const down = (p95: number): number => (1 - p95 / top) * (height - marginTop - marginBottom);
  const named = apart(lines.flatMap(({ points }) => points), ({ x, p95 }) => [across(x), down(p95.value)], best);
  const ring = best[0];
  const rightwards = ring !== undefined && across(ring.x) + ring.name.length * 7.5 < width - marginLeft - marginRight;
  const told = ({ prediction, p95 }: Point): string => `backup after ${thresholdWords(prediction)}\np95 ${durationBand(p95)}\nextra ${maxExtraOf} ${percentBand(extraOf(prediction, maxExtraOf).band)}\ncalls hedged ${percent(prediction.hedgedShare)}`;
  const p95Of = ({ p95 }: Point): number => p95.value;
  return plot({
    width,
    height,
    marginLeft,
    marginRight,
    marginTop,
    marginBottom,
    x: { domain: [left, right] },
    y: { domain: [0, top] },
    marks: [
      gridX({ ticks: Math.max(3, Math.floor(width / 110)) }),
      gridY({ ticks: yTicks }),
      rect([unhedged.p95Ms], { x1: left, x2: right, y1: 'low', y2: 'high', fill: 'var(--whole)', fillOpacity: 0.35 }),
      ruleY([unhedged.p95Ms.value], { stroke: 'var(--ink)' }),
      ruleX([maxExtra], { stroke: 'var(--ink)', strokeDasharray: '5 4' }),
      ...lines.flatMap(({ look, points }) => [
        ruleX(points, { x: 'x', y1: ({ p95 }: Point) => p95.low, y2: ({ p95 }: Point) => p95.high, stroke: look.colour, strokeWidth: 5, strokeOpacity: 0.35 }),
        line(points, { x: 'x', y: p95Of, stroke: look.colour, strokeWidth: look.width, strokeDasharray: look.dashes }),
        dot(points, { x: 'x', y: p95Of, symbol: look.sign, fill: look.colour, stroke: 'var(--paper)', r: 4.5 }),
      ]),
      dot(best, { x: 'x', y: p95Of, r: 9, stroke: 'var(--ink)', strokeWidth: 2 }),
      text(named, { x: 'x', y: p95Of, text: 'name', dy: 14, stroke: 'var(--paper)', strokeWidth: 4, fill: 'var(--ink)' }),
      text(best, { x: 'x', y: p95Of, text: 'name', dy: -20, dx: rightwards ? -6 : 6, textAnchor: rightwards ? 'start' : 'end', fontWeight: '600', stroke: 'var(--paper)', strokeWidth: 4, fill: 'var(--ink)' }),
      text([`without hedging: ${duration(unhedged.p95Ms.value)}`], { x: right, y: unhedged.p95Ms.high, textAnchor: 'end', dy: -8, dx: -4, stroke: 'var(--paper)', strokeWidth: 4, fill: 'var(--ink)' }),
      text([`budget: ${percent(maxExtra)}`], { x: maxExtra, frameAnchor: 'bottom', dy: -8, dx: -6, textAnchor: 'end', stroke: 'var(--paper)', strokeWidth: 4, fill: 'var(--ink)' }),
      axisX({ ticks: Math.max(3, Math.floor(width / 110)), tickFormat: tickPercent, label: `extra ${maxExtraOf}`, labelAnchor: 'center', labelOffset: 40, labelArrow: 'none' }),
      axisY({ ticks: yTicks, tickFormat: tickTime, label: 'predicted p95 of call latency', labelArrow: 'none' }),
      tip(all, pointer({ x: 'x', y: p95Of, title: told })),
    ],
  });
}

/** The label of the recommended stands above its ring, on either side; the others stand below their signs, and may get under it. */
function isUnder([x, y]: readonly [number, number], [ringX, ringY]: readonly [number, number], name: string): boolean {
  return Math.abs(x - ringX) < name.length * 7.5 + 15 && ringY - y > 14 && ringY - y < 54;
}

/** The points whose labels have room: none nearer to one that has got its own, the recommended first. */
function apart(points: readonly Point[], at: (point: Point) => readonly [number, number], taken: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    const [x, y] = at(point);
    const near = (other: Point): boolean => Math.abs(at(other)[0] - x) < 44 && Math.abs(at(other)[1] - y) < 18;
    if (!kept.some(near) && !taken.some((other) => near(other) || isUnder([x, y], at(other), other.name))) kept.push(point);
  }
  return kept;
}
