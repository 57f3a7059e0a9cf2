import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { firstValueFrom, toArray } from 'rxjs';
import { EventSource } from 'undici';
import { until } from '../../spec/support/until.js';
import { eventsFrom } from './eventsFrom.js';
import type { EventSourceLike } from './eventsFrom.js';

const text = { type: 'text', text: 'Hel\nlo' } as const;
const figures = { type: 'figures', source: 'llm', generationMs: 9, stallMs: null, hedges: 0 } as const;

function written({ type, ...data }: object & { readonly type: string }): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Runs with a server, and tells how many connections to it are open. */
async function withServer(answer: RequestListener, body: (url: string, connections: () => Promise<number>) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    answer(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count))));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('eventsFrom', () => {
  const open = (url: string): EventSourceLike => new EventSource(url) as EventSourceLike;

  test('completes with the figures, and closes', () =>
    withServer((_request, response) => response.write(written(text) + written(figures)), async (url, connections) => {
      expect(await firstValueFrom(eventsFrom(url, open).pipe(toArray()))).toEqual([text, figures]);
      await until('it is closed', async () => (await connections()) === 0);
    }));

  test('a connection that is lost is a failure, and none is made again', () =>
    withServer((_request, response) => response.write(written(text), () => response.destroy()), async (url) => {
      const source = new EventSource(url);
      const events = await firstValueFrom(eventsFrom(url, () => source as EventSourceLike).pipe(toArray()));
      expect(events).toEqual([text, { type: 'failure', code: 'connection_lost' }]);
      expect(source.readyState).toBe(EventSource.CLOSED);
    }));

  test('unsubscribing closes the connection', () =>
    withServer((_request, response) => response.write(written(text)), async (url, connections) => {
      const subscription = eventsFrom(url, open).subscribe();
      await until('it is connected', async () => (await connections()) === 1);
      subscription.unsubscribe();
      await until('it is closed', async () => (await connections()) === 0);
    }));
});

test('polygateway/operators and what this example makes of it are bundled for a browser, without a module of Node', async () => {
  const contents = `export * from 'polygateway/operators'; export { answerViews } from './answerViews.js'; export { eventsFrom } from './eventsFrom.js';`;
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    tsconfigRaw: '{}', bundle: true, platform: 'browser', format: 'iife', globalName: 'bundled', metafile: true, write: false, logLevel: 'silent',
  });

  const foreign = Object.keys(metafile.inputs).filter((path) => !/^(<stdin>|examples\/angular\/\w+\.ts|dist\/operators\/\w+\.js|node_modules\/(rxjs|tslib)\/.*)$/.test(path));
  expect(foreign).toEqual([]);
  // Nothing of Node is in this context, and nothing of a browser either.
  const bundled = runInNewContext(`${outputFiles[0]!.text}; Object.keys(bundled)`) as string[];
  expect(bundled).toEqual(expect.arrayContaining(['silence', 'stallMetrics', 'hedge', 'livenessTimeout', 'answerViews', 'eventsFrom']));
});
