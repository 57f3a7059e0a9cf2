import { mulberry32 } from '../../lib/lab/mulberry32.js';
import type { Distribution, HourFigures, OutcomeCounts, ReportFigures, SlowCall, SourceFigures, TimeSplit } from '../../lib/lab/report/reportFigures.js';
import type { Band, Prediction, WhatIf } from '../../lib/lab/whatif/whatIf.js';

export interface PageFiguresOptions {
  readonly seed?: number;
  readonly sources?: readonly string[];
  readonly hours?: number;
}

/** One made-up stream. */
interface Stream {
  readonly source: string;
  readonly hour: number;
  readonly firstMs: number;
  readonly longestMs: number;
  readonly stallMs: number;
  readonly wallMs: number;
  readonly end: keyof OutcomeCounts;
}

const start = Date.parse('2026-03-10T06:00:00Z');

/** Figures as a few days of two good sources and worse ones would give; the same seed, the same figures. */
export function pageFigures({ seed = 7, sources = ['openai/1', 'azure/1', 'openrouter/2', 'mistral/1'], hours = 40 }: PageFiguresOptions = {}): ReportFigures {
  const random = mulberry32(seed);
  const streams = Array.from({ length: 4000 }, () => streamOf({ random, sources, hours }));
  const answered = streams.filter(({ end }) => end === 'won' || end === 'lost');
  const count = (end: keyof OutcomeCounts): number => streams.filter((stream) => stream.end === end).length;
  const backups = Math.round(count('hedge_cancelled') * 1.15);
  const wall = answered.map(({ wallMs }) => wallMs);
  const net = answered.map(({ wallMs, stallMs }) => wallMs - stallMs);
  return {
    madeAt: '2026-03-12T09:30:00.000Z',
    database: 'sqlite:./telemetry.db',
    filter: { since: '2026-03-10T06:00:00.000Z', until: null, source: null, tags: { team: 'search' } },
    firstAt: new Date(start).toISOString(),
    lastAt: new Date(start + hours * 3_600_000).toISOString(),
    overall: timeOf(streams),
    outcomes: outcomesOf(streams),
    sources: sources.map((source) => sourceOf(source, streams)).sort((a, b) => b.time.wallMs - a.time.wallMs),
    ttft: distributionOf(streams.map(({ firstMs }) => firstMs)),
    longestSilence: distributionOf(streams.map(({ longestMs }) => longestMs)),
    gaps: distributionOf(streams.flatMap(({ longestMs }) => [longestMs, longestMs * random(), longestMs * random() * 0.2].map(Math.round))),
    wall: distributionOf(wall),
    net: distributionOf(net),
    calls: { calls: 3700, answered: 3624, latency: distributionOf(wall.map((ms) => ms + 40)), net: distributionOf(net.map((ms) => ms + 40)) },
    hedges: {
      calls: Math.round(backups * 0.98),
      started: { first_increment: Math.round(backups * 0.2), stall: backups - Math.round(backups * 0.2) },
      won: Math.round(backups * 0.7),
      wasted: backups - Math.round(backups * 0.7) - 4,
      failed: 4,
      losers: { attempts: count('hedge_cancelled') + count('lost'), tokensReported: 18_400, tokensEstimated: 203_000, unknown: 7, wallMs: 4_100_000 },
      winnersTokens: 5_430_000,
    },
    slowest: slowestOf(random, sources),
    step: 'hour',
    hours: Array.from({ length: hours }, (_, hour) => hourOf(hour, streams)).filter(({ time }) => time.attempts > 0),
    blocked: 3,
  };
}

/** Nothing was recorded, or the filter lets nothing through. */
export function emptyFigures(): ReportFigures {
  const none = distributionOf([]);
  return {
    ...pageFigures({ hours: 1 }),
    firstAt: null,
    lastAt: null,
    overall: timeOf([]),
    outcomes: outcomesOf([]),
    sources: [],
    ttft: none,
    longestSilence: none,
    gaps: none,
    wall: none,
    net: none,
    calls: { calls: 0, answered: 0, latency: none, net: none },
    hedges: { calls: 0, started: { first_increment: 0, stall: 0 }, won: 0, wasted: 0, failed: 0, losers: { attempts: 0, tokensReported: 0, tokensEstimated: 0, unknown: 0, wallMs: 0 }, winnersTokens: 0 },
    slowest: [],
    hours: [],
    blocked: 0,
  };
}

/** A few whole answers of one source: nothing is known of any middle, nothing was hedged. */
export function wholeFigures(): ReportFigures {
  const empty = emptyFigures();
  const time = { ...empty.overall, attempts: 3, wallMs: 9000, wholeMs: 9000 };
  const outcomes = { ...empty.outcomes, won: 3 };
  const calls = { calls: 3, answered: 3, latency: distributionOf([2000, 3000, 4000]), net: empty.calls.net };
  const source = { source: 'local/1', provider: 'local', models: ['m'], time, ttft: empty.ttft, longestSilence: empty.longestSilence, outcomes };
  const attempt = { source: 'local/1', role: 'primary', trigger: null, round: 1, startMs: 0, endMs: 4000, ttftMs: null, won: true, errorClass: null, errorMessage: null, silences: [] } as const;
  const hours = [{ from: '2026-03-10T06:00:00.000Z', time, backups: 0, failed: 0 }];
  return { ...empty, firstAt: '2026-03-10T06:00:00.000Z', lastAt: '2026-03-10T06:01:00.000Z', overall: time, outcomes, sources: [source], calls, hours, slowest: [{ callId: 'c1', startedAt: '2026-03-10T06:00:00.000Z', callMs: 4000, answered: true, attempts: [attempt] }] };
}

/** A source that kept 180 of 200 streams waiting for two minutes, and never said anything; 20 calls were hedged, and of the losers nothing is known. */
export function deadFigures(): ReportFigures {
  const whole = wholeFigures();
  const time = { ...whole.overall, attempts: 200, wallMs: 21_700_000, measured: 20, measuredMs: 100_000, firstWaitMs: 10_000, cut: 180, neverSpoke: 180, cutMs: 21_600_000, cutFirstWaitMs: 21_600_000, wholeMs: 0 };
  const outcomes = { ...whole.outcomes, won: 20, transient: 160, hedge_cancelled: 20 };
  const [longestSilence, ttft] = [distributionOf(Array.from({ length: 20 }, (_, index) => (index === 0 ? 0 : 90 + index))), distributionOf(Array.from({ length: 20 }, () => 500))];
  const hedges = { ...whole.hedges, calls: 20, started: { first_increment: 20, stall: 0 }, won: 20, losers: { ...whole.hedges.losers, attempts: 20, unknown: 20, wallMs: 2_400_000 } };
  return { ...whole, overall: time, outcomes, longestSilence, gaps: longestSilence, ttft, hedges, sources: whole.sources.map((source) => ({ ...source, time, outcomes, longestSilence, ttft })), hours: whole.hours.map((hour) => ({ ...hour, time, failed: 160 })) };
}

/** Rows of the first schema: longest silences are known, sums are not. */
export function olderFigures(): ReportFigures {
  const whole = wholeFigures();
  const longestSilence = distributionOf([2000, 3000, 28_540]);
  return { ...whole, longestSilence, gaps: longestSilence, sources: whole.sources.map((source) => ({ ...source, longestSilence })) };
}

export function pageWhatIf(): WhatIf {
  const stall = [2, 5, 10, 15, 20, 30, 45, 60].map((thresholdS) => predictionOf({ hedgeAfterMs: null, hedgeStallAfterMs: thresholdS * 1000 }, thresholdS, 1));
  const first = [1, 2, 5, 10, 20, 30].map((thresholdS) => predictionOf({ hedgeAfterMs: thresholdS * 1000, hedgeStallAfterMs: null }, thresholdS * 2, 0.35));
  return {
    calls: 3700,
    attempts: 4000,
    sampledCalls: 3700,
    seed: 1,
    resamples: 400,
    confidence: 0.9,
    maxExtra: 0.1,
    maxExtraOf: 'tokens',
    observed: { p50Ms: 9800, p90Ms: 39_000, p95Ms: 61_000, p99Ms: 124_000, hedgedShare: 0.08, failedShare: 0.021 },
    unhedged: { p50Ms: band(9900), p90Ms: band(42_000), p95Ms: band(66_000), p99Ms: band(138_000) },
    first,
    stall,
    recommendation: { prediction: stall[3]!, reason: 'A backup after 15 s of silence in mid-stream saves most for its cost: below it, each further second saved costs more than twice as many tokens.' },
    warnings: ['8 % of the calls had been hedged at the time: their primaries were cut, so their silences are known in part only.', 'mistral/1 has fewer than 100 attempts that were answered: backups drawn from it are uncertain.'],
  };
}

function predictionOf(thresholds: Pick<Prediction, 'hedgeAfterMs' | 'hedgeStallAfterMs'>, s: number, weight: number): Prediction {
  const gain = weight / (1 + s / 25);
  const extra = weight * 0.34 * Math.exp(-s / 9) + 0.004;
  const at = (ms: number): Band => band(ms * (1 - 0.55 * gain));
  return {
    ...thresholds,
    hedgedCalls: Math.round(3700 * extra * 1.3),
    hedgedShare: extra * 1.3,
    imputedShare: s > 20 ? 0 : 0.04,
    latency: { p50Ms: band(9900 * (1 - 0.1 * gain)), p90Ms: at(42_000), p95Ms: at(66_000), p99Ms: at(138_000) },
    savedMsPerCall: band(5200 * gain),
    savedShare: band(0.28 * gain),
    failedShare: band(0.3 * gain),
    extraTokensPerCall: band(1400 * extra),
    extraTokensShare: band(extra),
    extraRequestsShare: band(extra * 1.3),
  };
}

const band = (value: number): Band => ({ value, low: value * 0.93, high: value * 1.08 });

function streamOf({ random, sources, hours }: { readonly random: () => number; readonly sources: readonly string[]; readonly hours: number }): Stream {
  const which = Math.floor(random() ** 1.6 * sources.length);
  const badness = [0.22, 0.35, 0.7, 0.5][which % 4]!;
  const firstMs = Math.round(300 * (1 + which * 0.5) * Math.exp(gauss(random) * 0.8));
  const stalled = random() < badness;
  const longestMs = Math.round(stalled ? 7000 * Math.exp(gauss(random) * 1.5) : 120 * Math.exp(gauss(random) * 0.6));
  const stallMs = longestMs > 1000 ? Math.round(longestMs * (1 + random() * 0.6)) : 0;
  const wallMs = firstMs + stallMs + Math.round(7000 * Math.exp(gauss(random) * 0.5)) + longestMs;
  const day = Math.floor(random() * hours);
  const hour = random() < 0.25 ? Math.min(hours - 1, 8 + Math.floor(random() * 4)) : day;
  return { source: sources[which]!, hour, firstMs, longestMs, stallMs, wallMs, end: endOf(random, longestMs) };
}

function endOf(random: () => number, longestMs: number): keyof OutcomeCounts {
  if (longestMs > 30_000) return random() < 0.6 ? 'hedge_cancelled' : 'won';
  const throwOf = random();
  const ends = [['won', 0.93], ['lost', 0.94], ['transient', 0.965], ['rate_limited', 0.98], ['source', 0.984], ['request', 0.988], ['caller_cancelled', 0.995], ['deadline', 1]] as const;
  return ends.find(([, below]) => throwOf < below)![0];
}

/** Near enough to a normal deviate. */
const gauss = (random: () => number): number => random() + random() + random() + random() + random() + random() - 3;

function timeOf(streams: readonly Stream[]): TimeSplit {
  const sum = (of: readonly Stream[], value: (stream: Stream) => number): number => of.reduce((total, stream) => total + value(stream), 0);
  const whole = streams.filter(({ wallMs, end }) => wallMs % 23 === 0 && end === 'won');
  const measured = streams.filter((stream) => (stream.end === 'won' || stream.end === 'lost') && !whole.includes(stream));
  const cut = streams.filter(({ end }) => end !== 'won' && end !== 'lost');
  const dumb = cut.filter(({ end }) => end === 'transient');
  const spoke = cut.filter((stream) => !dumb.includes(stream));
  return {
    attempts: streams.length,
    wallMs: sum(streams, ({ wallMs }) => wallMs),
    measured: measured.length,
    measuredMs: sum(measured, ({ wallMs }) => wallMs),
    stallMs: sum(measured, ({ stallMs }) => stallMs),
    firstWaitMs: sum(measured, ({ firstMs }) => firstMs),
    cut: cut.length,
    neverSpoke: dumb.length,
    cutMs: sum(cut, ({ wallMs }) => wallMs),
    cutFirstWaitMs: sum(dumb, ({ wallMs }) => wallMs) + sum(spoke, ({ firstMs }) => firstMs),
    cutSilentMs: sum(spoke, ({ longestMs }) => Math.round(longestMs * 0.8)),
    wholeMs: sum(whole, ({ wallMs }) => wallMs),
  };
}

function outcomesOf(streams: readonly Stream[]): OutcomeCounts {
  const count = (end: keyof OutcomeCounts): number => streams.filter((stream) => stream.end === end).length;
  return {
    won: count('won'),
    lost: count('lost'),
    transient: count('transient'),
    rate_limited: count('rate_limited'),
    source: count('source'),
    request: count('request'),
    hedge_cancelled: count('hedge_cancelled'),
    caller_cancelled: count('caller_cancelled'),
    deadline: count('deadline'),
  };
}

function sourceOf(source: string, streams: readonly Stream[]): SourceFigures {
  const own = streams.filter((stream) => stream.source === source);
  return {
    source,
    provider: source.split('/')[0]!,
    models: ['gpt-5', 'gpt-5-mini'],
    time: timeOf(own),
    ttft: distributionOf(own.map(({ firstMs }) => firstMs)),
    longestSilence: distributionOf(own.map(({ longestMs }) => longestMs)),
    outcomes: outcomesOf(own),
  };
}

function hourOf(hour: number, streams: readonly Stream[]): HourFigures {
  const own = streams.filter((stream) => stream.hour === hour);
  const ended = outcomesOf(own);
  return { from: new Date(start + hour * 3_600_000).toISOString(), time: timeOf(own), backups: ended.hedge_cancelled, failed: ended.transient + ended.rate_limited + ended.source + ended.request };
}

function distributionOf(values: readonly number[]): Distribution {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number | null => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
  const step = Math.max(1, Math.ceil(sorted.length / 190));
  const cdf = sorted.map((ms, index) => [ms, (index + 1) / sorted.length] as const).filter((_, index) => index === sorted.length - 1 || index % step === 0);
  return { count: sorted.length, meanMs: sorted.length === 0 ? null : sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length, p50Ms: at(0.5), p90Ms: at(0.9), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? null, cdf };
}

function slowestOf(random: () => number, sources: readonly string[]): SlowCall[] {
  return Array.from({ length: 20 }, (_, index) => slowCall({ index, callMs: Math.round(400_000 / (1 + index * 0.35)), random, sources }));
}

function slowCall({ index, callMs, random, sources }: { readonly index: number; readonly callMs: number; readonly random: () => number; readonly sources: readonly string[] }): SlowCall {
  const source = (which: number): string => sources[which % sources.length]!;
  const failsFirst = index % 4 === 2;
  const begin = failsFirst ? Math.round(callMs * 0.2) : 60;
  const silent = Math.round((callMs - begin) * 0.45);
  const hedgeAt = begin + 4000 + Math.round(silent * 0.5);
  const hedged = index % 3 !== 1;
  const failed = { source: source(1), role: 'primary', trigger: null, round: 1, startMs: 60, endMs: begin - 500, ttftMs: null, won: false, errorClass: 'transient', errorMessage: 'The stream was cut: read ECONNRESET after 0 increments', silences: [[0, begin - 560]] } as const;
  const primary = {
    source: source(index),
    role: 'primary',
    trigger: null,
    round: failsFirst ? 2 : 1,
    startMs: begin,
    endMs: callMs,
    ttftMs: 900,
    won: !hedged && index !== 7,
    errorClass: hedged ? 'hedge_cancelled' : index === 7 ? 'deadline' : null,
    errorMessage: hedged ? null : index === 7 ? 'The deadline of the call (300 s) came first' : null,
    silences: [[0, 900], [1500, 700 + Math.round(random() * 900)], [4000, silent]],
  } as const;
  const backup = { source: source(index + 1), role: 'backup', trigger: 'stall', round: primary.round, startMs: hedgeAt, endMs: callMs, ttftMs: 1400, won: true, errorClass: null, errorMessage: null, silences: [[0, 1400], [3000, 2100]] } as const;
  const attempts = [...(failsFirst ? [failed] : []), primary, ...(hedged ? [backup] : [])];
  return { callId: `01956f3c-9a${String(index).padStart(2, '0')}-7b1e-8f00-2d9c5c1b7a44`, startedAt: new Date(start + index * 5_000_000).toISOString(), callMs, answered: index !== 7, attempts };
}
