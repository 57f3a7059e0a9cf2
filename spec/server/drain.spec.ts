import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createDrain } from '../../lib/server/drain.js';
import type { Drain } from '../../lib/server/drain.js';
import { registerHealth } from '../../lib/server/healthRoutes.js';
import { NEVER } from 'rxjs';
import { until } from '../support/until.js';
import { bodyOf, sendRaw } from './rawHttp.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface Scene extends Drain {
  readonly app: FastifyInstance;
  readonly port: number;
  /** Ends the answers of `/slow`. */
  readonly finish: () => void;
}

const large = 'x'.repeat(8 * 2 ** 20);

async function start(): Promise<Scene> {
  const app = Fastify({ return503OnClosing: false });
  cleanUps.push(() => app.server.closeAllConnections(), () => app.close());
  const drain = createDrain(app);
  const stats = (): never => ({ breakers: {} }) as never;
  registerHealth(app, { chat: { stats, events$: NEVER }, isDraining: drain.isDraining });
  const waiting: (() => void)[] = [];
  app.get('/slow', (_request, reply) => {
    reply.hijack();
    reply.raw.write('begun ');
    waiting.push(() => reply.raw.end('and whole'));
  });
  app.get('/large', () => large);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { ...drain, app, port: (app.server.address() as AddressInfo).port, finish: () => waiting.splice(0).forEach((end) => end()) };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

function refused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false)).on('error', () => resolve(true));
    cleanUps.push(() => socket.destroy());
  });
}

describe('drain', () => {
  test('an answer under way arrives whole, new connections are refused, and then it has ended', async () => {
    const { port, drain, finish } = await start();
    const answer = sendRaw(port, get('/slow'));
    await sleep(100);
    const drained = drain(10);
    expect(await refused(port)).toBe(true);
    finish();
    expect((await answer).text).toMatch(/begun [^]+and whole/);
    await drained;
  });

  test('an answer that has ended, but that its client has not read yet, arrives whole', async () => {
    const { port, drain } = await start();
    const socket = connect(port, '127.0.0.1');
    cleanUps.push(() => socket.destroy());
    socket.write(get('/large'));
    await once(socket, 'readable');
    await sleep(100);
    const drained = drain(10);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await once(socket, 'close');
    await drained;
    expect(bytes).toBeGreaterThan(large.length);
  });

  test('a request behind another on its connection gets 503 and connection: close, /readyz 503, /healthz 200', async () => {
    const { port, drain, finish, isDraining } = await start();
    const answered = (path: string): Promise<unknown> => {
      const socket = connect(port, '127.0.0.1');
      cleanUps.push(() => socket.destroy());
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write(get('/slow'));
      return once(socket, 'data').then(async () => {
        await asked;
        socket.write(get(path));
        await sleep(50);
        finish();
        await once(socket, 'close');
        return text.slice(text.indexOf('and whole')).replace(/^[^]*?(?=HTTP)/, '');
      });
    };
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const answers = ['/slow', '/readyz', '/healthz?of=pod'].map(answered);
    await sleep(150);
    const drained = drain(10);
    expect(isDraining()).toBe(true);
    ask();
    const [slow, readyz, healthz] = (await Promise.all(answers)) as [string, string, string];
    await drained;
    for (const text of [slow, readyz, healthz]) expect(text).toMatch(/^connection: close\r$/im);
    expect(slow).toMatch(/^HTTP\/1\.1 503 /);
    expect(bodyOf({ text: slow, status: 503, ms: 0 })).toMatchObject({ error: { code: 'draining' } });
    expect(readyz).toMatch(/^HTTP\/1\.1 503 [^]+draining/);
    expect(healthz).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('for the time of notice only /readyz says no', async () => {
    const { port, drain, finish, isDraining } = await start();
    const drained = drain(10, 0.6);
    expect(isDraining()).toBe(true);
    const answer = sendRaw(port, get('/slow'));
    expect((await sendRaw(port, get('/readyz'))).text).toMatch(/^HTTP\/1\.1 503 [^]*connection: close\r\n[^]+draining/i);
    await until('it refuses connections', () => refused(port));
    finish();
    expect((await answer).text).toMatch(/and whole/);
    await drained;
  });

  test('idle connections end at once, and what is left when the time is over is cut', async () => {
    const { port, drain } = await start();
    const idle = sendRaw(port, get('/healthz'));
    const half = sendRaw(port, 'GET /slow HTTP/1.1\r\nhost:');
    const endless = sendRaw(port, get('/slow'));
    await sleep(100);
    const startMs = performance.now();
    await drain(0.5);
    const tookMs = performance.now() - startMs;
    expect(tookMs).toBeGreaterThan(450);
    expect(tookMs).toBeLessThan(3000);
    expect((await idle).ms).toBeLessThan((await endless).ms - 250);
    expect((await half).text).toBe('');
    expect((await endless).text).toMatch(/begun [^]*$/);
  });

  test('a server that never listened has nothing to end', async () => {
    const app = Fastify();
    await createDrain(app).drain(5);
  });
});
