import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { startChild } from '../gateway/children/startChild.js';
import { closeAfterTest, closeAll } from '../gateway/scene.js';
import { freePort } from '../support/freePort.js';

interface Told {
  firstMs: number[];
  closedInMs: number;
  /** Spans. */
  ended: number;
  troubles: string[];
  atMs: number;
}

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream({ scripts: ['d@0.02"one" d@0.03" two" f@0.03'] });
});

afterEach(closeAll);

afterAll(() => upstream.close());

/** What the host told, and how long its process lived on after it had closed its gateway. */
async function runHost(collector?: string): Promise<Told & { livedOnMs: number; stderr: string; code: number | null }> {
  const child = startChild('../../telemetry/children/collectorDown.mjs', { url: upstream.url, collector });
  closeAfterTest(child.kill);
  const told = await child.message<Told>();
  const { code, stderr } = await child.ended;
  return { ...told, livedOnMs: Date.now() - told.atMs, stderr, code };
}

/** Accepts connections and never answers. */
async function startBlackHole(): Promise<{ origin: string; connections: () => number }> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

describe('OT-02: the collector is down', () => {
  test('refused or never answered: calls are as fast, close() keeps its limit, the process ends, nothing is rejected unheard', async () => {
    const blackHole = await startBlackHole();
    const closedPort = `http://127.0.0.1:${await freePort()}`;
    const [without, refused, unanswered] = await Promise.all([runHost(), runHost(closedPort), runHost(blackHole.origin)]);

    expect(blackHole.connections()).toBeGreaterThan(0);
    for (const host of [refused, unanswered]) {
      expect(host).toMatchObject({ ended: 26, troubles: [], code: 0 });
      // The best of ten, since the three processes share what cores there are.
      expect(Math.min(...host.firstMs) - Math.min(...without.firstMs)).toBeLessThan(50);
      expect(host.closedInMs).toBeLessThan(2000);
      // An export that is under way holds the process for as long as its own limit says, here 200 ms and a second try.
      expect(host.livedOnMs).toBeLessThan(2000);
    }
  }, 30_000);
});

test('without the package of the API everything else works', async () => {
  const child = startChild('../../telemetry/children/withoutApi.mjs', { url: upstream.url }, { execArgv: ['--import', new URL('./children/hideApi.mjs', import.meta.url).href] });
  closeAfterTest(child.kill);
  expect(await child.message()).toEqual({ content: 'one two', asked: 1 });
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
}, 20_000);
