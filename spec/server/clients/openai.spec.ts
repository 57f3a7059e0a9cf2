import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI, { APIError, APIUserAbortError, AuthenticationError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from 'openai';
import { LengthFinishReasonError } from 'openai/error';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction';
import type { ChatCompletionChunk, ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { closeAll, rejection, until, upstream } from '../../gateway/scene.js';
import { atOf, clientKey, deliverBy, deliveries, doorTo, modelAsked, sentTo } from './clientDoor.js';
import type { ClientDoor } from './clientDoor.js';
import { embeddingProvider, modelOfSource, modelSaid, providerThat, refusingProvider, weatherCalls, weatherman } from './provider.js';
import type { Asked, Said } from './provider.js';

afterEach(closeAll);

const messages: ChatCompletionMessageParam[] = [{ role: 'system', content: 'be brief' }, { role: 'user', content: [{ type: 'text', text: 'hello' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } }] }];
const chat = { model: modelAsked, messages };

function clientOf({ baseURL }: ClientDoor, apiKey = clientKey): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

async function talkingTo(answer: (asked: Asked) => Said): Promise<{ client: OpenAI; sent: () => Asked[] }> {
  const provider = await providerThat(answer);
  return { client: clientOf(await doorTo({ chat: [atOf(provider)] })), sent: () => sentTo(provider) };
}

async function chunksOf(stream: AsyncIterable<ChatCompletionChunk>, chunks: ChatCompletionChunk[] = []): Promise<ChatCompletionChunk[]> {
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks: readonly ChatCompletionChunk[]): string => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
const finishesOf = (chunks: readonly ChatCompletionChunk[]): unknown[] => chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);

const usage = {
  prompt_tokens: 9,
  completion_tokens: 4,
  total_tokens: 13,
  prompt_tokens_details: { cached_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 1 },
};

describe('the openai client: whole answers', () => {
  test('an answer, with its usage, reasoning, model and facts; every setting travels on', async () => {
    const { client, sent } = await talkingTo(() => ({ reasoning: 'hm', content: ['Hel', 'lo'], tokens: [9, 4] }));
    const settings = { temperature: 0.2, max_completion_tokens: 50, stop: 'END', seed: 7, user: 'u-1', metadata: { team: 'x' }, store: false, reasoning_effort: 'low' } as const;
    const { data, response } = await client.chat.completions.create({ ...chat, ...settings }).withResponse();

    expect(data).toMatchObject({ object: 'chat.completion', model: modelSaid, usage });
    expect(data.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Hello', refusal: null, reasoning_content: 'hm' }, logprobs: null, finish_reason: 'stop' },
    ]);
    const callId = response.headers.get('x-polygateway-call-id') ?? 'none';
    expect(data.id).toBe(`chatcmpl-${callId}`);
    expect(['source', 'attempts', 'hedges', 'stall-ms'].map((fact) => response.headers.get(`x-polygateway-${fact}`))).toEqual(['a/1', '1', '0', '0']);
    expect(sent()).toEqual([expect.objectContaining({ messages, stream: true, ...settings })]);
  });

  test('a source that counts no tokens gives an answer without usage, not one with zeros', async () => {
    const { client } = await talkingTo(() => ({ content: ['Hello'] }));
    expect(await client.chat.completions.create(chat)).not.toHaveProperty('usage');
  });

  test('the probabilities of the pieces, whole and streamed', async () => {
    const { client, sent } = await talkingTo(() => ({ content: ['Hel', 'lo'], withLogprobs: true }));
    const whole = (await client.chat.completions.create({ ...chat, logprobs: true })).choices[0];
    const streamed = (await client.chat.completions.stream({ ...chat, logprobs: true }).finalChatCompletion()).choices[0];
    const told = ['Hel', 'lo'].map((token) => expect.objectContaining({ token, logprob: -0.25 }) as unknown);
    expect([whole?.logprobs?.content, streamed?.logprobs?.content]).toEqual([told, told]);
    expect(sent()).toEqual([expect.objectContaining({ logprobs: true }), expect.objectContaining({ logprobs: true })]);
  });

  test('an answer that was cut short says so', async () => {
    const { client } = await talkingTo(() => ({ content: ['Hel'], finish: 'length' }));
    expect((await client.chat.completions.create(chat)).choices[0]?.finish_reason).toBe('length');
  });

  test('a source that breaks off is asked again, and a second one after it', async () => {
    const cut = await upstream(['open d@0.02"half" rst@0.03']);
    const provider = await providerThat(() => ({ content: ['whole'] }));
    const client = clientOf(await doorTo({ chat: [cut.url, atOf(provider)] }));
    const { data, response } = await client.chat.completions.create(chat).withResponse();
    expect([data.choices[0]?.message.content, response.headers.get('x-polygateway-source'), response.headers.get('x-polygateway-attempts')]).toEqual(['whole', 'b/1', '2']);
  });
});

describe.each(deliveries)('the openai client: streams, delivery %s', (delivery) => {
  const headers = deliverBy(delivery);

  test('chunks that add up, one finish, and usage behind it', async () => {
    const { client, sent } = await talkingTo(() => ({ reasoning: 'hm', content: ['Hel', 'lo'], tokens: [9, 4] }));
    const { data, response } = await client.chat.completions
      .create({ ...chat, stream: true, stream_options: { include_usage: true }, temperature: 0 }, { headers })
      .withResponse();
    const chunks = await chunksOf(data);

    expect(textOf(chunks)).toBe('Hello');
    expect(chunks.map(({ choices }) => (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '').join('')).toBe('hm');
    expect(finishesOf(chunks)).toEqual(['stop']);
    expect(chunks.map(({ choices }) => choices[0]?.delta.role).filter(Boolean)).toEqual(['assistant']);
    expect(new Set(chunks.map(({ id, object, model }) => [id, object, model].join()))).toEqual(new Set([`chatcmpl-${response.headers.get('x-polygateway-call-id') ?? ''},chat.completion.chunk,${modelSaid}`]));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(true);
    expect(['source', 'attempts', 'hedges'].map((fact) => response.headers.get(`x-polygateway-${fact}`))).toEqual(['a/1', '1', '0']);
    if (delivery === 'buffered') expect(response.headers.get('x-polygateway-stall-ms')).toBe('0');
    expect(sent()).toEqual([expect.objectContaining({ messages, stream: true, temperature: 0 })]);
  });

  test('no usage where none was asked for', async () => {
    const { client } = await talkingTo(() => ({ content: ['Hello'], tokens: [9, 4] }));
    const chunks = await chunksOf(await client.chat.completions.create({ ...chat, stream: true }, { headers }));
    expect(chunks.filter((chunk) => chunk.usage !== undefined || chunk.choices.length === 0)).toEqual([]);
  });

  test('the stream helper sees text grow, and gives the whole at the end', async () => {
    const { client } = await talkingTo(() => ({ content: ['Hel', 'lo'], tokens: [9, 4] }));
    const helper = client.chat.completions.stream({ ...chat, stream_options: { include_usage: true } }, { headers });
    const snapshots: string[] = [];
    helper.on('content', (_, snapshot) => snapshots.push(snapshot));
    const { choices, usage: tokens } = await helper.finalChatCompletion();
    expect(snapshots.at(-1)).toBe('Hello');
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: 'Hello', refusal: null } });
    expect([tokens, await helper.totalUsage()]).toEqual([usage, expect.objectContaining({ total_tokens: 13 })]);
  });

  test('an abort ends the reading, and what was asked of the source', async () => {
    const slow = await upstream(['open d@0.02"one" d@0.04"two" hang']);
    const door = await doorTo({ chat: [slow.url] });
    const controller = new AbortController();
    const chunks: ChatCompletionChunk[] = [];
    const reading = (async () => {
      await chunksOf(await clientOf(door).chat.completions.create({ ...chat, stream: true }, { headers, signal: controller.signal }), chunks);
    })().catch((error: unknown) => error);
    await until(() => (delivery === 'commit' ? textOf(chunks) === 'onetwo' : door.gateway.stats().streams[0]?.increments === 2), 'two increments');
    const abortedMs = performance.now();
    controller.abort();

    // Before the head the client throws, behind it its stream just ends.
    expect(await reading).toEqual(delivery === 'commit' ? undefined : expect.any(APIUserAbortError));
    await until(() => slow.requests[0]?.closedByClientMs !== null, 'the source was left');
    expect((slow.requests[0]?.closedByClientMs ?? 0) - abortedMs).toBeLessThan(500);
    expect(door.gateway.stats()).toMatchObject({ calls: 0, attempts: 0 });
  });

  test('what breaks off in mid-stream never looks like an answer', async () => {
    const cut = await upstream(['open d@0.02"half an" d@0.04" answer" rst@0.06']);
    const client = clientOf(await doorTo({ chat: [cut.url] }));
    const chunks: ChatCompletionChunk[] = [];
    const error = await rejection((async () => chunksOf(await client.chat.completions.create({ ...chat, stream: true }, { headers }), chunks))());
    const [code, text] = delivery === 'commit' ? ['stream_interrupted', 'half an answer'] : ['all_sources_exhausted', ''];
    expect(error).toBeInstanceOf(APIError);
    expect([(error as APIError).code, textOf(chunks), finishesOf(chunks)]).toEqual([code, text, []]);
    await expect(client.chat.completions.stream(chat, { headers }).finalChatCompletion()).rejects.toThrow(APIError);
  });
});

test('the openai client: comments that keep a stream alive are no part of it, nor is an error behind them hidden', async () => {
  const slow = await upstream(['open d@0.02"Hel" d@0.3"lo" f@0.31', 'open d@0.02"Hel" rst@0.2']);
  const client = clientOf(await doorTo({ chat: [slow.url], keepaliveS: 0.05 }));
  const asked = (): Promise<ChatCompletionChunk[]> => (async () => chunksOf(await client.chat.completions.create({ ...chat, stream: true }, { headers: deliverBy('buffered') })))();
  expect(textOf(await asked())).toBe('Hello');
  expect(await rejection(asked())).toMatchObject({ status: undefined, code: 'all_sources_exhausted' });
});

test('the openai client: leaving a stream by break leaves the source too', async () => {
  const slow = await upstream(['open d@0.02"one" d@0.04"two" hang']);
  const door = await doorTo({ chat: [slow.url] });
  for await (const chunk of await clientOf(door).chat.completions.create({ ...chat, stream: true })) {
    if (textOf([chunk]) === 'two') break;
  }
  await until(() => slow.requests[0]?.closedByClientMs !== null, 'the source was left');
  expect(door.gateway.stats()).toMatchObject({ calls: 0, attempts: 0 });
});

test('the openai client: an abort of a whole answer leaves the source too', async () => {
  const slow = await upstream(['open d@0.02"one" hang']);
  const door = await doorTo({ chat: [slow.url] });
  const controller = new AbortController();
  const asked = rejection(clientOf(door).chat.completions.create(chat, { signal: controller.signal }));
  await until(() => door.gateway.stats().streams[0]?.increments === 1, 'one increment');
  controller.abort();
  expect(await asked).toBeInstanceOf(APIUserAbortError);
  await until(() => slow.requests[0]?.closedByClientMs !== null, 'the source was left');
});

const weatherTool = {
  type: 'function',
  function: { name: 'weather', description: 'of a place', parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] } },
} satisfies ChatCompletionTool;
const toolCalls = weatherCalls.map(({ id, name, arguments: text }) => ({ id, type: 'function', function: { name, arguments: text } }));
const turns = [
  ...messages,
  expect.objectContaining({ role: 'assistant', tool_calls: toolCalls }),
  { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"grey over Oslo"}' },
  { role: 'tool', tool_call_id: 'call_2', content: '{"sky":"grey over Rome"}' },
];
const forecast = 'It is {"sky":"grey over Oslo"} and {"sky":"grey over Rome"}';
const runnable: RunnableToolFunctionWithParse<{ place: string }> = {
  type: 'function',
  function: { ...weatherTool.function, parse: (text) => JSON.parse(text) as { place: string }, function: ({ place }) => ({ sky: `grey over ${place}` }) },
};

describe('the openai client: tools', () => {
  test('calls come whole, with tools and choice sent on', async () => {
    const { client, sent } = await talkingTo(weatherman);
    const { choices } = await client.chat.completions.create({ ...chat, tools: [weatherTool], tool_choice: 'required', parallel_tool_calls: true });
    expect(choices).toEqual([{ index: 0, message: { role: 'assistant', content: null, refusal: null, tool_calls: toolCalls }, logprobs: null, finish_reason: 'tool_calls' }]);
    expect(sent()).toEqual([expect.objectContaining({ tools: [weatherTool], tool_choice: 'required', parallel_tool_calls: true })]);
  });

  test('runTools goes through both turns', async () => {
    const { client, sent } = await talkingTo(weatherman);
    const runner = client.chat.completions.runTools({ ...chat, tools: [runnable] });
    expect(await runner.finalContent()).toBe(forecast);
    expect(sent().map(({ messages: asked }) => asked)).toEqual([messages, turns]);
  });

  test.each(deliveries)('runTools goes through both turns as streams, delivery %s', async (delivery) => {
    const { client, sent } = await talkingTo(weatherman);
    const runner = client.chat.completions.runTools({ ...chat, stream: true, tools: [runnable] }, { headers: deliverBy(delivery) });
    expect(await runner.finalContent()).toBe(forecast);
    expect(sent().map(({ messages: asked }) => asked)).toEqual([messages, turns]);
  });

  test.each(deliveries)('the stream helper tells of each call once it is whole, delivery %s', async (delivery) => {
    const { client } = await talkingTo(weatherman);
    const place = zodFunction({ name: 'weather', parameters: z.object({ place: z.string() }) });
    const helper = client.chat.completions.stream({ ...chat, tools: [place] }, { headers: deliverBy(delivery) });
    const done: unknown[] = [];
    helper.on('tool_calls.function.arguments.done', ({ index, name, parsed_arguments: parsed }) => done.push([index, name, parsed]));
    expect(await helper.finalMessage()).toMatchObject({ content: null, tool_calls: toolCalls });
    expect(done).toEqual([[0, 'weather', { place: 'Oslo' }], [1, 'weather', { place: 'Rome' }]]);
  });
});

describe('the openai client: structured output', () => {
  const schema = z.object({ place: z.string(), degrees: z.number() });
  const shaped = { ...chat, response_format: zodResponseFormat(schema, 'weather') };
  const report: Said = { content: ['{"place":"Os', 'lo","degrees":-3}'] };

  test('is parsed, and its schema sent on', async () => {
    const { client, sent } = await talkingTo(() => report);
    const { choices } = await client.chat.completions.parse(shaped);
    expect(choices[0]?.message.parsed).toEqual({ place: 'Oslo', degrees: -3 });
    expect(sent()).toEqual([expect.objectContaining({ response_format: JSON.parse(JSON.stringify(shaped.response_format)) as unknown })]);
  });

  test.each(deliveries)('is parsed from a stream, delivery %s', async (delivery) => {
    const { client } = await talkingTo(() => report);
    const { choices } = await client.chat.completions.stream(shaped, { headers: deliverBy(delivery) }).finalChatCompletion();
    expect(choices[0]?.message.parsed).toEqual({ place: 'Oslo', degrees: -3 });
  });

  test('a refusal is told as one, whole and streamed', async () => {
    const { client } = await talkingTo(() => ({ refusal: 'I will not' }));
    const refused = { content: null, refusal: 'I will not', parsed: null };
    expect((await client.chat.completions.parse(shaped)).choices[0]?.message).toMatchObject(refused);
    expect((await client.chat.completions.stream(shaped).finalChatCompletion()).choices[0]?.message).toMatchObject(refused);
  });

  test('one that was cut short is refused by the client, whole and streamed', async () => {
    const { client } = await talkingTo(() => ({ content: ['{"place":"Os'], finish: 'length' }));
    await expect(client.chat.completions.parse(shaped)).rejects.toThrow(LengthFinishReasonError);
    await expect(client.chat.completions.stream(shaped).finalChatCompletion()).rejects.toThrow(LengthFinishReasonError);
  });
});

describe('the openai client: embeddings and models', () => {
  test.each([undefined, 'float', 'base64'] as const)('vectors, encoding %s', async (encoding) => {
    const provider = await embeddingProvider();
    const client = clientOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'], embedding: atOf(provider) }));
    const { data, model, usage: tokens } = await client.embeddings.create({ model: modelAsked, input: ['one', 'three'], dimensions: 2, ...(encoding === undefined ? {} : { encoding_format: encoding }) });
    const vectors = [[3, -0.5], [5, -0.5]];
    const asBase64 = vectors.map((vector) => Buffer.from(Float32Array.from(vector).buffer).toString('base64'));
    expect(data.map(({ index, embedding }) => [index, embedding])).toEqual((encoding === 'base64' ? asBase64 : vectors).map((vector, at) => [at, vector]));
    expect([model, tokens]).toEqual([modelSaid, { prompt_tokens: 3, total_tokens: 3 }]);
    expect(sentTo(provider)).toEqual([expect.objectContaining({ input: ['one', 'three'], dimensions: 2 })]);
  });

  test('models are listed and found', async () => {
    const client = clientOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'] }));
    const found: string[] = [];
    for await (const { id } of client.models.list()) found.push(id);
    expect([found, (await client.models.retrieve(modelOfSource)).id]).toEqual([[modelOfSource], modelOfSource]);
    expect(await rejection(client.models.retrieve(modelAsked))).toBeInstanceOf(NotFoundError);
  });

  test('what is not served is told with what is', async () => {
    const error = await rejection<APIError>(clientOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'] })).responses.create({ model: modelAsked, input: 'hello' }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.message).toContain('/v1/chat/completions');
  });
});

describe('the openai client: errors have their class', () => {
  test('a wrong key', async () => {
    const error = await rejection<APIError>(clientOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'] }), 'some-other-key-0123456789').chat.completions.create(chat));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect([error.status, error.code]).toEqual([401, 'invalid_api_key']);
  });

  test.each([
    ['a request that we cannot serve', { ...chat, n: 2 }, /n is 2/],
    ['a field of the wrong type', { ...chat, temperature: 'hot' as unknown as number }, /temperature/],
    ['no messages', { ...chat, messages: [] }, /messages/],
  ])('%s', async (_, request, message) => {
    const client = clientOf(await doorTo({ chat: ['http://127.0.0.1:9/v1'] }));
    for (const stream of [false, true]) {
      const error = await rejection<APIError>(client.chat.completions.create({ ...request, stream }));
      expect(error).toBeInstanceOf(BadRequestError);
      expect([error.status, error.type, error.message]).toEqual([400, 'invalid_request_error', expect.stringMatching(message)]);
    }
  });

  test('a request that the provider refuses', async () => {
    const provider = await refusingProvider(400, { message: 'maximum context length is 10 tokens', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' });
    const client = clientOf(await doorTo({ chat: [atOf(provider)] }));
    for (const stream of [false, true]) {
      const error = await rejection<APIError>(client.chat.completions.create({ ...chat, stream }));
      expect(error).toBeInstanceOf(BadRequestError);
      expect([error.code, error.message]).toEqual(['context_length_exceeded', expect.stringContaining('maximum context length is 10 tokens')]);
    }
    expect(sentTo(provider)).toHaveLength(2);
  });

  test('no source that answers', async () => {
    const provider = await refusingProvider(500, { message: 'boom' });
    const client = clientOf(await doorTo({ chat: [atOf(provider)] }));
    for (const stream of [false, true]) {
      const error = await rejection<APIError>(client.chat.completions.create({ ...chat, stream }));
      expect(error).toBeInstanceOf(InternalServerError);
      expect([error.status, error.code, error.headers?.get('x-polygateway-attempts')]).toEqual([503, 'all_sources_exhausted', '2']);
    }
  });

  test('a key of ours that the provider refuses is no matter of the client`s key', async () => {
    const provider = await refusingProvider(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });
    const error = await rejection<APIError>(clientOf(await doorTo({ chat: [atOf(provider)] })).chat.completions.create(chat));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error.status).toBe(502);
  });

  test('a limit that lasts', async () => {
    const provider = await refusingProvider(429, { message: 'slow down', code: 'rate_limit_exceeded' }, { 'retry-after': '120' });
    const error = await rejection<APIError>(clientOf(await doorTo({ chat: [atOf(provider)] })).chat.completions.create(chat));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(100);
  });
});
