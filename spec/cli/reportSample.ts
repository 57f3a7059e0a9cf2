import type { Distribution, OutcomeCounts, ReportFigures, SourceFigures, TimeSplit } from '../../lib/lab/report/reportFigures.js';
import type { Band, Prediction, WhatIf } from '../../lib/lab/whatif/whatIf.js';

const minute = 60_000;
const hour = 60 * minute;

export const nothing: Distribution = { count: 0, meanMs: null, p50Ms: null, p90Ms: null, p95Ms: null, p99Ms: null, maxMs: null, cdf: [] };

/** Ten values, of which 4 are above a second, 2 above 20 s and one at 90 s. */
export const silences: Distribution = {
  count: 10,
  meanMs: 12_800,
  p50Ms: 400,
  p90Ms: 25_000,
  p95Ms: 90_000,
  p99Ms: 90_000,
  maxMs: 90_000,
  cdf: [[100, 0.2], [400, 0.6], [5000, 0.7], [8000, 0.8], [25_000, 0.9], [90_000, 1]],
};

export const noTime: TimeSplit = { attempts: 0, wallMs: 0, measured: 0, measuredMs: 0, stallMs: 0, firstWaitMs: 0, cut: 0, neverSpoke: 0, cutMs: 0, cutFirstWaitMs: 0, cutSilentMs: 0, wholeMs: 0 };

const noOutcomes: OutcomeCounts = { won: 0, lost: 0, transient: 0, rate_limited: 0, source: 0, request: 0, hedge_cancelled: 0, caller_cancelled: 0, deadline: 0 };

export function sourceSample(source: string, time: Partial<TimeSplit>, over: Partial<SourceFigures> = {}): SourceFigures {
  const [provider = ''] = source.split('/');
  return { source, provider, models: ['m-1', 'm-2'], time: { ...noTime, ...time }, ttft: silences, longestSilence: silences, outcomes: { ...noOutcomes, won: 3, transient: 1 }, ...over };
}

/** Ten hours measured, of them four silent, three at `slow/1`. */
export function figuresSample(over: Partial<ReportFigures> = {}): ReportFigures {
  return {
    madeAt: '2026-11-30T11:00:00.000Z',
    database: 'sqlite:/data/telemetry.db',
    filter: { since: null, until: null, source: null, tags: {} },
    firstAt: '2026-11-01T08:00:59.000Z',
    lastAt: '2026-11-30T10:00:00.000Z',
    overall: { attempts: 1200, wallMs: 12 * hour, measured: 1000, measuredMs: 10 * hour, stallMs: 4 * hour, firstWaitMs: hour, cut: 100, neverSpoke: 40, cutMs: hour, cutFirstWaitMs: 20 * minute, cutSilentMs: 12 * minute, wholeMs: hour },
    outcomes: noOutcomes,
    sources: [
      sourceSample('fast/1', { attempts: 400, measured: 400, measuredMs: 5 * hour, stallMs: hour }),
      sourceSample('slow/1', { attempts: 800, measured: 600, measuredMs: 5 * hour, stallMs: 3 * hour }),
    ],
    ttft: silences,
    longestSilence: silences,
    gaps: silences,
    wall: silences,
    net: silences,
    calls: { calls: 1100, answered: 1000, latency: { ...silences, p50Ms: 12_000, p95Ms: 66_000 }, net: { ...silences, p95Ms: 30_500 } },
    hedges: { calls: 80, started: { first_increment: 10, stall: 70 }, won: 50, wasted: 25, failed: 5, losers: { attempts: 75, tokensReported: 1000, tokensEstimated: 200, unknown: 3, wallMs: hour }, winnersTokens: 40_000 },
    slowest: [
      {
        callId: '=call-1',
        startedAt: '2026-11-02T08:00:00.000Z',
        callMs: 90_000,
        answered: true,
        attempts: [
          { source: 'slow/1', role: 'primary', trigger: null, round: 1, startMs: 0, endMs: 90_000, ttftMs: 400, won: false, errorClass: 'transient', errorMessage: '-1, "cut"\nhere', silences: [] },
        ],
      },
    ],
    step: 'hour',
    hours: [{ from: '2026-11-01T08:00:00.000Z', time: { ...noTime, attempts: 1, wallMs: 5 }, backups: 2, failed: 3 }],
    blocked: 0,
    ...over,
  };
}

export function band(value: number, spread = 0.1): Band {
  return { value, low: value * (1 - spread), high: value * (1 + spread) };
}

export function predictionSample(over: Partial<Prediction> = {}): Prediction {
  return {
    hedgeAfterMs: null,
    hedgeStallAfterMs: 20_000,
    hedgedCalls: 209,
    hedgedShare: 0.19,
    imputedShare: 0,
    latency: { p50Ms: band(11_900), p90Ms: band(30_000), p95Ms: band(41_000), p99Ms: band(70_000) },
    savedMsPerCall: band(6000),
    savedShare: band(0.3),
    failedShare: band(0.01),
    extraTokensPerCall: band(12),
    extraTokensShare: band(0.041),
    extraRequestsShare: band(0.19),
    ...over,
  };
}

export function whatIfSample(over: Partial<WhatIf> = {}): WhatIf {
  const stall = [5000, 10_000, 20_000, 30_000].map((ms, at) =>
    predictionSample({
      hedgeStallAfterMs: ms,
      hedgedShare: 0.4 - at * 0.07,
      latency: { p50Ms: band(11_900), p90Ms: band(30_000), p95Ms: band([35_000, 38_000, 41_000, 55_000][at] ?? 0), p99Ms: band(70_000) },
      extraTokensShare: band(0.12 - at * 0.03),
    }),
  );
  const first = [predictionSample({ hedgeAfterMs: 2000, hedgeStallAfterMs: null, extraTokensShare: band(0.15), latency: { p50Ms: band(11_000), p90Ms: band(36_000), p95Ms: band(60_000), p99Ms: band(80_000) } })];
  return {
    calls: 1100,
    attempts: 1200,
    sampledCalls: 1100,
    seed: 1,
    resamples: 200,
    confidence: 0.9,
    maxExtra: 0.1,
    maxExtraOf: 'tokens',
    observed: { p50Ms: 12_000, p90Ms: 40_000, p95Ms: 66_000, p99Ms: 90_000, hedgedShare: 0.07, failedShare: 0.01 },
    unhedged: { p50Ms: band(12_000), p90Ms: band(40_000), p95Ms: band(66_000), p99Ms: band(90_000) },
    first,
    stall,
    recommendation: { prediction: predictionSample(), reason: 'Of the thresholds that cost at most 10 %, the next lower one costs much more and brings little.' },
    warnings: ['Backups are drawn from what the other sources did with other prompts.'],
    ...over,
  };
}
