import { linePlot } from '../support/plot.mjs';
import { medianOf } from './axisTable.mjs';

/** A plot for each of `axis.plots`, which are `{ quantity, y, logY }`; the steps are always on a logarithmic axis. */
export function axisPlots({ name, axis: { step: x, contestants, plots }, steps, measured }) {
  return plots.map(({ quantity, y, logY = false }) => {
    const series = contestants.map((contestant) => ({ name: contestant, points: pointsOf({ measured, contestant, steps, quantity }) })).filter(({ points }) => points.length > 0);
    return { file: `scale-${name}-${quantity}.svg`, svg: linePlot({ title: `${y} by ${x}`, x, y, series, logX: true, logY }) };
  });
}

function pointsOf({ measured, contestant, steps, quantity }) {
  return steps.map((step) => [step, medianOf(measured, contestant, step, quantity)]).filter(([, value]) => Number.isFinite(value));
}
