import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { APICallError, Output, embedMany, generateText, stepCountIs, streamText, tool } from 'ai';
import type { TextStreamPart, ToolSet } from 'ai';
import { z } from 'zod';
import { closeAll, rejection, until, upstream } from '../../gateway/scene.js';
import { atOf, clientKey, deliverBy, deliveries, doorTo, modelAsked, sentTo } from './clientDoor.js';
import type { ClientDoor } from './clientDoor.js';
import { embeddingProvider, modelSaid, providerThat, refusingProvider, weatherCalls, weatherman } from './provider.js';
import type { Asked, Said, SaidCall } from './provider.js';

beforeAll(() => void Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }));
afterEach(closeAll);

/** By this name, since only under it the client sends back what Google adds to a call. */
function providerOf({ baseURL }: ClientDoor, apiKey = clientKey): OpenAICompatibleProvider {
  return createOpenAICompatible({ name: 'google', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true });
}

type Model = ReturnType<OpenAICompatibleProvider['chatModel']>;

const modelOf = (door: ClientDoor, apiKey?: string): Model => providerOf(door, apiKey).chatModel(modelAsked);

async function talkingTo(answer: (asked: Asked) => Said): Promise<{ model: Model; sent: () => Asked[] }> {
  const provider = await providerThat(answer);
  return { model: modelOf(await doorTo({ chat: [atOf(provider)] })), sent: () => sentTo(provider) };
}

async function partsOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** The kinds of a stream's parts in their order, each once. */
const kindsOf = (parts: readonly TextStreamPart<ToolSet>[]): string[] => [...new Set(parts.map(({ type }) => type))];
const quiet = { onError: () => undefined, maxRetries: 0 };
const answer: Said = { reasoning: 'hm', content: ['Hel', 'lo'], tokens: [9, 4] };
const tokens = { inputTokens: 9, outputTokens: 4, totalTokens: 13, reasoningTokens: 1, cachedInputTokens: 2 };

describe('the AI SDK: text', () => {
  test('generateText: text, reasoning, usage, model and facts; the settings travel on', async () => {
    const { model, sent } = await talkingTo(() => answer);
    const result = await generateText({ model, system: 'be brief', prompt: 'hello', temperature: 0.2, maxOutputTokens: 50, stopSequences: ['END'], seed: 7, providerOptions: { google: { user: 'u-1', reasoningEffort: 'low', top_a: 3 } } });
    expect([result.text, result.reasoningText, result.finishReason, result.response.modelId]).toEqual(['Hello', 'hm', 'stop', modelSaid]);
    expect(result.usage).toMatchObject(tokens);
    expect(result.response.headers).toMatchObject({ 'x-polygateway-source': 'a/1', 'x-polygateway-attempts': '1' });
    expect(sent()).toEqual([
      expect.objectContaining({
        messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: 'hello' }],
        temperature: 0.2, max_tokens: 50, stop: ['END'], seed: 7, user: 'u-1', reasoning_effort: 'low', top_a: 3,
      }),
    ]);
  });

  test.each(deliveries)('streamText: reasoning, text, finish and usage in their order, delivery %s', async (delivery) => {
    const { model } = await talkingTo(() => answer);
    const result = streamText({ model, prompt: 'hello', headers: deliverBy(delivery) });
    expect(kindsOf(await partsOf(result.fullStream))).toEqual([
      'start', 'start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish',
    ]);
    expect([await result.text, await result.reasoningText, await result.finishReason, (await result.response).modelId]).toEqual(['Hello', 'hm', 'stop', modelSaid]);
    expect(await result.usage).toMatchObject(tokens);
    expect((await result.response).headers).toMatchObject({ 'x-polygateway-source': 'a/1' });
  });

  test.each(deliveries)('streamText: an abort ends it, and what was asked of the source, delivery %s', async (delivery) => {
    const slow = await upstream(['open d@0.02"one" d@0.04"two" hang']);
    const door = await doorTo({ chat: [slow.url] });
    const controller = new AbortController();
    const result = streamText({ ...quiet, model: modelOf(door), prompt: 'hello', headers: deliverBy(delivery), abortSignal: controller.signal });
    const parts = partsOf(result.fullStream);
    await until(() => door.gateway.stats().streams[0]?.increments === 2, 'two increments');
    controller.abort();
    expect(kindsOf(await parts)).toContain('abort');
    await until(() => slow.requests[0]?.closedByClientMs !== null, 'the source was left');
    expect(door.gateway.stats()).toMatchObject({ calls: 0, attempts: 0 });
  });

  test.each(deliveries)('streamText: what breaks off is told as an error and finishes as one, delivery %s', async (delivery) => {
    const cut = await upstream(['open d@0.02"half" rst@0.04']);
    const model = modelOf(await doorTo({ chat: [cut.url] }));
    const parts = await partsOf(streamText({ ...quiet, model, prompt: 'hello', headers: deliverBy(delivery) }).fullStream);
    const isCommitted = delivery === 'commit';
    const error = parts.flatMap((part) => (part.type === 'error' ? [part.error] : []));
    expect(error).toEqual([isCommitted ? expect.objectContaining({ code: 'stream_interrupted' }) : expect.objectContaining({ statusCode: 503, isRetryable: true })]);
    expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : [])).join('')).toBe(isCommitted ? 'half' : '');
    expect(parts.flatMap((part) => (part.type === 'finish' ? [part.finishReason] : []))).toEqual(isCommitted ? ['error'] : []);
  });

  test('errors before there is an answer have their status', async () => {
    const refusing = await refusingProvider(400, { message: 'maximum context length is 10 tokens', code: 'context_length_exceeded' });
    const door = await doorTo({ chat: [atOf(refusing)] });
    const tooLong = await rejection(generateText({ model: modelOf(door), prompt: 'hello', maxRetries: 0 }));
    const stranger = await rejection(generateText({ model: modelOf(door, 'some-other-key-0123456789'), prompt: 'hello', maxRetries: 0 }));
    expect([tooLong, stranger].map((error) => APICallError.isInstance(error) && [error.statusCode, error.isRetryable])).toEqual([[400, false], [401, false]]);
    expect((tooLong as APICallError).message).toContain('maximum context length is 10 tokens');
  });
});

const signed = { google: { thought_signature: 'c2lnbmVk' } };

const calls: SaidCall[] = [{ ...weatherCalls[0], extra_content: signed }, weatherCalls[1]];

const weather = tool({ description: 'of a place', inputSchema: z.object({ place: z.string() }), execute: ({ place }) => `grey over ${place}` });

function expectBothTurns(sent: readonly Asked[]): void {
  const called = (id: string, place: string): object => ({ id, type: 'function', function: { name: 'weather', arguments: JSON.stringify({ place }) } });
  expect(sent.map(({ tools, tool_choice: choice }) => [(tools as { function: { name: string } }[])[0]?.function.name, choice])).toEqual([['weather', 'auto'], ['weather', 'auto']]);
  expect(sent[1]?.['messages']).toEqual([
    { role: 'user', content: 'hello' },
    // What a provider adds to a call goes to the client and comes back.
    expect.objectContaining({ role: 'assistant', tool_calls: [{ ...called('call_1', 'Oslo'), extra_content: signed }, called('call_2', 'Rome')] }),
    { role: 'tool', tool_call_id: 'call_1', content: 'grey over Oslo' },
    { role: 'tool', tool_call_id: 'call_2', content: 'grey over Rome' },
  ]);
}

describe('the AI SDK: tools', () => {
  test('generateText goes through the loop', async () => {
    const { model, sent } = await talkingTo((asked) => weatherman(asked, calls));
    const { text, steps, totalUsage } = await generateText({ model, prompt: 'hello', tools: { weather }, toolChoice: 'auto', stopWhen: stepCountIs(3) });
    expect([text, steps.map(({ finishReason }) => finishReason), totalUsage.totalTokens]).toEqual(['It is grey over Oslo and grey over Rome', ['tool-calls', 'stop'], 26]);
    expectBothTurns(sent());
  });

  test.each(deliveries)('streamText goes through the loop, delivery %s', async (delivery) => {
    const { model, sent } = await talkingTo((asked) => weatherman(asked, calls));
    const result = streamText({ model, prompt: 'hello', tools: { weather }, toolChoice: 'auto', stopWhen: stepCountIs(3), headers: deliverBy(delivery) });
    const parts = await partsOf(result.fullStream);
    expect(parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.input]] : []))).toEqual([['call_1', { place: 'Oslo' }], ['call_2', { place: 'Rome' }]]);
    expect([await result.text, (await result.steps).map(({ finishReason }) => finishReason)]).toEqual(['It is grey over Oslo and grey over Rome', ['tool-calls', 'stop']]);
    expectBothTurns(sent());
  });
});

test.each(deliveries)('the AI SDK: a call whose name comes behind its id has both, delivery %s', async (delivery) => {
  const { model } = await talkingTo(() => ({ calls: [{ ...weatherCalls[0], isLate: true }] }));
  const { toolCalls } = streamText({ model, prompt: 'hello', tools: { weather }, headers: deliverBy(delivery) });
  expect((await toolCalls).map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual([['call_1', 'weather', { place: 'Oslo' }]]);
});

describe('the AI SDK: objects and vectors', () => {
  const schema = z.object({ place: z.string(), degrees: z.number() });
  const oslo = { place: 'Oslo', degrees: -3 };
  const report: Said = { content: ['{"place":"Os', 'lo","degrees":-3}'] };

  test('generateText with an output', async () => {
    const { model, sent } = await talkingTo(() => report);
    expect((await generateText({ model, output: Output.object({ schema }), prompt: 'hello' })).output).toEqual(oslo);
    expect(sent()).toMatchObject([{ response_format: { type: 'json_schema', json_schema: { strict: true, schema: { required: ['place', 'degrees'] } } } }]);
  });

  test.each(deliveries)('streamText with an output, delivery %s', async (delivery) => {
    const { model } = await talkingTo(() => report);
    const result = streamText({ model, output: Output.object({ schema }), prompt: 'hello', headers: deliverBy(delivery) });
    expect((await partsOf(result.partialOutputStream)).at(-1)).toEqual(oslo);
    expect(await result.output).toEqual(oslo);
  });

  test('embedMany', async () => {
    const provider = await embeddingProvider();
    const model = providerOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'], embedding: atOf(provider) })).embeddingModel(modelAsked);
    const { embeddings, usage } = await embedMany({ model, values: ['one', 'three'] });
    expect([embeddings, usage.tokens]).toEqual([[[3, -0.5], [5, -0.5]], 3]);
    expect(sentTo(provider)).toHaveLength(1);
  });
});
