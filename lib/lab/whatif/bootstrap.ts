import { setImmediate } from 'node:timers/promises';
import { mulberry32 } from '../mulberry32.js';
import type { CallShape } from './callShape.js';
import { createWorlds } from './counterfactual.js';
import type { Played, Worlds } from './counterfactual.js';
import { percentiles } from './percentiles.js';
import { createPlainCalls } from './plainCalls.js';
import type { Difference, Sums } from './plainCalls.js';
import type { Band, LatencyBands } from './whatIf.js';

/** Unset: `Infinity`. */
export interface Limits {
  readonly afterMs: number;
  readonly stallAfterMs: number;
}

/** What one pair of thresholds would have come to. */
export interface Estimate {
  readonly latency: LatencyBands;
  readonly savedMsPerCall: Band;
  readonly savedShare: Band;
  readonly failedShare: Band;
  /** `NaN` where no row has tokens. */
  readonly extraTokensPerCall: Band;
  readonly extraTokensShare: Band;
  readonly extraRequestsShare: Band;
  /** Of the sampled calls whose trigger is hidden, the share that would have been hedged; 0 where there is none. */
  readonly hiddenHedgedShare: number;
}

export interface BootstrapOptions {
  readonly calls: readonly CallShape[];
  readonly limits: readonly Limits[];
  readonly seed: number;
  /** None: bands without width. */
  readonly resamples: number;
  /** Draws over the calls as they are, whose mean is the estimate. */
  readonly repetitions: number;
  readonly confidence: number;
  readonly onStep?: (() => void) | undefined;
}

export interface Bootstrapped {
  readonly unhedged: Estimate;
  /** In the order of `limits`. */
  readonly estimates: readonly Estimate[];
  /** Cut attempts that were completed, and those that had no comparable one that lived longer. */
  readonly drawn: { readonly completed: number; readonly restricted: number };
}

const never: Limits = { afterMs: Infinity, stallAfterMs: Infinity };

/**
 * Estimates: the mean over draws of what is unknown, on the calls as they are. Bands: percentiles over resamples, each of
 * which draws calls with replacement, and then what is unknown from the attempts of those calls.
 */
export async function bootstrap({ calls, limits, seed, resamples, repetitions, confidence, onStep = () => undefined }: BootstrapOptions): Promise<Bootstrapped> {
  const random = mulberry32(seed);
  const worlds = createWorlds(calls, random);
  const play = createRun(calls, [never, ...limits], worlds);
  const everyCall = Uint32Array.from(calls.keys());

  const plain: Figures[][] = [];
  for (let at = 0; at < repetitions; at++) {
    plain.push(play(everyCall));
    onStep();
    await setImmediate();
  }
  const drawn = { ...worlds.lives.drawn };
  const resampled: Figures[][] = [];
  for (let at = 0; at < resamples; at++) {
    const chosen = everyCall.map(() => Math.floor(random() * calls.length));
    worlds.weigh(timesChosen(chosen, calls.length));
    resampled.push(play(chosen));
    onStep();
    await setImmediate();
  }
  const [unhedged, ...estimates] = [never, ...limits].map((_, at) => summary(column(plain, at), column(resampled, at), confidence));
  return { unhedged: unhedged as Estimate, estimates, drawn };
}

function timesChosen(chosen: Uint32Array, count: number): Uint32Array {
  const times = new Uint32Array(count);
  for (const call of chosen) times[call] = (times[call] ?? 0) + 1;
  return times;
}

const shares = [0.5, 0.9, 0.95, 0.99];

/** One figure each: what a `Band` is later made from. */
interface Figures {
  readonly latencyMs: readonly number[];
  readonly savedMsPerCall: number;
  readonly savedShare: number;
  readonly failedShare: number;
  readonly extraTokensPerCall: number;
  readonly extraTokensShare: number;
  readonly extraRequestsShare: number;
  readonly hiddenHedgedShare: number;
}

/** Plays the chosen calls once with each of `limits`. */
function createRun(calls: readonly CallShape[], limits: readonly Limits[], worlds: Worlds): (chosen: Uint32Array) => Figures[] {
  const lengths = limits.map(() => new Float64Array(calls.length));
  const plain = createPlainCalls(calls, limits, worlds.lives);
  const unhedged = nothingPlayed();
  const hedged = nothingPlayed();

  return (chosen) => {
    const sums: Sums = { ms: 0, requests: 0, primaryTokens: 0 };
    const differences = limits.map((): Difference => ({ savedMs: 0, fewerFailed: 0, backups: 0, loserTokens: 0, hidden: 0, hiddenHedged: 0 }));
    plain.draw(chosen, sums);
    chosen.forEach((number, place) => {
      if (!plain.has(number)) playWhole(calls[number] as CallShape, place, sums, differences);
    });
    return limits.map((_, at) => {
      const [ofLimit, difference] = [lengths[at] as Float64Array, differences[at] as Difference];
      plain.play(at, ofLimit, difference);
      return figuresOf(difference, sums, ofLimit);
    });
  };

  function playWhole(call: CallShape, place: number, sums: Sums, differences: readonly Difference[]): void {
    const world = worlds.draw(call);
    world.play(Infinity, Infinity, unhedged);
    addTo(sums, unhedged);
    for (let at = 0; at < limits.length; at++) {
      const { afterMs, stallAfterMs } = limits[at] as Limits;
      world.play(afterMs, stallAfterMs, hedged);
      (lengths[at] as Float64Array)[place] = hedged.lengthMs;
      addDifference(differences[at] as Difference, unhedged, hedged, call.hidden && call.longestFirstMs <= afterMs && call.longestGapMs <= stallAfterMs);
    }
  }
}

const nothingPlayed = (): Played => ({ lengthMs: 0, answered: false, requests: 0, backups: 0, primaryTokens: 0, loserTokens: 0 });

function addTo(sums: Sums, played: Played): void {
  sums.ms += played.lengthMs;
  sums.requests += played.requests;
  sums.primaryTokens += played.primaryTokens;
}

function addDifference(difference: Difference, unhedged: Played, hedged: Played, hidden: boolean): void {
  difference.savedMs += unhedged.lengthMs - hedged.lengthMs;
  difference.fewerFailed += (unhedged.answered ? 0 : 1) - (hedged.answered ? 0 : 1);
  difference.backups += hedged.backups;
  difference.loserTokens += hedged.loserTokens;
  if (!hidden) return;
  difference.hidden += 1;
  difference.hiddenHedged += hedged.backups > 0 ? 1 : 0;
}

function figuresOf(difference: Difference, sums: Sums, lengths: Float64Array): Figures {
  const calls = Math.max(1, lengths.length);
  return {
    latencyMs: percentiles(lengths, shares),
    savedMsPerCall: difference.savedMs / calls,
    savedShare: ratio(difference.savedMs, sums.ms),
    failedShare: difference.fewerFailed / calls,
    extraTokensPerCall: difference.loserTokens / calls,
    // Unknown tokens are in the sum, where nobody need have lost.
    extraTokensShare: Number.isNaN(sums.primaryTokens) ? NaN : ratio(difference.loserTokens, sums.primaryTokens),
    extraRequestsShare: ratio(difference.backups, sums.requests),
    hiddenHedgedShare: ratio(difference.hiddenHedged, difference.hidden),
  };
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

function column(runs: readonly Figures[][], at: number): Figures[] {
  return runs.map((run) => run[at] as Figures);
}

function summary(plain: readonly Figures[], resampled: readonly Figures[], confidence: number): Estimate {
  const band = (figure: (figures: Figures) => number): Band => bandOf(plain.map(figure), resampled.map(figure), confidence);
  const [p50Ms, p90Ms, p95Ms, p99Ms] = shares.map((_, at) => band(({ latencyMs }) => latencyMs[at] ?? 0)) as [Band, Band, Band, Band];
  return {
    latency: { p50Ms, p90Ms, p95Ms, p99Ms },
    savedMsPerCall: band(({ savedMsPerCall }) => savedMsPerCall),
    savedShare: band(({ savedShare }) => savedShare),
    failedShare: band(({ failedShare }) => failedShare),
    extraTokensPerCall: band(({ extraTokensPerCall }) => extraTokensPerCall),
    extraTokensShare: band(({ extraTokensShare }) => extraTokensShare),
    extraRequestsShare: band(({ extraRequestsShare }) => extraRequestsShare),
    hiddenHedgedShare: mean(plain.map(({ hiddenHedgedShare }) => hiddenHedgedShare)),
  };
}

function bandOf(plain: readonly number[], resampled: readonly number[], confidence: number): Band {
  const value = mean(plain);
  if (resampled.length === 0) return { value, low: value, high: value };
  const [low = value, high = value] = percentiles(Float64Array.from(resampled), [(1 - confidence) / 2, (1 + confidence) / 2]);
  return { value, low: Math.min(value, low), high: Math.max(value, high) };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
