import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { launch } from 'puppeteer-core';
import { createGateway } from 'polygateway';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { until } from '../../spec/support/until.js';
import { createPageServer } from './pageServer.js';
import { browserPath } from '../../spec/support/browserPath.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function upstreamOf(...scripts: string[]): Promise<Upstream> {
  const upstream = await startUpstream({ scripts });
  cleanups.push(upstream.close);
  return upstream;
}

/** The page's server before one source. */
async function serve(baseUrl: string, everyMs = 1000): Promise<string> {
  const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'sim', baseUrl, model: 'sim' }] } });
  cleanups.push(gateway.close);
  return listen(createPageServer({ gateway, everyMs }));
}

async function open(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage];
  cleanups.push(() => response.destroy());
  return response;
}

async function eventsAt(url: string): Promise<readonly (readonly [type: string, data: Record<string, unknown>])[]> {
  const blocks = (await (await fetch(url)).text()).split('\n\n').filter(Boolean);
  return blocks.map((block) => {
    const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    return [type, JSON.parse(data) as Record<string, unknown>];
  });
}

describe('the page server', () => {
  test('answers with events: the start, texts, silences, and the figures', async () => {
    const { url, requests } = await upstreamOf('open@0 d@0.02"Hel" d@0.5"lo\\n" f@0.52');
    const events = await eventsAt(`${await serve(url, 200)}/answer?question=Hi%20there`);

    expect(requests[0]!.body['messages']).toEqual([{ role: 'user', content: 'Hi there' }]);
    expect(events.filter(([type]) => type !== 'silence')).toEqual([
      ['start', { source: 'sim/1' }],
      ['text', { text: 'Hel' }],
      ['text', { text: 'lo\n' }],
      ['figures', { source: 'sim/1', generationMs: expect.any(Number), stallMs: 0, hedges: 0 }],
    ]);
    expect(events.filter(([type]) => type === 'silence')).toContainEqual(['silence', { silentMs: 200 }]);
  });

  test('tells of an answer that breaks off by an event of its own, and says nothing after it', async () => {
    const { url } = await upstreamOf('open@0 d@0.02"Hel" rst@0.1');
    const events = await eventsAt(`${await serve(url)}/answer?question=Hi`);
    expect(events.slice(1)).toEqual([['text', { text: 'Hel' }], ['failure', { code: 'stream_interrupted' }]]);
  });

  test('a page that leaves closes the connection to the source, though that is silent', async () => {
    const { url, requests } = await upstreamOf('open@0 d@0.02"Hel" hang');
    const response = await open(`${await serve(url, 60_000)}/answer?question=Hi`);
    await once(response, 'data');
    response.destroy();
    await until('the source is left', () => Promise.resolve(requests[0]!.closedByClientMs !== null));
  });

  test('a page that does not read stops the source, which goes on when it reads', async () => {
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(16_000) } }] })}\n\n`;
    const total = 5000;
    let sent = 0;
    function* frames(): Generator<string> {
      for (; sent < total; sent++) yield frame;
    }
    const source = await listen(createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      Readable.from(frames()).pipe(response);
    }));
    const response = await open(`${await serve(source)}/answer?question=Hi`);
    await stopsGrowing(() => sent);
    const held = sent;
    expect(held).toBeLessThan(total);

    response.resume();
    await until('it goes on', () => Promise.resolve(sent > held));
  }, 60_000);

  test('asks nobody for an empty question, nor for a page from elsewhere', async () => {
    const { url, requests } = await upstreamOf('open@0 f@0');
    const origin = await serve(url);
    const statuses = await Promise.all([
      open(`${origin}/answer?question=`),
      open(`${origin}/answer?question=Hi`, { 'sec-fetch-site': 'cross-site' }),
      open(`${origin}/../pageServer.ts`),
    ]);
    expect(statuses.map(({ statusCode }) => statusCode)).toEqual([400, 403, 404]);
    expect(requests).toEqual([]);
  });

  test('the page shows the text as it comes, how long it is silent, and the figures; Stop closes the source, and nothing is asked twice', async () => {
    const { url, requests } = await upstreamOf('open@0 d@0.05"Hel" hang', 'open@0 d@0.05"Hel" d@0.1"<b>lo" f@0.1');
    const origin = await serve(url);
    const browser = await launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    cleanups.push(() => browser.close());
    const page = await browser.newPage();
    const troubles: string[] = [];
    page.on('console', (message) => troubles.push(message.text())).on('pageerror', (error) => troubles.push(String(error)));
    const reads = (name: string): Promise<unknown> => page.evaluate(`document.querySelector('#${name}').innerText`);
    const shows = (name: string, words: string): Promise<void> =>
      until(`${name}: ${words}`, async () => String(await reads(name)).startsWith(words));

    await page.goto(origin);
    await page.type('input', 'Say hello.');
    await page.click('button[type=submit]');
    await shows('text', 'Hel');
    await shows('silence', 'silent for 1 s');
    await page.click('#stop');
    await until('the source is left', () => Promise.resolve(requests[0]!.closedByClientMs !== null));
    expect(await reads('figures')).toBe('Stopped.');

    await page.click('button[type=submit]');
    await shows('figures', 'sim/1: ');
    expect([await reads('text'), await reads('silence')]).toEqual(['Hel<b>lo', '']);
    expect(requests).toHaveLength(2);
    expect(troubles).toEqual([]);
  }, 60_000);
});

/** Resolves when the number was the same for a while. */
async function stopsGrowing(count: () => number): Promise<void> {
  let before = -1;
  const isSame = (): boolean => {
    const same = count() === before && before > 0;
    before = count();
    return same;
  };
  await until('it stops', () => Promise.resolve(isSame()), { everyMs: 400 });
}
