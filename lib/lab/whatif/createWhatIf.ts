import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { mulberry32 } from '../mulberry32.js';
import { createTally as createLengths } from '../report/distribution.js';
import { bootstrap } from './bootstrap.js';
import type { Bootstrapped, Estimate } from './bootstrap.js';
import { isChat, shapeCall } from './callShape.js';
import type { CallShape } from './callShape.js';
import { kneeOf, recommend } from './recommend.js';
import type { Budget } from './recommend.js';
import { createReservoir } from './reservoir.js';
import { createTally } from './tally.js';
import { createLeftOut, thinReasons, warningsOf } from './warnings.js';
import type { Prediction, Recommendation, Thresholds, WhatIf } from './whatIf.js';

const defaultGridS = [1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120];

/** Enough to see which pairs of thresholds are worth a closer look. */
const scouting = { repetitions: 3, resamples: 0 };

interface Effort {
  readonly repetitions: number;
  readonly resamples: number;
  readonly onStep?: () => void;
}

export interface WhatIfOptions {
  /** Thresholds to try, in ms; default for both kinds 1 s to 120 s in 13 steps. Those that no observed silence exceeds are left out. */
  readonly hedgeAfterMs?: readonly number[];
  readonly hedgeStallAfterMs?: readonly number[];
  /** What a recommendation may cost on top, as a share of tokens, or of requests where no tokens are known; default 0.1. */
  readonly maxExtra?: number;
  /** The same seed and rows give the same figures; default 1. */
  readonly seed?: number;
  /** Resamples for the bands; default 200. */
  readonly resamples?: number;
  /** Draws whose mean is the estimate; default 20. */
  readonly repetitions?: number;
  /** Width of the bands; default 0.9. */
  readonly confidence?: number;
  /** Calls that predictions are made from, at most; default 10,000. What is exact is counted over all. */
  readonly sampleSize?: number;
}

/** Replays calls with other thresholds; give it every call once, then run it. */
export interface WhatIfEngine {
  /** All attempts of one call. */
  add(this: void, call: readonly StoredAttempt[]): void;
  /** Leaves the event loop free between its steps; `onProgress` gets a share from 0 to 1. */
  run(this: void, onProgress?: (done: number) => void): Promise<WhatIf>;
  /** Predictions for pairs that a run leaves out; each threshold must be one of those to try, or `null`. */
  predict(this: void, thresholds: readonly Thresholds[]): Promise<Prediction[]>;
}

export function createWhatIf(options: WhatIfOptions = {}): WhatIfEngine {
  const { maxExtra = 0.1, seed = 1, resamples = 200, repetitions = 20, confidence = 0.9, sampleSize = 10_000 } = options;
  const afterGrid = gridOf(options.hedgeAfterMs);
  const stallGrid = gridOf(options.hedgeStallAfterMs);
  const tally = createTally(afterGrid, stallGrid);
  const sample = createReservoir<CallShape>(sampleSize, mulberry32(seed));
  const leftOut = createLeftOut();
  const lengths = createLengths();
  const seen = { attempts: 0, hedged: 0, failed: 0 };

  function add(attempts: readonly StoredAttempt[]): void {
    if (attempts.length === 0) return;
    const call = isChat(attempts) ? shapeCall(attempts) : undefined;
    leftOut.note(attempts, call);
    if (call === undefined) return;
    tally.add(call);
    sample.add(call);
    lengths.add(call.lengthMs);
    seen.attempts += attempts.length;
    if (call.hedged) seen.hedged += 1;
    if (!call.answered) seen.failed += 1;
  }

  function toPrediction(thresholds: Thresholds, { hiddenHedgedShare, extraTokensPerCall, extraTokensShare, ...figures }: Estimate): Prediction {
    const counted = tally.count(thresholds.hedgeAfterMs, thresholds.hedgeStallAfterMs);
    const imputed = counted.hidden * hiddenHedgedShare;
    const hedgedCalls = Math.round(counted.hedged + imputed);
    const known = Number.isFinite(extraTokensShare.value);
    return {
      ...thresholds,
      ...figures,
      hedgedCalls,
      hedgedShare: tally.calls === 0 ? 0 : hedgedCalls / tally.calls,
      imputedShare: hedgedCalls === 0 ? 0 : imputed / hedgedCalls,
      extraTokensPerCall: known ? extraTokensPerCall : null,
      extraTokensShare: known ? extraTokensShare : null,
    };
  }

  async function predict(thresholds: readonly Thresholds[], { onStep, ...effort }: Effort): Promise<{ bootstrapped: Bootstrapped; predictions: Prediction[] }> {
    const limits = thresholds.map(({ hedgeAfterMs, hedgeStallAfterMs }) => ({ afterMs: hedgeAfterMs ?? Infinity, stallAfterMs: hedgeStallAfterMs ?? Infinity }));
    const bootstrapped = await bootstrap({ calls: sample.items, limits, seed, confidence, onStep, ...effort });
    return { bootstrapped, predictions: thresholds.map((each, at) => toPrediction(each, bootstrapped.estimates[at] as Estimate)) };
  }

  async function run(onProgress?: (done: number) => void): Promise<WhatIf> {
    const onStep = stepCounter(scouting.repetitions + repetitions + resamples, onProgress);
    const firsts = afterGrid.filter((ms) => ms < tally.longest.firstMs).map((ms): Thresholds => ({ hedgeAfterMs: ms, hedgeStallAfterMs: null }));
    const stalls = stallGrid.filter((ms) => ms < tally.longest.gapMs).map((ms): Thresholds => ({ hedgeAfterMs: null, hedgeStallAfterMs: ms }));
    const singles = [...firsts, ...stalls];
    const scouted = await predict(singles, { ...scouting, onStep });
    const pairs = pairsAround(scouted.predictions.slice(0, firsts.length), scouted.predictions.slice(firsts.length), scouted.bootstrapped.unhedged, budgetFrom(scouted.bootstrapped));
    const { bootstrapped, predictions } = await predict([...singles, ...pairs], { repetitions, resamples, onStep });
    const first = predictions.slice(0, firsts.length);
    const stall = predictions.slice(firsts.length, singles.length);
    const { latency: unhedged } = bootstrapped.unhedged;
    const budget = budgetFrom(bootstrapped);

    const thin = thinReasons(sample.items, tally.calls);
    const found = thin.length > 0 ? undefined : recommend(predictions, unhedged.p95Ms.value, budget);
    const recommendation: Recommendation | null = found ?? null;
    return {
      calls: tally.calls,
      attempts: seen.attempts,
      sampledCalls: sample.items.length,
      seed,
      resamples,
      confidence,
      ...budget,
      observed: observed(),
      unhedged,
      first,
      stall,
      recommendation,
      warnings: [...thin, ...warningsOf({ recommendation, thin: thin.length > 0, calls: tally.calls, sample: sample.items, drawn: bootstrapped.drawn, repetitions, leftOut: leftOut.counts, budget })],
    };
  }

  function budgetFrom({ unhedged: { extraTokensShare } }: Bootstrapped): Budget {
    return { maxExtra, maxExtraOf: Number.isFinite(extraTokensShare.value) ? 'tokens' : 'requests' };
  }

  function observed(): WhatIf['observed'] {
    const { p50Ms, p90Ms, p95Ms, p99Ms } = lengths.distribution();
    const share = (count: number): number => (tally.calls === 0 ? 0 : count / tally.calls);
    return { p50Ms: p50Ms ?? 0, p90Ms: p90Ms ?? 0, p95Ms: p95Ms ?? 0, p99Ms: p99Ms ?? 0, hedgedShare: share(seen.hedged), failedShare: share(seen.failed) };
  }

  return { add, run, predict: async (thresholds) => (await predict(thresholds, { repetitions, resamples })).predictions };
}

function gridOf(grid: readonly number[] = defaultGridS.map((s) => s * 1000)): number[] {
  return [...new Set(grid)].sort((a, b) => a - b);
}

function stepCounter(steps: number, onProgress: ((done: number) => void) | undefined): () => void {
  let done = 0;
  return () => {
    done += 1;
    onProgress?.(Math.min(1, done / steps));
  };
}

/** The best of each kind and its neighbours, with each other. */
function pairsAround(first: readonly Prediction[], stall: readonly Prediction[], { latency: { p95Ms } }: Estimate, budget: Budget): Thresholds[] {
  const around = (predictions: readonly Prediction[]): readonly Prediction[] => {
    const best = kneeOf(predictions, p95Ms.value, budget);
    const at = best === undefined ? predictions.length - 1 : predictions.indexOf(best);
    return predictions.slice(Math.max(0, at - 1), at + 2);
  };
  return around(first).flatMap(({ hedgeAfterMs }) => around(stall).map(({ hedgeStallAfterMs }): Thresholds => ({ hedgeAfterMs, hedgeStallAfterMs })));
}
