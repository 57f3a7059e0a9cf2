import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { concat, defer, from, map, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { toAsyncIterable } from '../../lib/adapters/toAsyncIterable.js';
import type { Held } from '../../lib/adapters/toAsyncIterable.js';
import { toReadableStream } from '../../lib/adapters/toReadableStream.js';
import type { ChatDelta } from '../../lib/model/delta.js';
import { parseRequest } from '../../lib/model/request.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import { createHttpSource } from '../../lib/sources/httpSource.js';
import { startJsonServer } from '../support/jsonServer.js';
import type { JsonServer } from '../support/jsonServer.js';
import { until } from '../support/until.js';

const request = parseRequest({ messages: [{ role: 'user', content: 'hi' }] });
const client = createHttpClient();
const frame = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
/** 1 KB increments without end, as fast as they are accepted, or one and then silence. */
let endless = false;
let server: JsonServer;

beforeAll(async () => {
  server = await startJsonServer((response) => {
    const write = (): void => { while (endless && !response.destroyed && response.write(frame('x'.repeat(1000)))); };
    response.writeHead(200, { 'content-type': 'text/event-stream' }).on('drain', write).write(frame('one'));
    write();
  });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

function answer(): Held<ChatDelta> {
  const source = createHttpSource({ id: 't/1', provider: 't', baseUrl: `${server.origin}/v1`, model: 'm', connectTimeoutMs: 5000, client });
  return (held$) => source.stream(request, { attemptId: 'a', held$ });
}

const encoder = new TextEncoder();
const bytes: Held<Uint8Array> = (held$) => answer()(held$).pipe(map((delta) => encoder.encode(JSON.stringify(delta))));

/** How each reader takes the first delta and then goes away, most of them while they wait for the second; `leaving` right before. */
const departures: [string, (leaving: () => void) => Promise<unknown>][] = [
  ['break', async (leaving) => {
    for await (const { type } of toAsyncIterable(answer())) {
      expect(type).toBe('content');
      leaving();
      break;
    }
  }],
  ['return() while next() is pending', async (leaving) => {
    const iterable = toAsyncIterable(answer());
    await iterable.next();
    const second = iterable.next();
    leaving();
    void iterable.return?.();
    expect(await second).toEqual({ done: true, value: undefined });
  }],
  ['throw() while next() is pending', async (leaving) => {
    const iterable = toAsyncIterable(answer());
    await iterable.next();
    const second = iterable.next();
    leaving();
    await expect(iterable.throw?.(new Error('mine'))).rejects.toThrow('mine');
    expect(await second).toEqual({ done: true, value: undefined });
  }],
  ['unsubscribing from from(iterable)', async (leaving) => {
    const read: ChatDelta[] = [];
    const subscription = from(toAsyncIterable(answer())).subscribe((delta) => read.push(delta));
    await until('the first delta', () => Promise.resolve(read.length === 1), { everyMs: 5 });
    leaving();
    subscription.unsubscribe();
  }],
  ['cancel() of the ReadableStream while a read is pending', async (leaving) => {
    const reader = toReadableStream(answer()).getReader();
    await reader.read();
    const second = reader.read();
    leaving();
    await reader.cancel('enough');
    expect(await second).toEqual({ done: true, value: undefined });
  }],
  ['break in the ReadableStream', async (leaving) => {
    for await (const { type } of toReadableStream(answer())) {
      expect(type).toBe('content');
      leaving();
      break;
    }
  }],
  ['cancel() of the body of a Response', async (leaving) => {
    const reader = new Response(toReadableStream(bytes)).body!.getReader();
    expect((await reader.read()).value).toEqual(encoder.encode('{"type":"content","text":"one"}'));
    const second = reader.read();
    leaving();
    await reader.cancel();
    expect(await second).toEqual({ done: true, value: undefined });
  }],
  ['an aborted pipeTo', async (leaving) => {
    const controller = new AbortController();
    const written: ChatDelta[] = [];
    const piping = toReadableStream(answer()).pipeTo(new WritableStream({ write: (delta) => void written.push(delta) }), { signal: controller.signal });
    await until('the first delta', () => Promise.resolve(written.length === 1), { everyMs: 5 });
    leaving();
    controller.abort();
    await expect(piping).rejects.toMatchObject({ name: 'AbortError' });
  }],
];

describe('a stream that is abandoned', () => {
  test.each(departures)('%s: the server sees the connection close at once', async (_, depart) => {
    endless = false;
    let leftMs = Infinity;
    await depart(() => { leftMs = performance.now(); });
    await until('the server sees it', () => Promise.resolve(server.open.size === 0), { everyMs: 2, timeoutMs: 2000 });
    expect(performance.now() - leftMs).toBeLessThan(500);
    expect(performance.now() - leftMs).toBeGreaterThan(0);
  });

  test('a reader that is forgotten: its connection is closed when the patience is over, what waits can be read, then the error', async () => {
    endless = true;
    const stream = toReadableStream(answer(), { maxWaiting: 10, patienceS: 0.3 });
    const reader = stream.getReader();
    await reader.read();
    await sleep(150);
    expect(server.open.size).toBe(1);
    await until('the connection is closed', () => Promise.resolve(server.open.size === 0), { everyMs: 5, timeoutMs: 5000 });
    let read = 0;
    const reading = (async () => { for (; ; read += 1) await reader.read(); })();
    await expect(reading).rejects.toMatchObject({ code: 'slow_reader' });
    expect(read).toBeGreaterThanOrEqual(10);
    expect(read).toBeLessThan(300);
  });
});

describe('toReadableStream', () => {
  test('subscribes at the first read, reads no value ahead of its reader but into its one buffer, and has the error after the values', async () => {
    const broken = new Error('broken');
    let subscribed = false;
    const source$: Observable<number> = defer(() => {
      subscribed = true;
      return concat([1, 2, 3], throwError(() => broken));
    });
    const stream = toReadableStream(source$);
    await sleep(1);
    expect(subscribed).toBe(false);
    const read: number[] = [];
    await expect((async () => { for await (const value of stream) read.push(value); })()).rejects.toBe(broken);
    expect(read).toEqual([1, 2, 3]);
  });

  test('ends where the source ends', async () => {
    const text = await new Response(toReadableStream(from(['a', 'b']).pipe(map((each) => encoder.encode(each))))).text();
    expect(text).toBe('ab');
  });
});
