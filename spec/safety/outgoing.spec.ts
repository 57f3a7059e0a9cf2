import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createEmbedding } from '../../lib/assemble/createEmbedding.js';
import { createGateway } from '../../lib/assemble/createGateway.js';
import { createFrontDoor } from '../../lib/server/frontDoor.js';
import { sendRaw } from '../server/rawHttp.js';
import { startJsonServer } from '../support/jsonServer.js';
import type { JsonServer } from '../support/jsonServer.js';

const wholeStream = 'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const vectors = JSON.stringify({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1, total_tokens: 1 } });

let provider: JsonServer;
let elsewhere: JsonServer;
let port: number;
let connectionsBefore: number;
/** Where the provider sends its callers. */
let moved: { status: number; location: string } | undefined;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  provider = await startJsonServer((response, { url = '' }) => {
    if (moved !== undefined && !url.startsWith('/moved')) response.writeHead(moved.status, { location: moved.location }).end();
    else response.end(url.includes('embeddings') ? vectors : wholeStream);
  });
  elsewhere = await startJsonServer((response) => response.end(wholeStream));
  const source = { provider: 'a', baseUrl: `${provider.origin}/v1?tenant=one`, model: 'm', apiKey: 'the-key-of-the-source', headers: { 'x-team': 'ours' } };
  const gateway = createGateway({ settings: { scope: 'LLM', sources: [source], maxAttempts: 1 } });
  const embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source], maxAttempts: 1 } });
  const door = createFrontDoor({ chat: gateway, embedding, models: ['m'] });
  const { url } = await door.listen({ host: '127.0.0.1', port: 0 });
  port = Number(new URL(url).port);
  closing.push(() => door.drain(0), gateway.close, embedding.close, () => provider.close(), () => elsewhere.close());
});

afterAll(async () => {
  for (const close of closing) await close();
});

beforeEach(() => {
  moved = undefined;
  connectionsBefore = elsewhere.connections();
});

interface Asked {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fields?: object;
}

const paths = ['/v1/chat/completions', '/v1/embeddings'];

async function ask({ path, headers = {}, fields = {} }: Asked): Promise<{ text: string; status: number | null; sent: JsonServer['requests'] }> {
  const before = provider.requests.length;
  const body = JSON.stringify({ ...(path.endsWith('embeddings') ? { input: 'x' } : { messages: [{ role: 'user', content: 'Hi' }] }), ...fields });
  const all = { host: `127.0.0.1:${port}`, 'content-type': 'application/json', connection: 'close', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const head = [`POST ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  const { text, status } = await sendRaw(port, `${head.join('\r\n')}\r\n\r\n${body}`);
  return { text, status, sent: provider.requests.slice(before) };
}

const places = (origin: string): Record<string, unknown> => ({
  ...Object.fromEntries(['base_url', 'baseURL', 'baseUrl', 'api_base', 'url', 'endpoint', 'host', 'proxy', 'location'].map((field) => [field, `${origin}/v1`])),
  api_key: 'the-key-of-the-client', apiKey: 'the-key-of-the-client', authorization: 'Bearer the-key-of-the-client',
  model: `${origin}/v1/other`, provider: 'b', headers: { authorization: 'Bearer x', host: 'x' }, extra_headers: { 'x-team': 'theirs' }, extra_query: { tenant: 'two' },
});

const ownHeaders = ['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-team'];

describe.each(paths)('where a request goes, and with which key, is told by the settings alone: %s', (path) => {
  test('no field of the body changes it', async () => {
    const { status, sent } = await ask({ path, fields: places(elsewhere.origin) });
    expect(status).toBe(200);
    expectOurs(sent, path);
    expect(sent[0]?.body['model']).toBe('m');
  });

  test('no header changes it or reaches the provider', async () => {
    const { host } = new URL(elsewhere.origin);
    const names = ['x-forwarded-host', 'x-forwarded-proto', 'x-original-url', 'x-rewrite-url', 'x-host', 'api-key', 'x-api-key', 'cookie', 'proxy-authorization', 'openai-organization', 'x-team', 'x-base-url', 'user-agent', 'accept', 'traceparent'];
    const { status, sent } = await ask({ path, headers: { ...Object.fromEntries(names.map((name) => [name, `theirs ${host}`])), authorization: 'Bearer the-key-of-the-client', 'x-forwarded-for': '127.0.0.9', host } });
    expect(status).toBe(200);
    expectOurs(sent, path);
    expect(JSON.stringify(sent[0]?.headers)).not.toMatch(/theirs|of-the-client|127\.0\.0\.9/);
  });

  test('a whole address as the target is refused, and nobody is asked', async () => {
    const { status, sent } = await ask({ path: `${elsewhere.origin}${path}` });
    expect([status, sent.length, connectionsElsewhere()]).toEqual([400, 0, 0]);
  });

  test.each([307, 308])('%i to another place of the same origin is followed, with the key', async (status) => {
    moved = { status, location: '/moved' + path };
    const answer = await ask({ path });
    expect(answer.status).toBe(200);
    expect(answer.sent.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      [`${path}?tenant=one`, 'Bearer the-key-of-the-source'],
      [`/moved${path}`, 'Bearer the-key-of-the-source'],
    ]);
    expect(answer.sent[1]?.body).toEqual(answer.sent[0]?.body);
  });

  test.each([301, 302, 303, 307, 308])('%i to another origin is not followed: nobody is asked there, and the client is told', async (status) => {
    moved = { status, location: `${elsewhere.origin}${path}` };
    const answer = await ask({ path });
    expect([answer.status, answer.sent.length, connectionsElsewhere()]).toEqual([502, 1, 0]);
  });
});

function connectionsElsewhere(): number {
  return elsewhere.connections() - connectionsBefore;
}

function expectOurs(sent: JsonServer['requests'], path: string): void {
  expect(sent.map(({ url }) => url)).toEqual([`${path}?tenant=one`]);
  const { headers } = sent[0]!;
  expect(Object.keys(headers).filter((name) => !ownHeaders.includes(name))).toEqual([]);
  expect(headers).toMatchObject({ host: new URL(provider.origin).host, authorization: 'Bearer the-key-of-the-source', 'x-team': 'ours', 'user-agent': 'polygateway' });
  expect(connectionsElsewhere()).toBe(0);
}

test('CONNECT makes no tunnel', async () => {
  const { host } = new URL(elsewhere.origin);
  const { text } = await sendRaw(port, `CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  expect(text).not.toMatch(/^HTTP\/1.1 2/);
  expect(connectionsElsewhere()).toBe(0);
});
