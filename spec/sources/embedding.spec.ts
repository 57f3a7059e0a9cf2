import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom, lastValueFrom, materialize, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseEmbeddingRequest } from '../../lib/model/embedding.js';
import type { EmbeddingAnswer } from '../../lib/model/embedding.js';
import type { GatewayError } from '../../lib/model/errors.js';
import { createHttpEmbeddingSource } from '../../lib/sources/embeddingSource.js';
import type { HttpEmbeddingSettings } from '../../lib/sources/embeddingSource.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import { createDocumentReader } from '../../lib/wire/documentReader.js';
import { startJsonServer } from '../support/jsonServer.js';
import type { JsonServer } from '../support/jsonServer.js';

const key = 'sk-planted-0123456789abcdef';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serving(answer: (response: ServerResponse) => void): Promise<JsonServer> {
  const server = await startJsonServer(answer);
  closers.push(() => server.close());
  return server;
}

function sourceAt(origin: string, settings: Partial<HttpEmbeddingSettings> = {}): ReturnType<typeof createHttpEmbeddingSource> {
  const client = createHttpClient();
  closers.push(() => client.close());
  return createHttpEmbeddingSource({ id: 'e/1', provider: 'e', baseUrl: `${origin}/v1`, apiKey: key, model: 'm', connectTimeoutMs: 5000, client, ...settings });
}

const two = parseEmbeddingRequest({ input: ['a', 'b'] });
const vectors = [[0.5, -1], [0.25, 4]];
const document = { data: vectors.map((embedding, index) => ({ index, embedding })), model: 'm-real', usage: { prompt_tokens: 3, total_tokens: 3 } };
const whole = JSON.stringify(document);

function answer$(server: JsonServer, request = two): Observable<EmbeddingAnswer> {
  return sourceAt(server.origin).embed(request, { attemptId: 'a' });
}

async function failureOf(answer$: Observable<unknown>): Promise<GatewayError> {
  return lastValueFrom(answer$, { defaultValue: undefined }).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as GatewayError,
  );
}

async function until(condition: () => boolean): Promise<void> {
  for (let at = 0; at < 500 && !condition(); at += 1) await sleep(5);
  expect(condition()).toBe(true);
}

const listsOf = ({ vectors: given }: EmbeddingAnswer): number[][] => given.map((vector) => [...vector]);

describe('what is sent for embeddings', () => {
  const sentFor = async (request: object, settings: Partial<HttpEmbeddingSettings> = {}): Promise<JsonServer['requests'][number]> => {
    const server = await serving((response) => response.end(whole));
    await lastValueFrom(sourceAt(server.origin, settings).embed(parseEmbeddingRequest({ input: ['a', 'b'], ...request }), { attemptId: 'a' }));
    return server.requests[0] as JsonServer['requests'][number];
  };

  test('the inputs and the model, with the key; no encoding unless it was asked for, and no tags', async () => {
    const { url, headers, body } = await sentFor({ tags: { team: 'x' } });
    expect([url, body]).toEqual(['/v1/embeddings', { input: ['a', 'b'], model: 'm' }]);
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, accept: 'application/json', 'accept-encoding': 'identity' });
  });

  test('fields of the request travel on; its model goes before the source`s', async () => {
    expect((await sentFor({ model: 'mine', encoding_format: 'base64', user: 'u' })).body).toEqual({ input: ['a', 'b'], model: 'mine', encoding_format: 'base64', user: 'u' });
  });

  test('EXTRA_BODY goes over the request, but never over the inputs', async () => {
    const { body } = await sentFor({ model: 'mine', encoding_format: 'base64' }, { extraBody: { model: 'theirs', encoding_format: 'float', input: ['z'] } });
    expect(body).toEqual({ input: ['a', 'b'], model: 'theirs', encoding_format: 'float' });
  });
});

describe('the answer with embeddings', () => {
  test('is one value, then complete; the connection is used again', async () => {
    const server = await serving((response) => response.writeHead(200, { 'x-request-id': 'req-1' }).end(whole));
    const source = sourceAt(server.origin);
    for (let at = 0; at < 2; at += 1) {
      const told = await lastValueFrom(source.embed(two, { attemptId: 'a' }).pipe(materialize(), toArray()));
      expect(told.map(({ kind }) => kind)).toEqual(['N', 'C']);
      // The client rests a connection for one turn of the loop.
      await sleep(10);
    }
    const answer = await firstValueFrom(source.embed(two, { attemptId: 'a' }));
    expect(listsOf(answer)).toEqual(vectors);
    expect(answer).toMatchObject({ model: 'm-real', providerRequestId: 'req-1', usage: { promptTokens: 3, completionTokens: null, totalTokens: 3 } });
    expect(server.connections()).toBe(1);
  });

  test.each(['float', 'base64'] as const)('is the same as a list and as base64, even mixed, when %s was asked for', async (asked) => {
    const [list = [], other = []] = vectors;
    const packed = Buffer.from(Float32Array.from(other).buffer).toString('base64');
    const server = await serving((response) => response.end(JSON.stringify({ data: [{ index: 1, embedding: packed }, { index: 0, embedding: list }] })));
    const answer = await lastValueFrom(answer$(server, parseEmbeddingRequest({ input: ['a', 'b'], encoding_format: asked })));
    expect(listsOf(answer)).toEqual(vectors);
    expect(answer.usage).toBeNull();
  });

  test.each([
    ['gzip', gzipSync(whole)],
    ['deflate', deflateSync(whole)],
    ['deflate', deflateRawSync(whole)],
    ['br', brotliCompressSync(whole)],
  ])('is decompressed where it is declared: %s', async (encoding, body) => {
    const server = await serving((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    expect(listsOf(await lastValueFrom(answer$(server)))).toEqual(vectors);
  });

  test('may begin with a byte order mark and come in pieces that cut characters', async () => {
    const bytes = Buffer.from(`\uFEFF${JSON.stringify({ ...document, model: 'modèle' })}`);
    const cut = bytes.indexOf('è') + 1;
    const server = await serving((response) => {
      response.write(bytes.subarray(0, cut));
      setTimeout(() => response.end(bytes.subarray(cut)), 20);
    });
    expect(await lastValueFrom(answer$(server))).toMatchObject({ model: 'modèle' });
  });

  test('counts when the connection breaks after its last byte', async () => {
    const server = await serving((response) => {
      response.writeHead(200, { 'content-length': whole.length + 10 }).write(whole);
      setTimeout(() => response.destroy(), 30);
    });
    expect(listsOf(await lastValueFrom(answer$(server)))).toEqual(vectors);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['is cut by the connection', (response) => { response.writeHead(200, { 'content-length': whole.length }).write(whole.slice(0, -5)); setTimeout(() => response.destroy(), 30); }],
    ['is cut by the source', (response) => { response.end(whole.slice(0, -5)); }],
    ['is empty', (response) => { response.end(); }],
    ['is a page', (response) => { response.end('<html><title>Welcome</title></html>'); }],
    ['is a list', (response) => { response.end('[]'); }],
    ['is compressed and cut', (response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(whole).subarray(0, 30)); }],
    ['goes on after its end', (response) => { response.end(`${whole}${whole}`); }],
    ['has no data', (response) => { response.end('{"object":"list"}'); }],
  ])('that %s is transient (R1)', async (_, answer) => {
    const server = await serving(answer);
    expect(await failureOf(answer$(server))).toMatchObject({ code: 'transient', source: 'e/1', httpStatus: 200 });
  });

  test('that broke off is told as what broke it off, not as garbled', async () => {
    const server = await serving((response) => {
      response.write('{"data":[');
      setTimeout(() => response.destroy(), 30);
    });
    expect((await failureOf(answer$(server))).message).toMatch(/connection/);
  });

  test('that is too large is refused as it comes', () => {
    const refused = (): never => { throw new Error('not reached'); };
    const { text } = createDocumentReader({ emit: refused, failureOf: refused, read: refused, maxChars: 10 });
    text('{"data":[1');
    expect(() => text(',')).toThrow(expect.objectContaining({ code: 'transient', message: expect.stringContaining('larger than 10') }));
  });

  test.each([
    [401, 'source'], [402, 'source'], [404, 'source'], [413, 'request'], [429, 'rate_limited'], [503, 'transient'],
  ])('with status %i is of class %s, and so is status 200 with that code in the body', async (status, code) => {
    const body = JSON.stringify({ error: { message: 'no', code: status } });
    expect(await failureOf(answer$(await serving((response) => response.writeHead(status).end(body))))).toMatchObject({ code, httpStatus: status });
    expect(await failureOf(answer$(await serving((response) => response.end(body))))).toMatchObject({ code });
  });

  test('a 429 says how long to wait', async () => {
    const server = await serving((response) => response.writeHead(429, { 'retry-after': '7' }).end('{}'));
    expect(await failureOf(answer$(server))).toMatchObject({ code: 'rate_limited', retryAfterS: 7 });
  });

  test('R7: a key in the words of an error is masked, at status 200 too', async () => {
    for (const status of [200, 401]) {
      const server = await serving((response) => response.writeHead(status).end(JSON.stringify({ error: { message: `wrong key ${key}`, code: 401 } })));
      const error = await failureOf(answer$(server));
      expect(error.message).toContain('wrong key');
      expect(inspect(error, { depth: 10 })).not.toContain(key);
    }
  });
});

describe('the connection of embeddings', () => {
  test('X1: is closed at once when the subscriber leaves, before and amid the answer', async () => {
    for (const begin of [(): void => undefined, (response: ServerResponse): void => void response.write(whole.slice(0, 20))]) {
      const server = await serving(begin);
      const subscription = answer$(server).subscribe();
      await until(() => server.requests.length === 1);
      subscription.unsubscribe();
      await until(() => server.open.size === 0);
    }
  });

  test('is not opened when the subscriber leaves in the same turn, which is told', async () => {
    const server = await serving((response) => response.end(whole));
    let unsent = 0;
    sourceAt(server.origin).embed(two, { attemptId: 'a', onUnsent: () => { unsent += 1; } }).subscribe().unsubscribe();
    await sleep(30);
    expect([unsent, server.requests.length]).toEqual([1, 0]);
  });

  test('follows a redirect within the origin, and takes the key to no other', async () => {
    const other = await serving((response) => response.end(whole));
    const server = await serving((response) => {
      if (server.requests.at(-1)?.url === '/v1/embeddings') response.writeHead(308, { location: '/moved' }).end();
      else response.writeHead(307, { location: `${other.origin}/v1/embeddings` }).end();
    });
    expect(await failureOf(answer$(server))).toMatchObject({ code: 'source', httpStatus: 307 });
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/v1/embeddings', `Bearer ${key}`], ['/moved', `Bearer ${key}`]]);
    expect(other.requests).toEqual([]);
  });

  test('W1: that does not come about within its limit is transient', async () => {
    const deaf = createServer((socket) => void socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => void deaf.close(() => resolve())));
    const source = sourceAt(`https://127.0.0.1:${(deaf.address() as AddressInfo).port}`, { connectTimeoutMs: 200 });
    expect(await failureOf(source.embed(two, { attemptId: 'a' }))).toMatchObject({ code: 'transient', source: 'e/1', cause: { code: 'stream_liveness_timeout', limit: 'connect', limitMs: 200 } });
  });
});
