import { axisX, axisY, dot, gridX, gridY, line, plot, pointer, rect, ruleX, ruleY, text, tip } from '@observablehq/plot';
import { extraCost } from '../../whatif/extraCost.js';
import type { Band, Prediction, WhatIf } from '../../whatif/whatIf.js';
import { boxAround, boxesAlong, placeLabels } from './placeLabels.js';
import type { Box, Label, Placed } from './placeLabels.js';
import { durationBand, percentBand, thresholdWords } from './predictionWords.js';
import { lookOf } from './series.js';
import type { Look } from './series.js';
import { ticksBetween, tickPercent, tickTime } from './timeScale.js';
import { duration, percent } from './words.js';

interface Point {
  readonly prediction: Prediction;
  readonly x: number;
  readonly p95: Band;
  readonly name: string;
}

interface Line {
  readonly look: Look;
  readonly points: readonly Point[];
}

export const kindLooks: Readonly<Record<'first' | 'stall', Look>> = { first: lookOf(0), stall: lookOf(1) };

/** What costs more than so many budgets is not drawn. */
const dear = 4;

const margins = { marginLeft: 66, marginRight: 18, marginTop: 30, marginBottom: 46 } as const;

const pointOf = (prediction: Prediction, name: string, { maxExtraOf }: WhatIf): Point => ({ prediction, name, x: extraCost(prediction, maxExtraOf).band.value, p95: prediction.latency.p95Ms });

/** A line a kind of threshold, of what is not too dear. */
function linesOf(whatIf: WhatIf): Line[] {
  return (['first', 'stall'] as const).map((kind) => ({
    look: kindLooks[kind],
    points: whatIf[kind]
      .map((prediction) => pointOf(prediction, tickTime((kind === 'first' ? prediction.hedgeAfterMs : prediction.hedgeStallAfterMs) ?? 0), whatIf))
      .filter(({ x }) => x <= dear * whatIf.maxExtra),
  }));
}

export const isAnyAffordable = (whatIf: WhatIf): boolean => linesOf(whatIf).some(({ points }) => points.length > 0);

/** Cost against p95, a line a kind of threshold. */
export function whatIfPlot({ width, whatIf }: { readonly width: number; readonly whatIf: WhatIf }): Element {
  const { unhedged, maxExtra, maxExtraOf, recommendation } = whatIf;
  const lines = linesOf(whatIf);
  const best = recommendation === null ? [] : [pointOf(recommendation.prediction, width < 600 ? 'recommended' : `recommended:\n${thresholdWords(recommendation.prediction).replace(' or ', '\nor ')}`, whatIf)];
  const all = [...lines.flatMap(({ points }) => points), ...best];
  const height = Math.round(Math.min(420, Math.max(300, width * 0.5)));
  const left = Math.min(0, ...all.map(({ x }) => x));
  const right = Math.max(...all.map(({ x }) => x), maxExtra) * 1.04;
  const [low, high] = roomAround([...all.map(({ p95 }) => p95), unhedged.p95Ms]);
  const yTicks = ticksBetween([low, high], 7);
  const across = (x: number): number => margins.marginLeft + ((x - left) / (right - left)) * (width - margins.marginLeft - margins.marginRight);
  const down = (ms: number): number => margins.marginTop + ((high - ms) / (high - low)) * (height - margins.marginTop - margins.marginBottom);
  const fixed = { unhedged: `without hedging: ${duration(unhedged.p95Ms.value)}`, budget: `budget: ${percent(maxExtra)}` };
  const placed = placeNames({ lines, best, across, down, width, height, unhedged: unhedged.p95Ms, maxExtra, fixed });
  const told = ({ prediction, p95 }: Point): string => `backup after ${thresholdWords(prediction)}\np95 ${durationBand(p95)}\nextra ${maxExtraOf} ${percentBand(extraCost(prediction, maxExtraOf).band)}\ncalls hedged ${percent(prediction.hedgedShare)}`;
  const p95Of = ({ p95 }: Point): number => p95.value;
  const onPaper = { stroke: 'var(--paper)', strokeWidth: 4, fill: 'var(--ink)' } as const;
  return plot({
    width,
    height,
    ...margins,
    x: { domain: [left, right] },
    y: { domain: [low, high] },
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
      dot(best, { x: 'x', y: p95Of, r: ringRadius, stroke: 'var(--ink)', strokeWidth: 2 }),
      ...placed.map(({ label: { point, needed }, dx, dy }) => text([point], { x: 'x', y: p95Of, text: 'name', dx, dy, fontWeight: needed ? 600 : 400, lineHeight: 1.25, ...onPaper })),
      text([fixed.unhedged], { x: right, y: unhedged.p95Ms.high, textAnchor: 'end', dy: -8, dx: -4, ...onPaper }),
      text([fixed.budget], { x: maxExtra, frameAnchor: 'bottom', dy: -8, dx: -6, textAnchor: 'end', ...onPaper }),
      axisX({ ticks: Math.max(3, Math.floor(width / 110)), tickFormat: tickPercent, label: `extra ${maxExtraOf}`, labelAnchor: 'center', labelOffset: 40, labelArrow: 'none' }),
      axisY({ ticks: yTicks, tickFormat: tickTime, label: 'predicted p95 of call latency', labelArrow: 'none' }),
      tip(all, pointer({ x: 'x', y: p95Of, title: told })),
    ],
  });
}

/** An axis for the bands, with room for labels; at least a tenth of the greatest, so that noise does not look like a difference. */
function roomAround(bands: readonly Band[]): [number, number] {
  const high = Math.max(...bands.map((band) => band.high), 1);
  const low = Math.min(...bands.map((band) => band.low));
  const span = Math.max(high - low, high * 0.1);
  return [Math.max(0, low - span * 0.25), high + span * 0.12];
}

interface PlaceNamesOptions {
  readonly lines: readonly Line[];
  readonly best: readonly Point[];
  readonly across: (x: number) => number;
  readonly down: (ms: number) => number;
  readonly width: number;
  readonly height: number;
  readonly unhedged: Band;
  readonly maxExtra: number;
  readonly fixed: { readonly unhedged: string; readonly budget: string };
}

type PointLabel = Label & { readonly point: Point };

const ringRadius = 9;
// Nearer than this a name could be either's.
const near = 9;

/** The name of the recommended first, then those of thresholds that have room and no neighbour that they could be taken for. */
function placeNames({ lines, best, across, down, width, height, unhedged, maxExtra, fixed }: PlaceNamesOptions): Placed<PointLabel>[] {
  const at = ({ x, p95 }: Point): [number, number] => [across(x), down(p95.value)];
  const points = lines.flatMap((one) => one.points);
  const frame = { left: margins.marginLeft + 2, right: width - 2, top: margins.marginTop - 8, bottom: height - margins.marginBottom - 2 };
  const budgetAt = across(maxExtra);
  const taken: Box[] = [
    ...points.map((point) => boxAround(...at(point), { width: 11, height: 11 })),
    ...points.map((point) => ({ left: across(point.x) - 2.5, right: across(point.x) + 2.5, top: down(point.p95.high), bottom: down(point.p95.low) })),
    ...best.map((point) => boxAround(...at(point), { width: 2 * ringRadius + 4, height: 2 * ringRadius + 4 })),
    ...lines.flatMap((one) => one.points.slice(1).flatMap((point, index) => boxesAlong(at(one.points[index] ?? point), at(point)))),
    ...boxesAlong([frame.left, down(unhedged.value)], [frame.right, down(unhedged.value)]),
    ...boxesAlong([budgetAt, frame.top], [budgetAt, frame.bottom]),
    { left: budgetAt - 10 - fixed.budget.length * 7.3, right: budgetAt, top: frame.bottom - 16, bottom: frame.bottom },
    { left: frame.right - 22 - fixed.unhedged.length * 7.3, right: frame.right, top: down(unhedged.high) - 17, bottom: down(unhedged.high) },
  ];
  const clear = (point: Point): boolean => points.every((other) => other === point || Math.hypot(across(other.x) - across(point.x), down(other.p95.value) - down(point.p95.value)) >= near);
  const label = (point: Point, rest: Pick<Label, 'distance' | 'needed'>): PointLabel => ({ point, x: across(point.x), y: down(point.p95.value), lines: point.name.split('\n'), ...rest });
  return placeLabels([...best.map((point) => label(point, { distance: ringRadius + 4, needed: true })), ...points.filter(clear).map((point) => label(point, { distance: 7 }))], { frame, taken });
}
