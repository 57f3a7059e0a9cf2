import { describe, expect, test } from '@jest/globals';
import { createWhatIf } from '../../lib/lab/whatif/createWhatIf.js';
import { knee } from '../../lib/lab/whatif/knee.js';
import { percentiles } from '../../lib/lab/whatif/percentiles.js';
import { silencesOf, triggerMs } from '../../lib/lab/whatif/replay.js';
import { createPool } from '../../lib/lab/whatif/survival.js';
import { mulberry32 } from '../../lib/lab/mulberry32.js';
import type { StoredAttempt } from '../../lib/telemetry/attemptReader.js';

const fresh: StoredAttempt = {
  id: '', call_id: '', scope: 'LLM', round: 1, role: 'primary', hedge_trigger: null, source: 'a/1', provider: 'a', model: 'm', streamed: true,
  outcome: 'ok', error_class: null, error_message: null, http_status: null, retry_after_ms: null, finish_reason: 'stop', provider_request_id: null, won: true,
  waited_ms: 0, ttft_ms: 1000, latency_ms: 5000, max_inter_token_ms: 200, increments: 10, prompt_tokens: 10, completion_tokens: 90, reasoning_tokens: null,
  cached_tokens: null, total_tokens: 100, estimated_tokens: null, loop_lag_ms: null, stall_ms: 0, stall_count: 0, tags: null, record_gaps: [[0, 1000], [1000, 200]], startedAtMs: 1_000_000,
};

function attempt(facts: Partial<StoredAttempt>): StoredAttempt {
  return { ...fresh, ...facts };
}

/** A stream that speaks after 1 s, is then silent for `silentMs` and ends half a second later. */
function stalled(silentMs: number, facts: Partial<StoredAttempt> = {}): StoredAttempt {
  return attempt({ latency_ms: 1500 + silentMs, max_inter_token_ms: silentMs, record_gaps: [[0, 1000], [1000, silentMs]], ...facts });
}

const cancelled = { outcome: 'error', error_class: 'hedge_cancelled', won: false, finish_reason: null, total_tokens: null, completion_tokens: null, max_inter_token_ms: null, stall_ms: null, stall_count: null } as const;

/** A primary that was silent from 1000 ms on until its backup, asked for after 10 s, had answered in `backupMs`. */
function rescued(backupMs: number): StoredAttempt[] {
  const cutMs = 11_000 + backupMs;
  return [
    attempt({ ...cancelled, latency_ms: cutMs, record_gaps: [[0, 1000], [1000, cutMs - 1000]] }),
    attempt({ role: 'backup', hedge_trigger: 'stall', source: 'b/1', latency_ms: backupMs, startedAtMs: 1_011_000 }),
  ];
}

async function whatIf(calls: readonly (readonly StoredAttempt[])[], options: Parameters<typeof createWhatIf>[0] = {}): ReturnType<ReturnType<typeof createWhatIf>['run']> {
  const engine = createWhatIf({ resamples: 20, repetitions: 5, ...options });
  calls.forEach(engine.add);
  return engine.run();
}

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

describe('the trigger (H1, H2)', () => {
  const row = attempt({ ttft_ms: 3000, latency_ms: 20_000, record_gaps: [[0, 3000], [3000, 500], [4000, 2000], [8000, 12_000]] });

  test.each([
    ['the first wait counts for its own threshold alone', 2999, Infinity, 2999],
    ['a silence just as long as the threshold is none', 3000, Infinity, Infinity],
    ['a later silence: at its offset and the threshold', Infinity, 1500, 5500],
    ['the tail counts', Infinity, 2000, 10_000],
    ['the first wait goes before', 1000, 1500, 1000],
    ['unset: never', Infinity, Infinity, Infinity],
  ])('%s', (_, afterMs, stallAfterMs, expected) => {
    expect(triggerMs(silencesOf(row), afterMs, stallAfterMs)).toBe(expected);
  });

  test('what never spoke, and what is not streamed, has one wait: all of it', () => {
    expect(silencesOf(attempt({ ttft_ms: null, increments: 0, latency_ms: 7000, record_gaps: [[0, 7000]] }))).toEqual({ firstMs: 7000, gaps: [] });
    expect(silencesOf(attempt({ streamed: false, ttft_ms: null, increments: null, latency_ms: 7000, record_gaps: [[0, 6000], [6000, 1000]] }))).toEqual({ firstMs: 7000, gaps: [] });
  });

  test('an answer whose first word came at once has its later silences', () => {
    expect(silencesOf(attempt({ ttft_ms: 0, record_gaps: [[0, 4000]] }))).toEqual({ firstMs: 0, gaps: [[0, 4000]] });
  });
});

describe('the draw', () => {
  test('follows the product-limit estimate that is worked out by hand', () => {
    // Ends at 1 and 3, cuts at 2 and 2, an end at 4: S(1) = 4/5, S(3) = 4/5 * 1/2, S(4) = 0.
    const pool = createPool([[1, false], [2, true], [3, false], [2, true], [4, false]].map(([level, cut], group) => ({ value: { level: level as number, cut }, level: level as number, group })));
    const random = mulberry32(7);
    const counts = new Map<number, number>();
    const draws = 40_000;
    for (let at = 0; at < draws; at++) {
      let drawn = pool.draw(random);
      while (drawn?.cut === true) drawn = pool.draw(random, drawn.level);
      counts.set(drawn!.level, (counts.get(drawn!.level) ?? 0) + 1);
    }
    expect((counts.get(1) ?? 0) / draws).toBeCloseTo(0.2, 1.7);
    expect((counts.get(3) ?? 0) / draws).toBeCloseTo(0.4, 1.7);
    expect((counts.get(4) ?? 0) / draws).toBeCloseTo(0.4, 1.7);
  });

  test('weights count, and where a resample has none of those that came further, those of the sample serve', () => {
    const pool = createPool([1, 2, 3].map((level, group) => ({ value: level, level, group })));
    pool.weigh([0, 5, 0]);
    expect(new Set(many(50, (at) => pool.draw(mulberry32(at))))).toEqual(new Set([2]));
    expect(pool.draw(() => 0, 2)).toBe(3);
    expect(pool.draw(() => 0, 3)).toBeUndefined();
  });
});

test('percentiles are those of a sorted list, by nearest rank', () => {
  const random = mulberry32(3);
  for (let count = 1; count < 60; count++) {
    const values = many(count, () => Math.floor(random() * 20));
    const sorted = [...values].sort((a, b) => a - b);
    const shares = [0.05, 0.5, 0.9, 0.95, 0.99, 1];
    expect(percentiles(Float64Array.from(values), shares)).toEqual(shares.map((share) => sorted[Math.ceil(share * count) - 1]));
  }
});

test('the knee is where the curve of the best choices bends', () => {
  const choices = ([[0.01, 90], [0.03, 50], [0.05, 60], [0.1, 45], [0.2, 40]] as const).map(([cost, left]) => ({ value: cost, cost, left }));
  expect(knee(choices, 100)).toBe(0.03);
  expect(knee(choices.slice(0, 1), 100)).toBe(0.01);
  expect(knee(choices, 40)).toBeUndefined();
});

test('a bend at the foot of a curve that hardly bends is no knee: at least half of the gain must be there', () => {
  const choices = ([[0.01, 85], [0.04, 70], [0.06, 45], [0.1, 20]] as const).map(([cost, left]) => ({ value: cost, cost, left }));
  expect(knee(choices, 100)).toBe(0.06);
});

describe('the prediction', () => {
  // One in five stalls for 30 s; backups take 5 s at the other source.
  const quiet = many(160, (at) => [attempt({ source: at % 2 === 0 ? 'a/1' : 'b/1' })]);
  const calls = [...quiet, ...many(40, () => [stalled(30_000)])];

  test('without a hedge in the rows, no hedging is what was seen, to the millisecond', async () => {
    const { observed, unhedged } = await whatIf(calls);
    expect([unhedged.p50Ms.value, unhedged.p90Ms.value, unhedged.p95Ms.value, unhedged.p99Ms.value]).toEqual([observed.p50Ms, observed.p90Ms, observed.p95Ms, observed.p99Ms]);
    expect(observed).toEqual({ p50Ms: 5000, p90Ms: 31_500, p95Ms: 31_500, p99Ms: 31_500, hedgedShare: 0, failedShare: 0 });
  });

  test('a hedged call ends with its backup, and its loser costs its tokens in full', async () => {
    const { stall, first } = await whatIf(calls, { hedgeStallAfterMs: [10_000, 60_000], hedgeAfterMs: [2000] });
    expect(first).toEqual([]);
    expect(stall).toHaveLength(1);
    expect(stall[0]).toMatchObject({ hedgedCalls: 40, hedgedShare: 0.2, imputedShare: 0, latency: { p50Ms: { value: 5000 }, p99Ms: { value: 16_000 } } });
    expect(stall[0]?.extraTokensShare?.value).toBeCloseTo(0.2);
    expect(stall[0]?.extraRequestsShare.value).toBeCloseTo(0.2);
    expect(stall[0]?.savedMsPerCall.value).toBeCloseTo(0.2 * 15_500);
  });

  test('a failed call that a backup answers is one failure less; a failed primary waits for its backup (H6)', async () => {
    const failing = many(40, () => [stalled(30_000, { outcome: 'error', error_class: 'transient', won: false, finish_reason: null, total_tokens: 0, record_gaps: [[0, 1000], [1000, 30_500]] })]);
    const { stall, observed } = await whatIf([...quiet, ...failing], { hedgeStallAfterMs: [30_000] });
    expect(observed.failedShare).toBe(0.2);
    expect(stall[0]?.failedShare.value).toBeCloseTo(0.2);
    expect(stall[0]?.latency.p99Ms.value).toBe(36_000);
    expect(stall[0]?.extraTokensShare?.value).toBe(0);
  });

  test('both fail: the round does, when the later one has (H7)', async () => {
    const failed = { outcome: 'error', error_class: 'transient', won: false, finish_reason: null, total_tokens: 0 } as const;
    const failing = many(200, (at) => [at % 2 === 0 ? stalled(8000, failed) : attempt({ ...failed, source: 'b/1' })]);
    const { stall } = await whatIf(failing, { hedgeStallAfterMs: [7000] });
    expect(stall[0]?.latency.p99Ms.value).toBe(13_000);
    expect(stall[0]?.failedShare.value).toBe(0);
  });

  test('a refusal by the backup is no answer while the primary lives, and is one where the primary fails (H4)', async () => {
    const refusing = many(100, () => [attempt({ source: 'b/1', finish_reason: 'content_filter' })]);
    const failed = { outcome: 'error', error_class: 'transient', won: false, finish_reason: null, total_tokens: 0 } as const;
    const { stall } = await whatIf([...refusing, ...many(50, () => [stalled(30_000)]), ...many(50, () => [stalled(20_000, failed)])], { hedgeStallAfterMs: [10_000] });
    expect(stall[0]?.latency.p99Ms.value).toBe(31_500);
    expect(stall[0]?.failedShare.value).toBe(0.25);
  });

  test('the caller who left after 8 s leaves after 8 s in any world, unless a backup has answered before', async () => {
    const left = many(40, () => [attempt({ ...cancelled, error_class: 'caller_cancelled', latency_ms: 8000, record_gaps: [[0, 1000], [1000, 7000]] })]);
    const { stall, unhedged } = await whatIf([...quiet, ...left, ...many(5, () => [stalled(60_000)])], { hedgeStallAfterMs: [1000, 6000] });
    expect(unhedged.p95Ms.value).toBe(8000);
    expect(stall.map(({ hedgedCalls }) => hedgedCalls)).toEqual([45, 45]);
    expect(stall[0]?.latency.p95Ms.value).toBe(7000);
    expect(stall[0]?.failedShare.value).toBeCloseTo(40 / 205);
    expect(stall[1]?.failedShare.value).toBe(0);
  });

  test('what a hedge has cut is drawn from what went on for longer, and counted as imputed', async () => {
    const backed = [...quiet, ...many(60, () => [stalled(30_000)]), ...many(40, () => rescued(5000))];
    const { stall, unhedged, observed, warnings } = await whatIf(backed, { hedgeStallAfterMs: [5000, 20_000] });
    expect(observed.p95Ms).toBe(31_500);
    expect(unhedged.p90Ms.value).toBe(31_500);
    expect(unhedged.p50Ms.value).toBe(5000);
    expect(stall.map(({ hedgedCalls }) => hedgedCalls)).toEqual([100, 100]);
    expect(stall.map(({ imputedShare }) => imputedShare)).toEqual([0, 0.4]);
    expect(warnings.some((text) => text.startsWith('13.3 % of the attempts were cut'))).toBe(true);
  });

  test('what was cut later than anything comparable is said to be restricted', async () => {
    const { warnings, unhedged } = await whatIf([...quiet, ...many(40, () => rescued(5000))]);
    expect(unhedged.p99Ms.value).toBe(16_000);
    expect(warnings.some((text) => text.startsWith('About 40 attempts were cut later than any comparable one'))).toBe(true);
  });

  test('the same seed gives the same figures; a sample says that it is one and counts hedges over all calls', async () => {
    const options = { sampleSize: 100, hedgeStallAfterMs: [10_000] };
    const result = await whatIf(calls, options);
    expect(await whatIf(calls, options)).toEqual(result);
    expect(result.stall[0]?.hedgedCalls).toBe(40);
    expect(result.sampledCalls).toBe(100);
    expect(result.warnings).toContain('Predicted from 100 of 200 calls, drawn at random; shares of hedged calls are counted over all.');
    expect((await whatIf(calls, { ...options, seed: 2 })).stall[0]?.savedMsPerCall).not.toEqual(result.stall[0]?.savedMsPerCall);
  });

  test('progress grows to 1', async () => {
    const engine = createWhatIf({ resamples: 5, repetitions: 2 });
    calls.forEach(engine.add);
    const done: number[] = [];
    await engine.run((share) => void done.push(share));
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.at(-1)).toBe(1);
  });
});

describe('the recommendation', () => {
  const calls = [...many(160, (at) => [attempt({ source: at % 2 === 0 ? 'a/1' : 'b/1' })]), ...many(40, (at) => [stalled(20_000 + 500 * at)])];

  test('is within the budget and says why', async () => {
    const { recommendation, maxExtraOf } = await whatIf(calls, { maxExtra: 0.25 });
    expect(maxExtraOf).toBe('tokens');
    expect(recommendation?.prediction.hedgeStallAfterMs).not.toBeNull();
    expect(recommendation?.prediction.extraTokensShare?.value).toBeLessThanOrEqual(0.25);
    expect(recommendation?.reason).toMatch(/^A backup after .* of silence in mid-stream takes p95 from 36 s to .* more tokens\./);
  });

  test('counts requests where no tokens are known', async () => {
    const unknown = calls.map((call) => call.map((each) => ({ ...each, total_tokens: null, prompt_tokens: null, completion_tokens: null })));
    const { recommendation, maxExtraOf, stall } = await whatIf(unknown, { maxExtra: 0.25 });
    expect(maxExtraOf).toBe('requests');
    expect(stall[0]?.extraTokensPerCall).toBeNull();
    expect(recommendation?.prediction.extraRequestsShare.value).toBeLessThanOrEqual(0.25);
  });

  test.each([
    ['nothing is within the budget', calls, 0.001, 'Nothing within the budget of 0.1 % more tokens'],
    ['there are few calls', calls.slice(0, 99), 0.5, 'Only 99 calls'],
    ['one source was asked', calls.map(([each]) => [attempt({ ...each, source: 'a/1' })]), 0.5, 'Only one source'],
    ['other sources are hardly known', calls.map(([each], at) => [attempt({ ...each, source: at < 10 ? 'b/1' : 'a/1' })]), 0.5, 'Only 10 attempts at sources other'],
  ])('is none where %s', async (_, rows, maxExtra, warning) => {
    const { recommendation, warnings } = await whatIf(rows, { maxExtra });
    expect(recommendation).toBeNull();
    expect(warnings.some((text) => text.startsWith(warning))).toBe(true);
  });
});

describe('rows that are not whole', () => {
  test('embeddings, and calls without their primary, are left out and counted', async () => {
    const embedding = attempt({ scope: 'VECTORS', streamed: false, finish_reason: null, ttft_ms: null, increments: null });
    const { calls, warnings } = await whatIf([[embedding], [attempt({ role: 'backup' })], [attempt({})]]);
    expect(calls).toBe(1);
    expect(warnings).toContain('1 calls left out that are never hedged (embeddings, OCR).');
    expect(warnings).toContain('1 calls left out, since their rows are not complete; filter by time or tag, not by source.');
  });

  test('silences recorded as one chain are told of', async () => {
    const { warnings } = await whatIf([[attempt({ ttft_ms: 9000, latency_ms: 20_000, max_inter_token_ms: 5000, record_gaps: [[0, 9000]] })]]);
    expect(warnings.some((text) => text.startsWith('1 attempts or more were recorded by an earlier version'))).toBe(true);
  });

  test('nothing at all gives nothing, and says so', async () => {
    expect(await whatIf([])).toMatchObject({ calls: 0, first: [], stall: [], recommendation: null, warnings: expect.arrayContaining(['No call of a kind that can be hedged: no recommendation under 100.']) });
  });
});
