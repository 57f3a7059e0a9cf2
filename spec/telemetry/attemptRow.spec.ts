import { describe, expect, test } from '@jest/globals';
import { toRow, type Wall } from '../../lib/telemetry/attemptRow.js';
import { attemptRecord } from './attemptRecord.js';

const wall: Wall = { nowMs: 15_000, date: new Date('2026-03-01T12:00:05.000Z'), pid: 77, host: 'here' };

const documentedColumns =
  'id, call_id, scope, round, role, hedge_trigger, source, provider, model, streamed, ' +
  'outcome, error_class, error_message, http_status, retry_after_ms, finish_reason, provider_request_id, won, ' +
  'waited_ms, ttft_ms, latency_ms, max_inter_token_ms, increments, prompt_tokens, completion_tokens, reasoning_tokens, ' +
  'cached_tokens, total_tokens, estimated_tokens, tags, record_gaps, loop_lag_ms, pid, host, started_at, created_at, stall_ms, stall_count';

describe('the row of an attempt', () => {
  test('has the documented columns in their order, the stall columns last, and no generation_ms (E2, E3)', () => {
    expect(Object.keys(toRow(attemptRecord(), wall)).join(', ')).toBe(documentedColumns);
  });

  test('carries every field of the record', () => {
    expect(toRow(attemptRecord(), wall)).toEqual({
      id: 'attempt-1',
      call_id: 'call-1',
      scope: 'LLM',
      round: 2,
      role: 'backup',
      hedge_trigger: 'stall',
      source: 'openai/1',
      provider: 'openai',
      model: 'gpt-x',
      streamed: 1,
      outcome: 'error',
      error_class: 'transient',
      error_message: 'the stream was cut',
      http_status: 502,
      retry_after_ms: 1500,
      finish_reason: 'stop',
      provider_request_id: 'req-9',
      won: 1,
      waited_ms: 11,
      ttft_ms: 500,
      latency_ms: 4100,
      max_inter_token_ms: 3000,
      increments: 4,
      prompt_tokens: 21,
      completion_tokens: 22,
      reasoning_tokens: 5,
      cached_tokens: 6,
      total_tokens: 43,
      estimated_tokens: 60,
      tags: '{"team":"search"}',
      record_gaps: '[[0,500],[900,3000]]',
      loop_lag_ms: 7,
      pid: 77,
      host: 'here',
      started_at: '2026-03-01T12:00:00.000Z',
      created_at: '2026-03-01T12:00:05.000Z',
      stall_ms: 3000,
      stall_count: 1,
    });
  });

  test('keeps null for what was not measured: never 0 (M2)', () => {
    const row = toRow(attemptRecord({ stallMs: null, stallCount: null, loopLagMs: null, ttftMs: null, usage: null, tags: null, won: false }), wall);
    expect(row).toMatchObject({ stall_ms: null, stall_count: null, loop_lag_ms: null, ttft_ms: null, prompt_tokens: null, total_tokens: null, tags: null, won: 0 });
    expect(toRow(attemptRecord({ stallMs: 0, stallCount: 0 }), wall)).toMatchObject({ stall_ms: 0, stall_count: 0 });
  });

  test('stores whole milliseconds, cut off and not rounded (M3), and null for figures that are none (TD-07)', () => {
    const row = toRow(attemptRecord({ latencyMs: 4100.9, stallMs: 2999.99, ttftMs: NaN, waitedMs: Infinity }), wall);
    expect(row).toMatchObject({ latency_ms: 4100, stall_ms: 2999, ttft_ms: null, waited_ms: null });
  });

  test('takes U+0000 and half characters out of every text, and leaves the escape sequence as text (TD-07)', () => {
    const row = toRow(
      attemptRecord({ errorMessage: 'a\u0000b', model: '\\u0000', providerRequestId: 'x\uD800y', finishReason: 'ok 😀', tags: { 'k\u0000': 'v\uDC00' } }),
      wall,
    );
    expect(row).toMatchObject({ error_message: 'ab', model: '\\u0000', provider_request_id: 'x\uFFFDy', finish_reason: 'ok 😀', tags: '{"k":"v\uFFFD"}' });
  });

  test('masks keys in error messages, and bounds them', () => {
    const row = toRow(attemptRecord({ errorMessage: `bad key sk-abcdefghijklmnop1234 ${'x'.repeat(5000)}` }), wall);
    expect(row.error_message).toMatch(/^bad key \[masked\] x+…$/);
    expect(row.error_message).toHaveLength(2000);
  });

  test('derives the start from the monotonic clock', () => {
    expect(toRow(attemptRecord({ startedMs: 14_999 }), wall).started_at).toBe('2026-03-01T12:00:04.999Z');
    expect(toRow(attemptRecord({ startedMs: NaN }), wall).started_at).toBe('2026-03-01T12:00:05.000Z');
  });
});
