import plot from 'simple-ascii-chart';
import { extraCost } from '../../lab/whatif/extraCost.js';
import type { Prediction, WhatIf } from '../../lab/whatif/whatIf.js';
import { duration } from '../../lab/report/duration.js';
import { percent } from '../report/percent.js';
import { plotLines } from '../report/plotLines.js';
import type { Screen } from '../terminal.js';

// All as wide: the room for them is measured on the points, not on the ticks.
const labelWidth = 7;
const axisWidth = labelWidth + 6;
const mostColumns = 100;
const height = 10;

type Point = readonly [extra: number, p95Ms: number];

/** What it costs against the p95 of a call: `s` for thresholds of silence, `f` for those of the first wait, `0` unhedged, `R` recommended. */
export function costPlot(whatIf: WhatIf, { columns, paint }: Pick<Screen, 'columns' | 'paint'>): string[] {
  const symbols = symbolsOf(whatIf);
  const points = symbols.map(({ point }) => point);
  const [extras, p95s] = [points.map(([extra]) => extra), points.map(([, p95Ms]) => p95Ms)];
  const [mostExtra, lowest, highest] = [Math.max(...extras), Math.min(...p95s), Math.max(...p95s)];
  if (mostExtra <= 0 || highest <= lowest) return [];
  const drawn = plot([points.map(([extra, p95Ms]): [number, number] => [extra, p95Ms]).sort(([a], [b]) => a - b)], {
    width: Math.min(columns, mostColumns) - axisWidth,
    height,
    yRange: [lowest, highest],
    customXAxisTicks: steps(0, mostExtra, 5),
    customYAxisTicks: steps(lowest, highest, 4),
    formatter: (value, { axis }) => (axis === 'x' ? percent(value) : duration(value).padStart(labelWidth)),
    // Of several in one place the last one is seen.
    lineFormatter: ({ x, y, plotX, plotY }) => ({ x: plotX, y: plotY, symbol: symbols.findLast(({ point }) => point[0] === x && point[1] === y)?.symbol ?? '' }),
  });
  return [
    `${paint('bold', `p95 of a call against more ${whatIf.maxExtraOf}`)}: s silence threshold, f first wait, 0 unhedged, R recommended`,
    ...plotLines(drawn),
  ];
}

interface PlottedSymbol {
  readonly symbol: string;
  readonly point: Point;
}

function symbolsOf({ unhedged, first, stall, recommendation, maxExtraOf }: WhatIf): PlottedSymbol[] {
  const plotted = (symbol: string) => (prediction: Prediction): PlottedSymbol => ({ symbol, point: [extraCost(prediction, maxExtraOf).band.value, prediction.latency.p95Ms.value] });
  return [
    ...first.map(plotted('f')),
    ...stall.map(plotted('s')),
    { symbol: '0', point: [0, unhedged.p95Ms.value] },
    ...(recommendation === null ? [] : [plotted('R')(recommendation.prediction)]),
  ];
}

function steps(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + ((to - from) * at) / (count - 1));
}
