/** A predicted figure with its band, as wide as `confidence` says. */
export interface Band {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** When a backup would have started; `null`: never for that kind. */
export interface Thresholds {
  readonly hedgeAfterMs: number | null;
  readonly hedgeStallAfterMs: number | null;
}

/** Percentiles of the time from a call's entering to its end, in ms. */
export interface LatencyBands {
  readonly p50Ms: Band;
  readonly p90Ms: Band;
  readonly p95Ms: Band;
  readonly p99Ms: Band;
}

export interface Prediction extends Thresholds {
  /** Calls with at least one backup: counted over all calls, not sampled. Exact where no primary had been cut by a hedge before. */
  readonly hedgedCalls: number;
  readonly hedgedShare: number;
  /** Of them, those whose trigger could only be imputed, since a hedge of the time had cut the primary. */
  readonly imputedShare: number;
  readonly latency: LatencyBands;
  /** Against no hedging at all: time saved per call on average, and as a share of all call time. */
  readonly savedMsPerCall: Band;
  readonly savedShare: Band;
  /** Of failed calls (no attempt answered), how many fewer, per call. */
  readonly failedShare: Band;
  /** Tokens that losers would have cost, per call, and as a share of the tokens without hedging; `null` where no row has tokens. */
  readonly extraTokensPerCall: Band | null;
  readonly extraTokensShare: Band | null;
  /** Backups per request sent without hedging. */
  readonly extraRequestsShare: Band;
}

export interface Recommendation {
  readonly prediction: Prediction;
  /** Why this one, for a person, in one or two sentences. */
  readonly reason: string;
}

/** What other thresholds would have done; plain JSON. */
export interface WhatIf {
  readonly calls: number;
  readonly attempts: number;
  /** Calls that the predictions were made from; all of them, or a seeded sample. */
  readonly sampledCalls: number;
  readonly seed: number;
  readonly resamples: number;
  readonly confidence: number;
  readonly maxExtra: number;
  /** Which cost `maxExtra` is compared with. */
  readonly maxExtraOf: 'tokens' | 'requests';
  /** What the rows say happened, with the hedging of the time. */
  readonly observed: { readonly p50Ms: number; readonly p90Ms: number; readonly p95Ms: number; readonly p99Ms: number; readonly hedgedShare: number; readonly failedShare: number };
  /** Without hedging; equals `observed` where none was on. */
  readonly unhedged: LatencyBands;
  /** One kind at a time, the other off; growing thresholds. */
  readonly first: readonly Prediction[];
  readonly stall: readonly Prediction[];
  /** `null`: nothing within the budget helps, or too little is known; `warnings` say why. */
  readonly recommendation: Recommendation | null;
  /** What the reader must know before he believes it. */
  readonly warnings: readonly string[];
}
