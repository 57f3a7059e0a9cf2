import { knee } from './knee.js';
import { percent } from './percent.js';
import type { Prediction, Recommendation, Thresholds } from './whatIf.js';

export interface Budget {
  /** Share that a hedge may cost on top. */
  readonly maxExtra: number;
  readonly maxExtraOf: 'tokens' | 'requests';
}

export function extraOf({ extraTokensShare, extraRequestsShare }: Prediction, { maxExtraOf }: Budget): number {
  return (maxExtraOf === 'tokens' ? extraTokensShare : extraRequestsShare)?.value ?? Infinity;
}

/** Within the budget, and better than nothing beyond doubt. */
export function worthwhile(predictions: readonly Prediction[], budget: Budget): Prediction[] {
  return predictions.filter((prediction) => extraOf(prediction, budget) <= budget.maxExtra && prediction.savedMsPerCall.low > 0);
}

export function kneeOf(predictions: readonly Prediction[], unhedgedP95Ms: number, budget: Budget): Prediction | undefined {
  const choices = worthwhile(predictions, budget).map((value) => ({ value, cost: extraOf(value, budget), left: value.latency.p95Ms.value }));
  return knee(choices, unhedgedP95Ms);
}

/** `undefined`: nothing within the budget takes p95 down. */
export function recommend(predictions: readonly Prediction[], unhedgedP95Ms: number, budget: Budget): Recommendation | undefined {
  const prediction = kneeOf(predictions, unhedgedP95Ms, budget);
  if (prediction === undefined) return undefined;
  const { low, high, value } = prediction.latency.p95Ms;
  const cost = `${percent(extraOf(prediction, budget))} more ${budget.maxExtraOf}`;
  return {
    prediction,
    reason:
      `${thresholdsInWords(prediction)} takes p95 from ${seconds(unhedgedP95Ms)} to ${seconds(value)} (${seconds(low)} to ${seconds(high)}) for ${cost}. ` +
      `Of what fits the budget of ${percent(budget.maxExtra)}, this is the knee: what costs less leaves p95 clearly higher, what costs more takes less off it for its price.`,
  };
}

export function thresholdsInWords({ hedgeAfterMs, hedgeStallAfterMs }: Thresholds): string {
  const parts = [
    ...(hedgeAfterMs === null ? [] : [`${seconds(hedgeAfterMs)} without a first increment`]),
    ...(hedgeStallAfterMs === null ? [] : [`${seconds(hedgeStallAfterMs)} of silence in mid-stream`]),
  ];
  return `A backup after ${parts.join(', or after ')}`;
}

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;
