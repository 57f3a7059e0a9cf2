import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWhatIf } from '../../lib/lab/whatif/createWhatIf.js';
import type { Band, LatencyBands, Prediction } from '../../lib/lab/whatif/whatIf.js';
import type { StoredAttempt } from '../../lib/telemetry/attemptReader.js';
import { playWorkload, truthOf } from './stallingWorkload.js';

type Hedging = { readonly hedgeAfterMs?: number; readonly hedgeStallAfterMs?: number };
type Calls = readonly (readonly StoredAttempt[])[];

const off: Hedging = {};
const stall: Hedging = { hedgeStallAfterMs: 10_000 };
const first: Hedging = { hedgeAfterMs: 3000 };
const both: Hedging = { ...first, ...stall };
const kinds = [['stall', stall], ['first', first], ['both', both]] as const;
// WHATIF_TABLE=1 prints predicted against simulated for every case; another WHATIF_SEED makes other calls, WHATIF_CALLS another number of them.
const calls = Number(process.env['WHATIF_CALLS'] ?? 1500);
const otherSeed = Number(process.env['WHATIF_SEED'] ?? 12);
const wholeSeed = otherSeed + 1000;

/** Played when first needed, and only once. */
const played = new Map<string, Calls>();
function rows(seed: number, hedging: Hedging): Calls {
  const key = `${seed} ${JSON.stringify(hedging)}`;
  const known = played.get(key) ?? playWorkload({ seed, calls, ...hedging });
  played.set(key, known);
  return known;
}

interface Predicted {
  readonly unhedged: LatencyBands;
  readonly stall: Prediction;
  readonly first: Prediction;
  readonly both: Prediction;
}

async function predict(from: Calls): Promise<Predicted> {
  const engine = createWhatIf({ hedgeAfterMs: [3000], hedgeStallAfterMs: [10_000], resamples: 5 });
  from.forEach(engine.add);
  const { unhedged, stall: stalls, first: firsts } = await engine.run();
  const pairs = await engine.predict([{ hedgeAfterMs: 3000, hedgeStallAfterMs: 10_000 }]);
  return { unhedged, stall: stalls[0]!, first: firsts[0]!, both: pairs[0]! };
}

const off95 = (estimate: number, truth: number): number => estimate / truth - 1;
/** Four standard deviations of the difference of two shares, each counted in its own calls. */
const noiseOf = (share: number): number => 4 * Math.sqrt((2 * share * (1 - share)) / calls);
const lines: string[] = [];

/** Predicted against simulated; what is printed is what the documentation cites. */
function compare(name: string, latency: LatencyBands, truth: Calls): number {
  const real = truthOf(truth);
  const figure = (band: Band, realMs: number): string => `${(band.value / 1000).toFixed(1)}/${(realMs / 1000).toFixed(1)} s (${(off95(band.value, realMs) * 100).toFixed(1)} %)`;
  lines.push(`${name.padEnd(34)} p50 ${figure(latency.p50Ms, real.p50Ms)}  p95 ${figure(latency.p95Ms, real.p95Ms)}  p99 ${figure(latency.p99Ms, real.p99Ms)}`);
  return Math.abs(off95(latency.p95Ms.value, real.p95Ms));
}

afterAll(() => {
  if (process.env['WHATIF_TABLE'] !== undefined) process.stdout.write(`${lines.join('\n')}\n`);
});

describe('from rows without hedging', () => {
  let result: Predicted;
  beforeAll(async () => { result = await predict(rows(wholeSeed, off)); }, 120_000);

  test.each(kinds)('%s: p95 is predicted within 10 %% of what the engine then does with other calls; hedged calls and requests within their noise', (name, hedging) => {
    const prediction = result[name];
    const truth = rows(otherSeed, hedging);
    const { backups, primaries, hedgedCalls } = truthOf(truth);
    expect(compare(`other calls: off -> ${name}`, prediction.latency, truth)).toBeLessThan(0.1);
    expect(Math.abs(prediction.extraRequestsShare.value - backups / primaries)).toBeLessThan(noiseOf(prediction.extraRequestsShare.value));
    expect(Math.abs(prediction.hedgedShare - hedgedCalls / calls)).toBeLessThan(noiseOf(prediction.hedgedShare));
    expect(prediction.imputedShare).toBe(0);
  }, 120_000);

  test('the share of hedged calls is, on the same streams, exactly that of the engine', async () => {
    const same = await predict(rows(otherSeed, off));
    const real = kinds.map(([, hedging]) => truthOf(rows(otherSeed, hedging)).hedgedCalls);
    expect([same.stall, same.first, same.both].map(({ hedgedCalls }) => hedgedCalls)).toEqual(real);
    for (const [name, hedging] of kinds) compare(`the same calls: off -> ${name}`, same[name].latency, rows(otherSeed, hedging));
    expect(same.unhedged.p95Ms.value).toBe(truthOf(rows(otherSeed, off)).p95Ms);
  }, 120_000);
});

describe('from rows with hedging on', () => {
  let fromFirst: Predicted;
  let fromStall: Predicted;
  beforeAll(async () => {
    fromFirst = await predict(rows(otherSeed, first));
    fromStall = await predict(rows(otherSeed, stall));
  }, 120_000);

  test('no hedging: p95 within 10 % of what the engine does, though the longest silences were cut', () => {
    expect(compare('first -> off', fromFirst.unhedged, rows(otherSeed, off))).toBeLessThan(0.1);
    expect(compare('stall -> off', fromStall.unhedged, rows(otherSeed, off))).toBeLessThan(0.1);
  });

  test('the other kind: p95 within 10 %, and the hedged calls that are not known are imputed', () => {
    const stalls = fromFirst.stall;
    expect(compare('first -> stall', stalls.latency, rows(otherSeed, stall))).toBeLessThan(0.1);
    expect(compare('stall -> first', fromStall.first.latency, rows(otherSeed, first))).toBeLessThan(0.1);
    expect(stalls.imputedShare).toBeGreaterThan(0.05);
    const real = truthOf(rows(otherSeed, stall)).hedgedCalls;
    expect(Math.abs(off95(stalls.hedgedCalls, real))).toBeLessThan(0.15);
  });

  test('control: with cut attempts dropped, or taken to end where they were cut, p95 without hedging misses by more than 10 %', () => {
    const real = truthOf(rows(otherSeed, off)).p95Ms;
    const isCut = ({ error_class: errorClass }: StoredAttempt): boolean => errorClass === 'hedge_cancelled';
    const dropped = rows(otherSeed, stall).filter((call) => !call.some((attempt) => attempt.role === 'primary' && isCut(attempt)));
    const ended = rows(otherSeed, stall).map((call) => call.filter(({ role }) => role === 'primary').map((attempt) => (isCut(attempt) ? { ...attempt, won: true } : attempt)));
    expect(off95(truthOf(dropped).p95Ms, real)).toBeLessThan(-0.1);
    expect(off95(truthOf(ended).p95Ms, real)).toBeLessThan(-0.1);
    lines.push(`control: dropped ${(off95(truthOf(dropped).p95Ms, real) * 100).toFixed(1)} %, taken to end ${(off95(truthOf(ended).p95Ms, real) * 100).toFixed(1)} %`);
  });
});
