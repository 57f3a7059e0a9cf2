import { expect } from '@jest/globals';
import type { WireCase, WireExpectation, WireToolCall, WireUsage } from './wireCases.js';

/** What came of a wire case, however it was driven. */
export type WireResult =
  | {
      outcome: 'ok';
      content: string;
      reasoning: string;
      refusal: string | null;
      toolCalls: readonly { id: string; name: string; arguments: string }[];
      /** The tool calls as they stand in the message, with the fields that we do not know. */
      messageCalls: readonly Record<string, unknown>[];
      finishReason: string;
      usage: { promptTokens: number | null; completionTokens: number | null; totalTokens: number | null; reasoningTokens: number | null; cachedTokens: number | null } | null;
      /** `null`: not streamed. */
      increments: number | null;
      logprobs?: unknown;
    }
  | {
      outcome: 'error';
      /** One of the four classes: `transient`, `rate_limited`, `source`, `request`. */
      failureClass: string;
      message: string;
      /** The error as a log would show it, causes included. */
      shown: string;
      httpStatus?: number | undefined;
      retryAfterS?: number | undefined;
      /** Text and calls that had come, where the driver can see them. */
      partial?: { content: string; reasoning: string; toolCalls: readonly { id: string; name: string; arguments: string }[] } | undefined;
      increments?: number | undefined;
    };

/** Asserts that a case came out as expected, or in one of the other ways that are right. */
export function expectVerdict({ expect: wanted, request }: WireCase, result: WireResult): void {
  if (request.n !== undefined && request.n > 1) {
    expect(result).toMatchObject({ outcome: 'error', failureClass: 'request' });
    return;
  }
  const others = wanted.also_ok?.outcome ?? [];
  if (result.outcome === 'error') {
    if (wanted.outcome === 'ok') expect(others).toContain(`error:${result.failureClass}`);
    else expectError(wanted, result);
    return;
  }
  if (others.some((other) => other === `ok:${result.content}`)) return;
  expect(wanted.outcome).toBe('ok');
  expectAnswer(wanted, result);
}

function expectAnswer(wanted: WireExpectation, result: Extract<WireResult, { outcome: 'ok' }>): void {
  const { also_ok: also = {} } = wanted;
  expect(result.content).toBe(wanted.content ?? '');
  expect(result.reasoning).toBe(wanted.reasoning ?? '');
  expect(result.refusal).toBe(wanted.refusal ?? null);
  expectToolCalls(wanted, result.toolCalls);
  expect([wanted.finish_reason ?? 'unknown', ...(also.finish_reason ?? [])]).toContain(result.finishReason);
  expect([wanted.usage ?? null, ...(also.usage ?? [])]).toContainEqual(result.usage && wireUsage(result.usage));
  if (result.increments !== null && wanted.counted_deltas !== null) {
    expect([wanted.counted_deltas, ...(also.counted_deltas ?? [])]).toContain(result.increments);
  }
  for (const field of wanted.tool_extra_kept ?? []) expect(result.messageCalls[0]).toHaveProperty(field);
  if (wanted.logprob_tokens === undefined) return;
  const { content } = result.logprobs as { content: { token: string }[] };
  expect(content.map(({ token }) => token)).toEqual(wanted.logprob_tokens);
}

function wireUsage(usage: NonNullable<Extract<WireResult, { outcome: 'ok' }>['usage']>): WireUsage {
  const { promptTokens, completionTokens, reasoningTokens, cachedTokens, totalTokens } = usage;
  return { prompt: promptTokens, completion: completionTokens, reasoning: reasoningTokens, cached: cachedTokens, total: totalTokens };
}

function expectToolCalls(wanted: WireExpectation, calls: readonly { id: string; name: string; arguments: string }[]): void {
  const expected = wanted.tool_calls ?? [];
  expect(calls).toHaveLength(expected.length);
  const { prefix = '', text = '', times = 0, suffix = '' } = wanted.arguments_repeat ?? {};
  calls.forEach((call, at) => {
    const { id, name, arguments: args } = expected[at] as WireToolCall;
    expect(call.name).toBe(name);
    expect(call.arguments).toBe(args ?? prefix + text.repeat(times) + suffix);
    if (id === '*') expect(call.id).not.toBe('');
    else expect(call.id).toBe(id);
  });
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
}

function expectError(wanted: WireExpectation, result: Extract<WireResult, { outcome: 'error' }>): void {
  const { error, also_ok: also = {}, partial } = wanted;
  expect([error?.class, ...(also.error_class ?? [])]).toContain(result.failureClass);
  if (error?.http_status !== undefined) expect(result.httpStatus).toBe(error.http_status);
  if (error?.retry_after_s !== undefined) expectWait([error.retry_after_s, ...(also.retry_after_s ?? [])], result.retryAfterS, wanted.tolerance_s);
  if (partial !== undefined && result.increments !== undefined) expect(result.increments).toBe(partial.counted_deltas);
  if (partial !== undefined && result.partial !== undefined) {
    expect(result.partial.content).toBe(partial.content);
    expect(result.partial.reasoning).toBe(partial.reasoning);
    expect(result.partial.toolCalls).toEqual(partial.tool_calls);
  }
  expect(result.message.length).toBeLessThanOrEqual(wanted.message_max_chars ?? 500);
  for (const text of wanted.message_must_not_contain ?? []) expect(result.message).not.toContain(text);
  for (const secret of wanted.redact ?? []) expect(result.shown).not.toContain(secret);
}

function expectWait(allowed: readonly (number | null)[], waitS: number | undefined, toleranceS = 1.5): void {
  const fits = allowed.some((seconds) => (seconds === null ? waitS === undefined : waitS !== undefined && Math.abs(seconds - waitS) <= toleranceS));
  expect({ waitS, fits, allowed }).toMatchObject({ fits: true });
}
