import { afterEach, describe, expect, test } from '@jest/globals';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import type { ChatOpenAIFields } from '@langchain/openai';
import { z } from 'zod';
import { closeAll, rejection, until, upstream } from '../../gateway/scene.js';
import { atOf, clientKey, deliverBy, deliveries, doorTo, modelAsked, sentTo } from './clientDoor.js';
import type { ClientDoor } from './clientDoor.js';
import { embeddingProvider, modelSaid, providerThat, weatherman } from './provider.js';
import type { Asked, Said } from './provider.js';

afterEach(closeAll);

function modelOf({ baseURL }: ClientDoor, { headers, ...fields }: ChatOpenAIFields & { headers?: Record<string, string> } = {}): ChatOpenAI {
  return new ChatOpenAI({ model: modelAsked, apiKey: clientKey, maxRetries: 0, configuration: { baseURL, ...(headers === undefined ? {} : { defaultHeaders: headers }) }, ...fields });
}

async function talkingTo(answer: (asked: Asked) => Said): Promise<{ door: ClientDoor; sent: () => Asked[] }> {
  const provider = await providerThat(answer);
  return { door: await doorTo({ chat: [atOf(provider)] }), sent: () => sentTo(provider) };
}

async function sumOf(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk | undefined> {
  let sum: AIMessageChunk | undefined;
  for await (const chunk of stream) sum = sum?.concat(chunk) ?? chunk;
  return sum;
}

const answer: Said = { reasoning: 'hm', content: ['Hel', 'lo'], tokens: [9, 4] };
const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13, input_token_details: { cache_read: 2 }, output_token_details: { reasoning: 1 } };

describe('LangChain: text', () => {
  test('invoke: text, reasoning, finish, model and usage; the settings travel on', async () => {
    const { door, sent } = await talkingTo(() => answer);
    const said = await modelOf(door, { temperature: 0.2, maxTokens: 50, stop: ['END'] }).invoke('hello');
    expect(said).toMatchObject({ content: 'Hello', usage_metadata: usage, additional_kwargs: { reasoning_content: 'hm' }, response_metadata: { finish_reason: 'stop', model_name: modelSaid } });
    expect(said.id).toMatch(/^chatcmpl-/);
    expect(sent()).toEqual([expect.objectContaining({ messages: [{ role: 'user', content: 'hello' }], temperature: 0.2, max_tokens: 50, stop: ['END'] })]);
  });

  test.each(deliveries)('stream: chunks that add up to the same, delivery %s', async (delivery) => {
    const { door } = await talkingTo(() => answer);
    const said = await sumOf(await modelOf(door, { headers: deliverBy(delivery) }).stream('hello'));
    expect(said).toMatchObject({ content: 'Hello', usage_metadata: usage, additional_kwargs: { reasoning_content: 'hm' }, response_metadata: { finish_reason: 'stop', model_name: modelSaid } });
  });

  test.each(deliveries)('stream: an abort leaves the source, delivery %s', async (delivery) => {
    const slow = await upstream(['open d@0.02"one" d@0.04"two" hang']);
    const door = await doorTo({ chat: [slow.url] });
    const controller = new AbortController();
    const asked = rejection((async () => sumOf(await modelOf(door, { headers: deliverBy(delivery) }).stream('hello', { signal: controller.signal })))());
    await until(() => door.gateway.stats().streams[0]?.increments === 2, 'two increments');
    controller.abort();
    await asked;
    await until(() => slow.requests[0]?.closedByClientMs !== null, 'the source was left');
    expect(door.gateway.stats()).toMatchObject({ calls: 0, attempts: 0 });
  });

  test.each(deliveries)('stream: what breaks off throws, delivery %s', async (delivery) => {
    const cut = await upstream(['open d@0.02"half" rst@0.04']);
    const model = modelOf(await doorTo({ chat: [cut.url] }), { headers: deliverBy(delivery) });
    const error = await rejection((async () => sumOf(await model.stream('hello')))());
    expect(error).toMatchObject({ code: delivery === 'commit' ? 'stream_interrupted' : 'all_sources_exhausted' });
  });

  test('a wrong key is told as one', async () => {
    const { door } = await talkingTo(() => answer);
    expect(await rejection(modelOf(door, { apiKey: 'some-other-key-0123456789' }).invoke('hello'))).toMatchObject({ status: 401, code: 'invalid_api_key', lc_error_code: 'MODEL_AUTHENTICATION' });
  });
});

const weather = tool(({ place }) => `grey over ${place}`, { name: 'weather', description: 'of a place', schema: z.object({ place: z.string() }) });

describe('LangChain: tools and structured output', () => {
  test.each(['whole', ...deliveries] as const)('a tool message goes back with its calls, %s', async (how) => {
    const { door, sent } = await talkingTo(weatherman);
    const model = modelOf(door, how === 'whole' ? {} : { headers: deliverBy(how) }).bindTools([weather], { tool_choice: 'auto' });
    const question = new HumanMessage('hello');
    const asking = how === 'whole' ? await model.invoke([question]) : await sumOf(await model.stream([question]));
    if (asking === undefined) throw new Error('nothing was streamed');
    const toolCalls = asking.tool_calls ?? [];
    expect(toolCalls.map(({ id, name, args }) => [id, name, args])).toEqual([['call_1', 'weather', { place: 'Oslo' }], ['call_2', 'weather', { place: 'Rome' }]]);
    expect(asking.response_metadata['finish_reason']).toBe('tool_calls');

    const results = await Promise.all(toolCalls.map((call) => weather.invoke(call) as Promise<ToolMessage>));
    expect((await model.invoke([question, asking, ...results])).content).toBe('It is grey over Oslo and grey over Rome');
    expect(sent()[1]).toMatchObject({
      tool_choice: 'auto',
      tools: [{ type: 'function', function: { name: 'weather' } }],
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function' }, { id: 'call_2', type: 'function' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'grey over Oslo' },
        { role: 'tool', tool_call_id: 'call_2', content: 'grey over Rome' },
      ],
    });
  });

  const schema = z.object({ place: z.string(), degrees: z.number() });
  const oslo = { place: 'Oslo', degrees: -3 };

  test('withStructuredOutput by schema, by tool and by JSON mode', async () => {
    const { door, sent } = await talkingTo(({ tools }) => (tools === undefined ? { content: ['{"place":"Os', 'lo","degrees":-3}'] } : { calls: [{ id: 'call_1', name: 'report', arguments: JSON.stringify(oslo) }] }));
    const results: unknown[] = [];
    for (const method of ['jsonSchema', 'functionCalling', 'jsonMode'] as const) {
      results.push(await modelOf(door).withStructuredOutput(schema, { name: 'report', method }).invoke('hello'));
    }
    expect(results).toEqual([oslo, oslo, oslo]);
    expect(sent().map(({ response_format: format, tool_choice: choice }) => (format as { type: string } | undefined)?.type ?? choice)).toEqual(['json_schema', { type: 'function', function: { name: 'report' } }, 'json_object']);
  });
});

test('LangChain: OpenAIEmbeddings', async () => {
  const provider = await embeddingProvider();
  const { baseURL } = await doorTo({ chat: ['http://127.0.0.1:9/v1'], embedding: atOf(provider) });
  const embeddings = new OpenAIEmbeddings({ model: modelAsked, apiKey: clientKey, maxRetries: 0, configuration: { baseURL } });
  expect([await embeddings.embedQuery('one'), await embeddings.embedDocuments(['one', 'three'])]).toEqual([[3, -0.5], [[3, -0.5], [5, -0.5]]]);
  expect(sentTo(provider)).toHaveLength(2);
});
