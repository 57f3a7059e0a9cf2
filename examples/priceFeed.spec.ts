import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { defer, filter, firstValueFrom, ignoreElements, take, toArray } from 'rxjs';
import { webSocket } from 'rxjs/webSocket';
import { WebSocket } from 'undici';
import { marbles } from 'polygateway/testing';
import { until } from '../spec/support/until.js';
import { health, quote, steady } from './priceFeed.js';
import type { Health, Price } from './priceFeed.js';

const [a, b, c, x] = [1, 2, 3, 9].map((price): Price => ({ symbol: 'XYZ', price })) as [Price, Price, Price, Price];

describe('steady', () => {
  const random = (): number => 1;

  test('takes a feed for dead that is quiet too long, and connects anew', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const feed$ = cold('       -a--b            ', { a, b });
    const deadAfterMs = time('     ----|        ');
    const retryAfterMs = time('        --|      ');
    const left = '             ----------------!';
    const connected = [
      '                        ^-------!        ',
      '                        ----------^-----!',
    ];
    const expected = '         -a--b------a--b--';

    expectObservable(steady(feed$, { deadAfterMs, retryAfterMs, random }), left).toBe(expected, { a, b });
    expectSubscriptions(feed$.subscriptions).toBe(connected);
  }));

  test('one that is dead from the start is tried again and again, with longer and longer waits', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const feed$ = cold<Price>('----             ');
    const deadAfterMs = time(' --|              ');
    const retryAfterMs = time('  --|            ');
    const left = '             ------------!    ';
    const connected = [
      '                        ^-!              ',
      '                        ----^-!          ',
      '                        ----------^-!    ',
    ];
    expectObservable(steady(feed$, { deadAfterMs, retryAfterMs, random }), left).toBe('------------');
    expectSubscriptions(feed$.subscriptions).toBe(connected);
  }));

  test.each(['(a#)', '(a|)', '|'])('one that does only "%s" each time is asked less and less often', (feed) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const feed$ = cold(feed, { a });
      const left = '           500ms 1s 2s 4s 8s 16s 30s 29s !';
      const connected = ['0s', '500ms', '1500ms', '3500ms', '7500ms', '15500ms', '31500ms', '61500ms'].map((wait) => `${wait} (^!)`);

      expectObservable(steady(feed$, { random }).pipe(ignoreElements()), left).toBe('');
      expectSubscriptions(feed$.subscriptions).toBe(connected);
    })();
  });

  test('a connection that lasts ends the doubling of the waits', marbles(({ cold, time, expectObservable }) => {
    const feeds = ['#', '#', '-a-#', '-b---|', '-c'].map((feed) => cold(feed, { a, b, c }));
    const next$ = defer(() => feeds.shift()!);
    const retryAfterMs = time('-|                  ');
    const steadyAfterMs = time('          ----|     ');
    const left = '              ------------------!';
    const expected = '          ----a------b-----c-';

    expectObservable(steady(next$, { retryAfterMs, steadyAfterMs, random }), left).toBe(expected, { a, b, c });
  }));

  test('half of a wait is left to chance', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const feed$ = cold<Price>('#');
    const left = '             -----!    ';
    const connected = [
      '                        (^!)      ',
      '                        --(^!)    ',
    ];

    expectObservable(steady(feed$, { retryAfterMs: 4, random: () => 0 }), left).toBe('');
    expectSubscriptions(feed$.subscriptions).toBe(connected);
  }));
});

describe('health', () => {
  test('tells of each silence once, and with each price how long the feed was quiet', marbles(({ cold, time, expectObservable }) => {
    const feed$ = cold('      -----a--b--------c-|', { a, b, c });
    const thresholdMs = time('---|                ');
    const expected = '        ---q-a--b--q-----c-|';

    expectObservable(feed$.pipe(health({ thresholdMs }))).toBe(expected, {
      q: { type: 'quiet' },
      a: { type: 'price', price: a, quietMs: 0, longestMs: 0 },
      b: { type: 'price', price: b, quietMs: 0, longestMs: 3 },
      c: { type: 'price', price: c, quietMs: 9, longestMs: 9 },
    });
  }));
});

describe('quote', () => {
  test('asks the second exchange where the first is late, and takes whichever answers first', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const first$ = cold('    ---------a', { a });
    const second$ = cold('       --x----', { x });
    const patienceMs = time('----|     ');
    const firstSubs = '      ^-----!   ';
    const secondSubs = '     ----^-!   ';
    const expected = '       ------(x|)';

    expectObservable(quote(first$, second$, { patienceMs })).toBe(expected, { x });
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('does not ask it where the first is in time', marbles(({ cold, time, expectObservable, expectSubscriptions }) => {
    const first$ = cold('    --a-      ', { a });
    const second$ = cold('   --x-      ', { x });
    const patienceMs = time('----|     ');

    expectObservable(quote(first$, second$, { patienceMs })).toBe('--(a|)', { a });
    expectSubscriptions(second$.subscriptions).toBe([]);
  }));
});

describe('over a real WebSocket', () => {
  test('a connection that dies without a word is replaced, and its silence is told; leaving disconnects', async () => {
    const exchange = await startExchange();
    try {
      const feed$ = webSocket<Price>({ url: exchange.url, WebSocketCtor: WebSocket as unknown as typeof globalThis.WebSocket });
      const health$ = steady(feed$, { deadAfterMs: 300, retryAfterMs: 20 }).pipe(health({ thresholdMs: 250 }));
      const prices = await firstValueFrom(health$.pipe(filter(({ type }) => type === 'price'), take(4), toArray()));

      expect(prices).toMatchObject([a, b, a, b].map((price) => ({ price })));
      expect((prices.at(-1) as Extract<Health, { type: 'price' }>).quietMs).toBeGreaterThanOrEqual(300);
      expect(exchange.connections()).toBeGreaterThan(1);
      await until('both are disconnected', () => Promise.resolve(exchange.open.size === 0));
    } finally {
      exchange.close();
    }
  });
});

interface Exchange {
  readonly url: string;
  readonly open: ReadonlySet<Socket>;
  connections(): number;
  close(): void;
}

/** Tells two prices over each connection, then nothing more, as a connection does that has died unnoticed. */
async function startExchange(): Promise<Exchange> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer().on('upgrade', ({ headers }, socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket)).on('data', (bytes) => (bytes[0] === closeFrame ? socket.end() : undefined));
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']!}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
    for (const price of [a, b]) socket.write(textFrame(JSON.stringify(price)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    connections: () => connections,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

const closeFrame = 0x88;

/** Of up to 125 bytes. */
function textFrame(text: string): Buffer {
  return Buffer.from([0x81, text.length, ...Buffer.from(text)]);
}
