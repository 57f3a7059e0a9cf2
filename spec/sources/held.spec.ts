import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BehaviorSubject, Subject, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { toAsyncIterable } from '../../lib/adapters/toAsyncIterable.js';
import type { ChatDelta } from '../../lib/model/delta.js';
import { parseRequest } from '../../lib/model/request.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import type { HttpClient } from '../../lib/sources/httpBytes.js';
import { createHttpSource } from '../../lib/sources/httpSource.js';
import { testCertificates } from '../support/testCertificates.js';
import { until } from '../support/until.js';

const closers: (() => Promise<void> | void)[] = [];
const certificates = testCertificates();

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Upstream {
  origin: string;
  requests: string[];
  /** Every connection there has been. */
  sockets: Socket[];
}

async function upstream(answer: (response: ServerResponse, request: IncomingMessage, at: number) => void, { tls = false } = {}): Promise<Upstream> {
  const seen: Upstream = { origin: '', requests: [], sockets: [] };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume().on('end', () => answer(response, request, seen.requests.push(request.url ?? '')));
  };
  const server: Server = tls ? createTlsServer(certificates.valid, listener) : createServer(listener);
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => seen.sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of seen.sockets) socket.destroy();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  seen.origin = `${tls ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}`;
  return seen;
}

function client(): HttpClient {
  const made = createHttpClient({ ca: certificates.ca });
  closers.push(() => made.close());
  return made;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

interface Exchange {
  log: string[];
  held$: BehaviorSubject<boolean>;
  leave(): void;
}

/** Reads nothing until the source is told to stop. */
async function untilHeldAgain(reader: Read): Promise<void> {
  const before = reader.holds;
  await until('it is held', () => Promise.resolve(reader.holds > before));
}

/** One request; `log` has the status, the text of the body, and how it ended. */
function post(url: string, { held$ = new BehaviorSubject(true), through = client(), onBytes }: { held$?: BehaviorSubject<boolean>; through?: HttpClient; onBytes?: () => void } = {}): Exchange {
  const log: string[] = [];
  const subscription = through.post({ url: new URL(url), headers: {}, body: 'x', connectTimeoutMs: 5000, held$ }).subscribe({
    next: (part) => {
      log.push(part.type === 'head' ? `${part.status}` : part.bytes.toString());
      if (part.type === 'bytes') onBytes?.();
    },
    error: (error: unknown) => log.push(nameOf(error)),
    complete: () => log.push('end'),
  });
  closers.push(() => subscription.unsubscribe());
  return { log, held$, leave: () => subscription.unsubscribe() };
}

const soon = 60;
/** Head, then its body, once the head has been read. */
const later = (response: ServerResponse, headers: Record<string, string> = {}): void => {
  response.writeHead(200, headers).flushHeaders();
  setTimeout(() => response.end('body'), soon / 2);
};
const has = (log: string[], last: string): Promise<void> => until(`${last} in the log`, () => Promise.resolve(log.at(-1) === last), { everyMs: 5, timeoutMs: 5000 });

const frame = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const ending = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const numbered = (at: number): string => `${at} `.padEnd(1000, '.');

interface Flood {
  offered: number;
  blocked: boolean;
}

/** Writes increments of 1 KB as fast as they are accepted. */
function flood(response: ServerResponse, increments: number): Flood {
  const state: Flood = { offered: 0, blocked: false };
  const write = (): void => {
    state.blocked = false;
    while (state.offered < increments && !state.blocked) {
      state.blocked = !response.write(frame(numbered(state.offered)));
      state.offered += 1;
    }
    if (!state.blocked) response.end(ending);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' }).on('drain', write);
  write();
  return state;
}

interface Read {
  iterable: AsyncIterableIterator<ChatDelta>;
  /** What the source has emitted, and the greatest number that waited for the reader. */
  emitted: number;
  taken: number;
  mostWaiting: number;
  holds: number;
}

function read(origin: string): Read {
  const through = client();
  const source = createHttpSource({ id: 't/1', provider: 't', baseUrl: `${origin}/v1`, model: 'm', connectTimeoutMs: 5000, client: through });
  const request = parseRequest({ messages: [{ role: 'user', content: 'hi' }] });
  const open = (held$: Observable<boolean>): Observable<ChatDelta> =>
    source.stream(request, { attemptId: 'a', held$: held$.pipe(tap({ next: (held) => { state.holds += Number(held); } })) }).pipe(
      tap({ next: () => { state.mostWaiting = Math.max(state.mostWaiting, (state.emitted += 1) - state.taken); } }),
    );
  const state: Read = { iterable: toAsyncIterable(open), emitted: 0, taken: 0, mostWaiting: 0, holds: 0 };
  closers.push(() => void state.iterable.return?.());
  return state;
}

describe('a slow reader', () => {
  test.each([[false], [true]])('MM-02: the server cannot write on, and what waits is bounded (TLS: %p)', async (tls) => {
    let state: Flood | undefined;
    const { origin } = await upstream((response) => { state = flood(response, 200_000); }, { tls });
    const reader = read(origin);
    for (let at = 0; at < 30; at += 1) {
      const { value } = await reader.iterable.next() as { value: ChatDelta };
      expect(value).toEqual({ type: 'content', text: numbered(at) });
      reader.taken += 1;
      await sleep(10);
    }
    await until('the server is blocked for good', async () => {
      const { offered } = state!;
      await sleep(200);
      return state!.blocked && state!.offered === offered;
    });
    // The buffers of both kernels are most of it.
    expect(state!.offered).toBeLessThan(40_000);
    // 256, and what the socket had read already.
    expect(reader.mostWaiting).toBeLessThan(256 + 200);
  });

  test('MM-02: once it reads on, everything comes, in order', async () => {
    const { origin, sockets } = await upstream((response) => void flood(response, 3000));
    const reader = read(origin);
    let at = 0;
    let wrong = 0;
    for await (const delta of reader.iterable) {
      reader.taken += 1;
      if (at === 100 || at === 2000) await untilHeldAgain(reader);
      if (delta.type === 'content' && delta.text !== numbered(at++)) wrong += 1;
    }
    expect([at, wrong]).toEqual([3000, 0]);
    // The answer was read to its end, so that the connection serves the next request.
    await sleep(20);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([false]);
  });
});

describe('a compressed answer whose reader is slow', () => {
  test('is unpacked as it is read, however much there is in a small packet', async () => {
    const text = 'x'.repeat(8);
    const body = gzipSync(Array.from({ length: 30_000 }, () => frame(text)).join('') + ending);
    const { origin } = await upstream((response) => response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(body));
    const reader = read(origin);
    await reader.iterable.next();
    await until('no more comes', async () => {
      const { emitted } = reader;
      await sleep(150);
      return emitted === reader.emitted;
    });
    expect(reader.emitted).toBeLessThan(2000);
    let count = 1;
    for await (const delta of reader.iterable) count += delta.type === 'content' ? 1 : 0;
    expect(count).toBe(30_000);
  });
});

describe('a reader that has yet to read what has all arrived', () => {
  test('does not keep the connection from the next request', async () => {
    const { origin, sockets } = await upstream((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(Array.from({ length: 300 }, (_, at) => frame(numbered(at).slice(0, 20))).join('') + ending);
      setTimeout(() => response.end(), 30);
    });
    const reader = read(origin);
    await reader.iterable.next();
    await sleep(200);
    expect([reader.holds > 0, sockets[0]?.destroyed]).toEqual([true, false]);
  });
});

describe('an answer that is held', () => {
  test('before its head: the head comes, the body and its end after the hold, and the connection is used again', async () => {
    const { origin, sockets } = await upstream((response) => later(response));
    const through = client();
    for (const nth of ['first', 'second']) {
      const { log, held$ } = post(origin, { through });
      await has(log, '200');
      await sleep(soon);
      expect(log).toEqual(['200']);
      held$.next(false);
      await has(log, 'end');
      expect([nth, ...log]).toEqual([nth, '200', 'body', 'end']);
      expect(held$.observed).toBe(false);
    }
    expect(sockets.length).toBe(1);
  });

  test('that comes after a redirect', async () => {
    const { origin, requests } = await upstream((response, request) => {
      if (request.url === '/') response.writeHead(307, { location: '/there' }).end('go there');
      else later(response);
    });
    const { log, held$ } = post(origin);
    await has(log, '200');
    await sleep(soon);
    expect(log).toEqual(['200']);
    held$.next(false);
    await has(log, 'end');
    expect(requests).toEqual(['/', '/there']);
  });

  test('that comes on a second connection, since the kept one was dead (TR-01)', async () => {
    const { origin, sockets } = await upstream((response, request, at) => {
      if (at === 2) request.socket.destroy();
      else later(response);
    });
    const through = client();
    await has(post(origin, { through, held$: new BehaviorSubject(false) }).log, 'end');
    const { log, held$ } = post(origin, { through });
    await has(log, '200');
    await sleep(soon);
    expect([sockets.length, log]).toEqual([2, ['200']]);
    held$.next(false);
    await has(log, 'end');
  });

  test.each([
    ['chunked, kept alive', {}, ['200', 'TransientError']],
    ['chunked, closing', { connection: 'close' }, ['200', 'TransientError']],
    ['of known length, closing', { connection: 'close', 'content-length': '9' }, ['200', 'TransientError']],
    ['up to the end of the connection', { connection: 'close', 'transfer-encoding': 'identity' }, ['200', 'end']],
  ])('%s, is reset by the server meanwhile: nothing is thrown past the request', async (_, headers, log) => {
    const { origin, sockets } = await upstream((response) => {
      response.writeHead(200, headers as Record<string, string>).flushHeaders();
    });
    const held = post(origin);
    await has(held.log, '200');
    await sleep(soon / 2);
    sockets[0]?.resetAndDestroy();
    await has(held.log, log.at(-1)!);
    expect(held.log).toEqual(log);
  });

  test.each([['kept alive', {}], ['closing', { connection: 'close' }]])('%s, is ended by the server meanwhile: it is whole after the hold', async (_, headers) => {
    const { origin } = await upstream((response) => later(response, headers));
    const { log, held$ } = post(origin);
    await has(log, '200');
    await sleep(soon * 2);
    expect(log).toEqual(['200']);
    held$.next(false);
    await has(log, 'end');
    expect(log).toEqual(['200', 'body', 'end']);
  });

  test('is left: its connection is closed at once, and nobody listens to held$', async () => {
    const { origin, sockets } = await upstream((response) => later(response));
    const exchange = post(origin);
    const { log, held$ } = exchange;
    await has(log, '200');
    const leftMs = performance.now();
    exchange.leave();
    expect(held$.observed).toBe(false);
    await new Promise((resolve) => sockets[0]?.on('close', resolve));
    expect(performance.now() - leftMs).toBeLessThan(500);
  });

  test('goes on from within the data of another answer', async () => {
    const { origin } = await upstream((response) => later(response));
    const first = post(origin);
    await has(first.log, '200');
    await sleep(soon);
    const second = post(origin, { held$: new BehaviorSubject(false), onBytes: () => first.held$.next(false) });
    await has(second.log, 'end');
    await has(first.log, 'end');
    expect(first.log).toEqual(['200', 'body', 'end']);
  });

  test('goes on where held$ ends', async () => {
    const { origin } = await upstream((response) => later(response));
    const { log, held$ } = post(origin);
    await has(log, '200');
    held$.complete();
    await has(log, 'end');
    expect(log).toEqual(['200', 'body', 'end']);
  });

  test('fails with the error of held$, and its connection is closed', async () => {
    const { origin, sockets } = await upstream((response) => later(response));
    const { log, held$ } = post(origin);
    await has(log, '200');
    held$.error(new RangeError('broken'));
    await has(log, 'RangeError');
    await until('the connection is closed', () => Promise.resolve(sockets[0]?.destroyed === true));
  });

  test('is held and let go many times in the same turn: the last word counts', async () => {
    const { origin } = await upstream((response) => later(response));
    const held$ = new BehaviorSubject(false);
    const { log } = post(origin, { held$ });
    await has(log, '200');
    for (const held of [true, false, true, false, true]) held$.next(held);
    await sleep(soon);
    expect(log).toEqual(['200']);
    // Node forgets to tell a listener that left and came back between two of its own ticks.
    process.nextTick(() => held$.next(false));
    process.nextTick(() => {
      process.nextTick(() => held$.next(false));
      held$.next(true);
    });
    await has(log, 'end');
  });

  test('is not held by what a hot held$ said to others before; silence holds nothing', async () => {
    const { origin } = await upstream((response) => later(response));
    const log: string[] = [];
    const held$ = new Subject<boolean>();
    const subscription = client().post({ url: new URL(origin), headers: {}, body: 'x', connectTimeoutMs: 5000, held$ }).subscribe({ complete: () => log.push('end') });
    closers.push(() => subscription.unsubscribe());
    await has(log, 'end');
  });
});
