import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { VirtualTimeScheduler, firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import type { ChatDelta } from '../../lib/model/delta.js';
import type { GatewayError, StreamLivenessTimeout } from '../../lib/model/errors.js';
import { createGateway } from '../../lib/assemble/createGateway.js';
import { parseRequest } from '../../lib/model/request.js';
import type { ChatResponse } from '../../lib/model/response.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import type { HttpClient, HttpClientSettings } from '../../lib/sources/httpBytes.js';
import { createHttpSource } from '../../lib/sources/httpSource.js';
import type { HttpChatSettings } from '../../lib/sources/httpSource.js';
import { testCertificates } from '../support/testCertificates.js';

const key = 'sk-test-EXAMPLE-0123456789';
const closers: (() => Promise<void> | void)[] = [];
const certificates = testCertificates();

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const frame = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const stop = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const done = 'data: [DONE]\n\n';
const wholeStream = frame('ok') + stop + done;

interface Upstream {
  origin: string;
  requests: { url: string; headers: IncomingMessage['headers']; body: string }[];
  connections: number;
  open: Set<Socket>;
}

/** A server that reads each request whole before it answers. */
async function upstream(answer: (response: ServerResponse, request: IncomingMessage, at: number) => void, { tls = false } = {}): Promise<Upstream> {
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      seen.requests.push({ url: request.url ?? '', headers: request.headers, body });
      answer(response, request, seen.requests.length);
    });
  };
  const server: Server = tls ? createHttpsServer(certificates.valid, listener) : createServer(listener);
  const seen: Upstream = { origin: '', requests: [], connections: 0, open: new Set() };
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    seen.connections += 1;
    seen.open.add(socket);
    socket.on('error', () => undefined).on('close', () => seen.open.delete(socket));
  });
  seen.origin = `${tls ? 'https' : 'http'}://localhost:${await listening(server)}`;
  return seen;
}

async function listening(server: { listen(port: number, host: string, done: () => void): unknown; close(done: () => void): unknown; address(): unknown; on(event: 'connection', listener: (socket: Socket) => void): unknown }): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => void server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function client(settings: HttpClientSettings = {}): HttpClient {
  const made = createHttpClient({ ca: certificates.ca, ...settings });
  closers.push(() => made.close());
  return made;
}

function sourceAt(origin: string, settings: Partial<HttpChatSettings> = {}): ReturnType<typeof createHttpSource> {
  return createHttpSource({
    id: 'test/1',
    provider: 'test',
    baseUrl: `${origin}/v1`,
    apiKey: key,
    model: 'm',
    connectTimeoutMs: 5000,
    client: settings.client ?? client(),
    ...settings,
  });
}

const hello = parseRequest({ messages: [{ role: 'user', content: 'hi' }] });

function answer$(origin: string, settings: Partial<HttpChatSettings> = {}): Observable<ChatDelta> {
  return sourceAt(origin, settings).stream(hello, { attemptId: 'a' });
}

async function text(deltas$: Observable<ChatDelta>): Promise<string> {
  const deltas = await lastValueFrom(deltas$.pipe(toArray()));
  return deltas.map((delta) => (delta.type === 'content' ? delta.text : '')).join('');
}

async function failureOf(deltas$: Observable<ChatDelta>): Promise<GatewayError> {
  return lastValueFrom(deltas$, { defaultValue: undefined }).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as GatewayError,
  );
}

async function until(condition: () => boolean): Promise<void> {
  for (let at = 0; at < 500 && !condition(); at += 1) await sleep(5);
  expect(condition()).toBe(true);
}

const endless = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frame('one'));
  response.write(frame('two'));
};

describe('what is sent', () => {
  test('goes to chat/completions with the model, the key, usage asked for and no compression (T3)', async () => {
    const server = await upstream((response) => response.end(wholeStream));
    const source = createHttpSource({
      id: 't/1', provider: 't', baseUrl: `${server.origin}/v1/?api-version=7`, apiKey: key, model: 'm', connectTimeoutMs: 1000,
      headers: { 'User-Agent': 'mine' }, extraBody: { seed: 4 }, client: client(),
    });
    const request = parseRequest({ messages: [{ role: 'user', content: 'hi' }], tags: { team: 'x' }, top_k: 3 });
    expect(await text(source.stream(request, { attemptId: 'a' }))).toBe('ok');
    const [{ url, headers, body }] = server.requests as [Upstream['requests'][number]];
    expect(url).toBe('/v1/chat/completions?api-version=7');
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'accept-encoding': 'identity', 'user-agent': 'mine', 'content-type': 'application/json' });
    expect(JSON.parse(body)).toEqual({
      messages: [{ role: 'user', content: 'hi' }], model: 'm', stream: true, stream_options: { include_usage: true }, seed: 4, top_k: 3,
    });
  });

  test.each([
    ['an address without a scheme', { baseUrl: 'api.example.com/v1' }],
    ['a key with a line break', { apiKey: 'sk-a\nb' }],
    ['a header name with a space', { headers: { 'x y': '1' } }],
  ])('%s is refused when the source is made, without showing it', (_what, settings) => {
    const make = (): unknown => sourceAt('http://localhost:1', settings);
    expect(make).toThrow(expect.objectContaining({ code: 'config' }));
    expect(make).not.toThrow('sk-a');
  });
});

describe('the end of an answer', () => {
  test('the connection of an answer whose body has ended is used again', async () => {
    const server = await upstream((response) => response.end(wholeStream));
    const settings = { client: client() };
    for (let call = 0; call < 3; call += 1) {
      expect(await text(answer$(server.origin, settings))).toBe('ok');
      await sleep(5);
    }
    expect(server.connections).toBe(1);
  });

  test('the connection is also used again when the body ends a moment after [DONE]', async () => {
    const server = await upstream((response) => {
      response.write(wholeStream);
      setTimeout(() => response.end(), 20);
    });
    const settings = { client: client() };
    for (let call = 0; call < 2; call += 1) {
      expect(await text(answer$(server.origin, settings))).toBe('ok');
      await sleep(200);
    }
    expect(server.connections).toBe(1);
  });

  test('[DONE] completes at once where the body never ends, and we close', async () => {
    const server = await upstream((response) => response.write(wholeStream));
    expect(await text(answer$(server.origin))).toBe('ok');
    await until(() => server.open.size === 0);
  });

  test('unsubscribing closes the connection, seen by the server at once (CN-02 e)', async () => {
    const server = await upstream(endless);
    await firstValueFrom(answer$(server.origin).pipe(take(1)));
    const leftMs = performance.now();
    await until(() => server.open.size === 0);
    // 50 ms is the promise; the rest is for a busy machine.
    expect(performance.now() - leftMs).toBeLessThan(500);
  });

  test('a connection that breaks after the finish reason is ignored (H15)', async () => {
    const server = await upstream((response, request) => {
      response.write(frame('ok') + stop);
      setTimeout(() => request.socket.destroy(), 20);
    });
    expect(await text(answer$(server.origin))).toBe('ok');
  });

  test('a connection that breaks before it is transient, with source and status (R1, R7)', async () => {
    const server = await upstream((response, request) => {
      response.writeHead(200, { 'x-request-id': 'req-7' });
      response.write(frame('ok'));
      setTimeout(() => request.socket.destroy(), 20);
    });
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'transient', source: 'test/1', httpStatus: 200, providerRequestId: 'req-7' });
  });
});

describe('a finish reason in every frame, as some relays send it', () => {
  const each = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })}\n\n`;

  async function ask(origin: string): Promise<ChatResponse> {
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [sourceAt(origin)], maxAttempts: 1 });
    closers.push(() => gateway.close());
    return gateway.chat({ messages: [{ role: 'user', content: 'hi' }] });
  }

  test('does not cut an answer that takes longer than the grace (H15)', async () => {
    const server = await upstream((response) => {
      const texts = ['a', 'b', 'c', 'd'];
      const drip = setInterval(() => {
        response.write(each(texts.shift() ?? ''));
        if (texts.length > 0) return;
        clearInterval(drip);
        response.end(done);
      }, 400);
    });
    expect(await ask(server.origin)).toMatchObject({ content: 'abcd', finishReason: 'stop' });
  });

  test('does not make an answer of one that breaks off with an error', async () => {
    const server = await upstream((response) => response.end(each('a') + each('b') + 'data: {"error":{"code":503,"message":"gone"}}\n\n'));
    await expect(ask(server.origin)).rejects.toMatchObject({ cause: { code: 'transient', httpStatus: 503 } });
  });
});

describe('connections', () => {
  test('abandoned streams leave no connection behind and block none (TR-05)', async () => {
    const server = await upstream((response, _request, at) => (at <= 50 ? endless(response) : response.end(wholeStream)));
    const settings = { client: client() };
    await Promise.all(Array.from({ length: 50 }, () => lastValueFrom(answer$(server.origin, settings).pipe(take(2)))));
    const sentMs = performance.now();
    expect(await text(answer$(server.origin, settings))).toBe('ok');
    expect(performance.now() - sentMs).toBeLessThan(1000);
    await until(() => server.open.size <= 1);
  });

  test('a kept connection that dies before any byte of the answer is redialled once (TR-01)', async () => {
    const server = await upstream((response, request, at) => (at === 2 ? request.socket.resetAndDestroy() : response.end(wholeStream)));
    const settings = { client: client() };
    expect(await text(answer$(server.origin, settings))).toBe('ok');
    await sleep(10);
    expect(await text(answer$(server.origin, settings))).toBe('ok');
    expect(server.requests).toHaveLength(3);
    expect(server.connections).toBe(2);
  });

  test('a kept connection that is reset before the request is written to it is no failure either (TR-01)', async () => {
    const server = await upstream((response) => response.end(wholeStream));
    const settings = { client: client() };
    expect(await text(answer$(server.origin, settings))).toBe('ok');
    await sleep(10);
    // In one turn, so that the reset arrives while the next request waits for its connection to be looked at.
    for (const socket of server.open) socket.resetAndDestroy();
    expect(await text(answer$(server.origin, settings))).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });

  test('the redial is bounded to one (TR-01)', async () => {
    const server = await upstream((response, request, at) => (at >= 2 ? request.socket.destroy() : response.end(wholeStream)));
    const settings = { client: client() };
    await text(answer$(server.origin, settings));
    await sleep(10);
    expect(await failureOf(answer$(server.origin, settings))).toMatchObject({ code: 'transient' });
    expect(server.requests).toHaveLength(3);
  });

  test('no redial once the answer has begun (TR-01)', async () => {
    const server = await upstream((response, request, at) => {
      if (at === 1) response.end(wholeStream);
      else request.socket.write('HTTP/1.1 2', () => request.socket.destroy());
    });
    const settings = { client: client() };
    await text(answer$(server.origin, settings));
    await sleep(10);
    expect(await failureOf(answer$(server.origin, settings))).toMatchObject({ code: 'transient' });
    expect(server.requests).toHaveLength(2);
  });

  test('a fresh connection that is reset is never redialled (TR-01)', async () => {
    const server = await upstream((_response, request) => request.socket.resetAndDestroy());
    const settings = { client: client() };
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await failureOf(answer$(server.origin, settings))).toMatchObject({ code: 'transient' });
      expect(server.connections).toBe(attempt);
    }
  });

  test('a refused connection is transient and shows no key', async () => {
    const server = createTcpServer();
    const port = await listening(server);
    await closers.pop()?.();
    const error = await failureOf(answer$(`http://127.0.0.1:${port}`));
    expect(error).toMatchObject({ code: 'transient', source: 'test/1' });
    expect(inspect(error, { depth: 10 })).not.toContain(key);
  });

  test('a connection that does not come about within its limit is transient and names the limit (W1)', async () => {
    const port = await listening(createTcpServer(() => undefined));
    const error = await failureOf(answer$(`https://localhost:${port}`, { connectTimeoutMs: 300 }));
    expect(error).toMatchObject({ code: 'transient' });
    const { limit, limitMs, waitedMs } = error.cause as StreamLivenessTimeout;
    expect({ limit, limitMs }).toEqual({ limit: 'connect', limitMs: 300 });
    expect(waitedMs).toBeGreaterThanOrEqual(290);
  });

  test('nothing is emitted in the turn of the subscription, not even by a closed client', async () => {
    const made = client();
    const server = await upstream((response) => response.end(wholeStream));
    await text(answer$(server.origin, { client: made }));
    let failed = false;
    const closing = made.close();
    answer$('http://127.0.0.1:1', { client: made }).subscribe({ error: () => (failed = true) });
    expect(failed).toBe(false);
    await closing;
    await until(() => failed);
  });
});

describe('a request that was not sent', () => {
  function unsent(origin: string, settings: Partial<HttpChatSettings> = {}): { told: () => number; subscription: Subscription } {
    let told = 0;
    const subscription = sourceAt(origin, settings)
      .stream(hello, { attemptId: 'a', onUnsent: () => (told += 1) })
      .subscribe({ error: () => undefined });
    return { told: () => told, subscription };
  }

  test('is told when the caller leaves in the same turn, and never arrives (CN-02 b)', async () => {
    const server = await upstream((response) => response.end(wholeStream));
    const { told, subscription } = unsent(server.origin);
    subscription.unsubscribe();
    expect(told()).toBe(1);
    await sleep(30);
    expect(server.requests).toEqual([]);
  });

  test('is told when the caller leaves while the connection is being made (CN-02 d)', async () => {
    const port = await listening(createTcpServer(() => undefined));
    const { told, subscription } = unsent(`https://localhost:${port}`);
    await sleep(30);
    subscription.unsubscribe();
    expect(told()).toBe(1);
  });

  test('is not told once the request is out, nor when the connection fails', async () => {
    const server = await upstream(() => undefined);
    const { told, subscription } = unsent(server.origin);
    await until(() => server.requests.length === 1);
    subscription.unsubscribe();
    expect(told()).toBe(0);
    const refused = unsent('http://127.0.0.1:1');
    await until(() => refused.subscription.closed);
    expect(refused.told()).toBe(0);
  });
});

describe('redirects', () => {
  test.each([307, 308])('%i to the same origin is followed with the body and the key', async (status) => {
    const server = await upstream((response, { url }) => {
      if (url === '/moved') response.end(wholeStream);
      else response.writeHead(status, { location: '/moved' }).end();
    });
    expect(await text(answer$(server.origin))).toBe('ok');
    expect(server.requests[1]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
  });

  test('the key goes to no other origin', async () => {
    const other = await upstream((response) => response.end(wholeStream));
    const server = await upstream((response) => response.writeHead(307, { location: `${other.origin}/v1/chat/completions` }).end());
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'source', httpStatus: 307 });
    expect(other.connections).toBe(0);
  });

  test('a circle ends after a few', async () => {
    const server = await upstream((response) => response.writeHead(307, { location: '/again' }).end());
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'source', httpStatus: 307 });
    expect(server.requests.length).toBeLessThanOrEqual(5);
  });

  test('302 is not followed, since it would become a GET', async () => {
    const server = await upstream((response) => response.writeHead(302, { location: '/moved' }).end());
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'source', httpStatus: 302 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('bodies', () => {
  test.each([
    ['gzip', gzipSync(wholeStream)],
    ['x-gzip', gzipSync(wholeStream)],
    ['deflate', deflateSync(wholeStream)],
    ['deflate', deflateRawSync(wholeStream)],
    ['br', brotliCompressSync(wholeStream)],
    ['gzip, br', brotliCompressSync(gzipSync(wholeStream))],
    ['identity', Buffer.from(wholeStream)],
  ])('%s is decoded where it is declared', async (encoding, body) => {
    const server = await upstream((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    expect(await text(answer$(server.origin))).toBe('ok');
  });

  test('a compressed body that is cut is truncated, not an answer', async () => {
    const body = gzipSync(frame('part') + frame('x'.repeat(100)) + stop).subarray(0, 60);
    const server = await upstream((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body));
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'transient' });
  });

  test('a compressed answer that is whole but for its checksum is an answer', async () => {
    const body = gzipSync(wholeStream).subarray(0, -8);
    const server = await upstream((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body));
    expect(await text(answer$(server.origin))).toBe('ok');
  });

  test('a body that is not what its encoding says is transient', async () => {
    const server = await upstream((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(wholeStream));
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'transient' });
  });

  test('an encoding that nobody asked for is the source\'s fault', async () => {
    const server = await upstream((response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end(wholeStream));
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'source' });
  });

  test('a frame over 16 MiB is an error, never a cut', async () => {
    const server = await upstream((response) => {
      response.write('data: {"choices":[{"delta":{"content":"');
      response.end('x'.repeat(17 * 1024 * 1024));
    });
    expect(await failureOf(answer$(server.origin))).toMatchObject({ code: 'transient', message: expect.stringContaining('larger') });
  });

  test('an endless error body is read no further than 64 KiB', async () => {
    const server = await upstream((response) => {
      response.writeHead(503);
      const pour = setInterval(() => response.write('<div>filler</div>'.repeat(1000)), 1);
      response.on('close', () => clearInterval(pour));
    });
    // This clock stands still, so only the size can end the reading.
    const error = await failureOf(answer$(server.origin, { scheduler: new VirtualTimeScheduler() }));
    expect(error).toMatchObject({ code: 'transient', httpStatus: 503 });
    expect(error.message.length).toBeLessThanOrEqual(500);
    await until(() => server.open.size === 0);
  });

  test('the class of a status does not wait for a body that never ends', async () => {
    const server = await upstream((response) => void response.writeHead(401).write('{"error":{"message":"bad'));
    const scheduler = new VirtualTimeScheduler();
    const failing = failureOf(answer$(server.origin, { scheduler }));
    await until(() => scheduler.actions.length > 0);
    scheduler.flush();
    expect(await failing).toMatchObject({ code: 'source', httpStatus: 401 });
  });

  test('a key that the provider quotes is masked, whatever it looks like (R7)', async () => {
    const apiKey = 'plainwords';
    const server = await upstream((response) => response.writeHead(401).end(JSON.stringify({ error: { message: `bad key ${apiKey}` } })));
    const error = await failureOf(answer$(server.origin, { apiKey }));
    expect(error.message).toContain('bad key');
    expect(inspect(error, { depth: 10 })).not.toContain(apiKey);
  });

  test('so is the value of any header that was set, whatever its name', async () => {
    const server = await upstream((response) => response.writeHead(401).end(JSON.stringify({ error: { message: 'team bluewords, swordfish' } })));
    const { message } = await failureOf(answer$(server.origin, { headers: { 'x-team': 'bluewords', 'x-id': 'Plain swordfish' } }));
    expect(message).toBe('HTTP 401: team [masked], [masked]');
  });
});

interface Proxy {
  port: number;
  connects: string[];
  forwards: string[];
  credentials: (string | undefined)[];
  tunnels: Set<Socket>;
}

/** A proxy that counts; it forwards plain requests and opens tunnels. */
async function countingProxy({ password }: { password?: string } = {}): Promise<Proxy> {
  const seen: Proxy = { port: 0, connects: [], forwards: [], credentials: [], tunnels: new Set() };
  const wanted = password === undefined ? undefined : `Basic ${Buffer.from(`user:${password}`).toString('base64')}`;
  const refuses = ({ headers }: IncomingMessage): boolean => {
    seen.credentials.push(headers['proxy-authorization']);
    return wanted !== undefined && headers['proxy-authorization'] !== wanted;
  };
  const server = createServer((request, response) => {
    seen.forwards.push(request.url ?? '');
    if (refuses(request)) {
      response.writeHead(407).end();
      return;
    }
    const onward = httpRequest(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.connects.push(request.url ?? '');
    if (refuses(request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const [host = '', port] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    seen.tunnels.add(socket);
    for (const end of [onward, socket]) end.on('error', () => undefined);
  });
  seen.port = await listening(server);
  return seen;
}

describe('proxies (TR-03)', () => {
  test('no variable is read unless the environment is handed in', async () => {
    const proxy = await countingProxy();
    const server = await upstream((response) => response.end(wholeStream));
    const before = process.env['HTTP_PROXY'];
    process.env['HTTP_PROXY'] = `http://localhost:${proxy.port}`;
    closers.push(() => {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    });
    expect(await text(answer$(server.origin))).toBe('ok');
    expect(proxy.forwards).toEqual([]);
    expect(await text(answer$(server.origin, { client: client({ env: process.env }) }))).toBe('ok');
    expect(proxy.forwards).toHaveLength(1);
  });

  test('plain requests are forwarded, secure ones tunnelled, those of NO_PROXY go there directly', async () => {
    const proxy = await countingProxy();
    const address = `http://localhost:${proxy.port}`;
    const plain = await upstream((response) => response.end(wholeStream));
    const secure = await upstream((response) => response.end(wholeStream), { tls: true });
    const settings = { client: client({ env: { http_proxy: address, HTTPS_PROXY: address } }) };
    expect(await text(answer$(plain.origin, settings))).toBe('ok');
    expect(await text(answer$(secure.origin, settings))).toBe('ok');
    expect(proxy.forwards).toEqual([`${plain.origin}/v1/chat/completions`]);
    expect(proxy.connects).toEqual([new URL(secure.origin).host]);
    const direct = { client: client({ env: { http_proxy: address, HTTPS_PROXY: address, NO_PROXY: 'localhost' } }) };
    expect(await text(answer$(plain.origin, direct))).toBe('ok');
    expect(await text(answer$(secure.origin, direct))).toBe('ok');
    expect(proxy.forwards.length + proxy.connects.length).toBe(2);
  });

  test('streaming through a tunnel is not held back, and a tunnel that closes is transient like any other', async () => {
    const proxy = await countingProxy();
    const server = await upstream(endless, { tls: true });
    const settings = { client: client({ env: { https_proxy: `http://localhost:${proxy.port}` } }) };
    const seen: string[] = [];
    const failing = new Promise<unknown>((resolve) => {
      answer$(server.origin, settings).subscribe({ next: (delta) => seen.push(delta.type), error: resolve });
    });
    await until(() => seen.length === 2);
    for (const tunnel of proxy.tunnels) tunnel.destroy();
    expect(await failing).toMatchObject({ code: 'transient' });
  });

  test('a dead proxy is named with its password hidden', async () => {
    const port = await listening(createTcpServer());
    await closers.pop()?.();
    const env = { http_proxy: `http://user:hush-hush@127.0.0.1:${port}`, https_proxy: `http://user:hush-hush@127.0.0.1:${port}` };
    for (const origin of ['http://api.example', 'https://api.example']) {
      const error = await failureOf(answer$(origin, { client: client({ env }) }));
      expect(error).toMatchObject({ code: 'transient', message: expect.stringContaining(`127.0.0.1:${port}`) });
      expect(inspect(error, { depth: 10 })).not.toContain('hush-hush');
    }
  });

  test('a proxy that wants a password gets it, and without it the source is out', async () => {
    const proxy = await countingProxy({ password: 'hush-hush' });
    const plain = await upstream((response) => response.end(wholeStream));
    const secure = await upstream((response) => response.end(wholeStream), { tls: true });
    const known = `http://user:hush-hush@localhost:${proxy.port}`;
    const unknown = `http://localhost:${proxy.port}`;
    for (const { origin } of [plain, secure]) {
      expect(await text(answer$(origin, { client: client({ env: { http_proxy: known, https_proxy: known } }) }))).toBe('ok');
      const error = await failureOf(answer$(origin, { client: client({ env: { http_proxy: unknown, https_proxy: unknown } }) }));
      expect(error.code).toBe('source');
      expect(error.message).toContain('407');
    }
  });

  test('a proxy that never answers CONNECT runs into the connect limit', async () => {
    const port = await listening(createTcpServer(() => undefined));
    const settings = { client: client({ env: { https_proxy: `http://localhost:${port}` } }), connectTimeoutMs: 300 };
    const error = await failureOf(answer$('https://api.example', settings));
    expect(error).toMatchObject({ code: 'transient', cause: { limit: 'connect' } });
  });
});
