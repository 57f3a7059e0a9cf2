import { afterEach, describe, expect, test } from '@jest/globals';
import { finalize, from, take } from 'rxjs';
import type { StreamItem } from '../../lib/index.js';
import { asks, closeAll, gatewayTo, nothingInFlight, rejection, until, upstream } from './scene.js';

const untilTheEnd = 'd@0.02..10/0.02"tick "';
const atRest = { ...nothingInFlight, permits: { 'a/1': 0 } };

afterEach(closeAll);

describe('stream$ over sockets', () => {
  test('H12: deltas come as the source sends them, and the whole answer at the end', async () => {
    const a = await upstream(['d@0.01"one" d@0.2" two" f@0.4 u(7,5)']);
    const { gateway, rows } = gatewayTo([a.url]);
    const seen: [string, number][] = [];
    const startMs = performance.now();

    for await (const item of gateway.stream(asks('hello'))) seen.push([item.type === 'content' ? item.text : item.type, performance.now() - startMs]);

    expect(seen.map(([what]) => what).filter((what) => what !== 'facts')).toEqual(['start', 'one', ' two', 'finish', 'usage', 'end']);
    const [one, two, last] = ['one', ' two', 'end'].map((what) => seen.find(([said]) => said === what)![1]);
    expect(two! - one!).toBeGreaterThan(100);
    expect(last! - two!).toBeGreaterThan(100);
    expect(rows).toMatchObject([{ outcome: 'ok', won: 1, increments: 2 }]);
  });

  test('CN-01, X1: a subscriber that has enough: the permit is back in the same turn, and the upstream sees it', async () => {
    const a = await upstream([untilTheEnd]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }]);
    const stats: unknown[] = [];
    // RxJS's take completes before it unsubscribes.
    gateway.stream$(asks('hello')).pipe(take(12), finalize(() => stats.push(gateway.stats()))).subscribe();
    await until(() => stats.length === 1, 'it has enough');
    expect(stats).toEqual([atRest]);
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the upstream sees it', 500);
    expect(rows).toMatchObject([{ error_class: 'caller_cancelled', won: 0 }]);
    expect(rows[0]!.increments).toBeLessThanOrEqual(12);
  });

  const leaves: Record<string, (items: AsyncIterableIterator<StreamItem>, stream: ReadableStream<StreamItem>) => Promise<unknown>> = {
    'break': async (items) => {
      for await (const item of items) if (item.type === 'content') break;
    },
    'return() while the next item is awaited': async (items) => {
      await items.next();
      for (let known = 0; known < 5; known += 1) void items.next();
      await items.return?.();
    },
    'the unsubscription of from(iterable)': (items) => new Promise<void>((resolve) => { from(items).pipe(take(3)).subscribe({ complete: resolve }); }),
    'a cancelled web stream': async (_, stream) => {
      const reader = stream.getReader();
      await reader.read();
      void reader.read();
      await reader.cancel('enough');
    },
    'an HTTP response whose body is cancelled': async (_, stream) => {
      const { body } = new Response(stream.pipeThrough(new TransformStream<StreamItem, Uint8Array>({ transform: (item, out) => out.enqueue(new TextEncoder().encode(JSON.stringify(item))) })));
      const reader = body!.getReader();
      await reader.read();
      await reader.cancel();
    },
  };
  for (const [how, leave] of Object.entries(leaves)) {
    test(`X1: a reader that leaves, ${how}: the upstream sees it, nothing is held`, async () => {
      const a = await upstream([untilTheEnd]);
      const { gateway } = gatewayTo([a.url]);
      await leave(gateway.stream(asks('hello')), gateway.stream(asks('hello')).toReadableStream());
      expect(gateway.stats()).toEqual(atRest);
      await until(() => a.requests.length === 1 && a.requests[0]!.closedByClientMs !== null, 'the upstream sees it', 500);
    });
  }

  test('a web stream goes on where the iterator stands: one stream is one call', async () => {
    const a = await upstream(['d@0.01"one" d@0.02" two" f@0.03']);
    const { gateway } = gatewayTo([a.url]);
    const stream = gateway.stream(asks('hello'));
    const first = await stream.next();
    const rest: StreamItem[] = [];
    for await (const item of stream.toReadableStream()) rest.push(item);
    expect(first.value).toMatchObject({ type: 'start' });
    expect(rest.flatMap((item) => (item.type === 'content' ? [item.text] : []))).toEqual(['one', ' two']);
    expect(a.requests).toHaveLength(1);
  });

  test('H12, P1: a cut in mid-stream is an error with what was passed on; the fallback is not asked', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.01"one" d@0.02" two" rst@0.05']), upstream(['d@0.01"b" f@0.02'])]);
    const { gateway } = gatewayTo([a.url, b.url]);
    let text = '';
    const error = await rejection((async () => {
      for await (const item of gateway.stream(asks('hello'))) if (item.type === 'content') text += item.text;
    })());
    expect(text).toBe('one two');
    expect(error).toMatchObject({ name: 'StreamInterrupted', source: 'a/1', partial: { increments: 2, chars: 7 }, cause: { code: 'transient' } });
    expect(b.requests).toEqual([]);
  });

  test('H12: a silent start is hedged, and the silent source is closed when the other has spoken', async () => {
    const [a, b] = await Promise.all([upstream(['hang']), upstream(['d@0.01"b" f@0.1'])]);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeAfterS: 0.1 });
    const items: StreamItem[] = [];
    for await (const item of gateway.stream(asks('hello'))) items.push(item);
    expect(items[0]).toEqual({ type: 'start', callId: expect.any(String), source: 'b/1', model: 'm', attempts: 2, hedges: 1 });
    expect(items.at(-1)).toMatchObject({ type: 'end', response: { content: 'b', source: 'b/1', stats: { hedgeWon: true } } });
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the silent source is closed', 500);
  });
});
