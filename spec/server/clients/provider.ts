import type { ServerResponse } from 'node:http';
import { startJsonServer } from '../../support/jsonServer.js';
import type { JsonServer } from '../../support/jsonServer.js';
import { closeAfterTest } from '../frontDoorScene.js';

/** What a provider says to one request. */
export interface Said {
  readonly reasoning?: string;
  /** Its pieces, each in a frame of its own. */
  readonly content?: readonly string[];
  /** Tells the probability of each piece. */
  readonly withLogprobs?: boolean;
  readonly refusal?: string;
  readonly calls?: readonly SaidCall[];
  readonly finish?: string;
  /** Tokens in and out. */
  readonly tokens?: readonly [number, number];
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** The name comes in a frame of its own behind the id, as with some servers. */
  readonly isLate?: true;
  readonly [extra: string]: unknown;
}

/** The body of a request. */
export type Asked = Readonly<Record<string, unknown>>;

export const modelOfSource = 'model-of-the-source';
/** What the provider calls that model in its answers. */
export const modelSaid = 'model-of-the-source-2026';
export const keyOfSource = 'sk-source-0123456789abcdef';

/** A provider that answers as a stream, by what it is asked, until the test ends. */
export async function providerThat(answer: (asked: Asked) => Said): Promise<JsonServer> {
  const server = await startJsonServer((response) => stream(response, answer(server.requests.at(-1)?.body ?? {})));
  closeAfterTest(() => server.close());
  return server;
}

export const weatherCalls = [
  { id: 'call_1', name: 'weather', arguments: '{"place":"Oslo"}' },
  { id: 'call_2', name: 'weather', arguments: '{"place":"Rome"}' },
] as const satisfies readonly SaidCall[];

/** Asks for the weather of two places, then tells what the tools gave. */
export function weatherman({ messages }: Asked, calls: readonly SaidCall[] = weatherCalls): Said {
  const given = (messages as { role: string; content: string }[]).filter(({ role }) => role === 'tool').map(({ content }) => content);
  return { tokens: [9, 4], ...(given.length === 0 ? { calls } : { content: ['It is ', given.join(' and ')] }) };
}

/** A provider of embeddings: of each text its length and `-0.5`; in the encoding that was asked for. */
export async function embeddingProvider(): Promise<JsonServer> {
  const server = await startJsonServer((response) => {
    const { input, encoding_format: encoding } = server.requests.at(-1)!.body as { input: string[]; encoding_format?: string };
    const write = (vector: number[]): unknown => (encoding === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector);
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: write([text.length, -0.5]) }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data, model: modelSaid, usage: { prompt_tokens: 3, total_tokens: 3 } }));
  });
  closeAfterTest(() => server.close());
  return server;
}

/** A provider that turns every request down. */
export async function refusingProvider(status: number, error: object, headers: Record<string, string> = {}): Promise<JsonServer> {
  const server = await startJsonServer((response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error })));
  closeAfterTest(() => server.close());
  return server;
}

function stream(response: ServerResponse, said: Said): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const fields of framesOf(said)) {
    response.write(`data: ${JSON.stringify({ id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: modelSaid, ...fields })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function framesOf({ reasoning, content = [], withLogprobs = false, refusal, calls = [], finish, tokens }: Said): object[] {
  return [
    choice({ role: 'assistant', content: '' }),
    ...(reasoning === undefined ? [] : [choice({ reasoning_content: reasoning })]),
    ...content.map((text) => choice({ content: text }, null, withLogprobs ? logprobsOf(text) : null)),
    ...(refusal === undefined ? [] : [choice({ refusal })]),
    ...calls.flatMap(callFrames),
    choice({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(tokens === undefined ? [] : [{ choices: [], usage: usageOf(tokens) }]),
  ];
}

function usageOf([prompt, completion]: readonly [number, number]): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 1 },
  };
}

/** The name first, the arguments in two halves. */
function callFrames({ id, name, arguments: text, isLate, ...extra }: SaidCall, index: number): object[] {
  const half = Math.ceil(text.length / 2);
  const fragment = (fields: object): object => choice({ tool_calls: [{ index, ...fields }] });
  const begun = { id, type: 'function', ...extra };
  const named = { function: { name, arguments: '' } };
  return [
    ...(isLate === true ? [fragment({ ...begun, function: { arguments: '' } }), fragment(named)] : [fragment({ ...begun, ...named })]),
    fragment({ function: { arguments: text.slice(0, half) } }),
    fragment({ function: { arguments: text.slice(half) } }),
  ];
}

function choice(delta: object, reason: string | null = null, logprobs: object | null = null): object {
  return { choices: [{ index: 0, delta, logprobs, finish_reason: reason }] };
}

function logprobsOf(text: string): object {
  return { content: [{ token: text, logprob: -0.25, bytes: null, top_logprobs: [] }], refusal: null };
}
