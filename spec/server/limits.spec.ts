import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { serverLimits } from '../../lib/server/limits.js';
import type { LimitOptions } from '../../lib/server/limits.js';
import { bodyOf, sendRaw } from './rawHttp.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function start(options: LimitOptions): Promise<number> {
  const app = Fastify(serverLimits(options));
  cleanUps.push(() => app.server.closeAllConnections(), () => app.close());
  app.post('/', () => 'taken');
  app.get('/', () => 'taken');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

const codeOf = (answer: Parameters<typeof bodyOf>[0]): unknown => (bodyOf(answer) as { error: { code: string } }).error.code;

describe('limits', () => {
  test('the numbers that hold where nobody says otherwise', () => {
    expect(serverLimits()).toMatchObject({
      bodyLimit: 33_554_432,
      requestTimeout: 60_000,
      keepAliveTimeout: 65_000,
      http: { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 1000 },
    });
  });

  test('slow loris: half a head, dripped on or not, and nothing at all are cut; one that hurries is answered', async () => {
    const port = await start({ headersS: 0.4, requestS: 5 });
    const dripping = connect(port, '127.0.0.1').on('error', () => undefined);
    dripping.write('GET / HTTP/1.1\r\nhost: x\r\nx-a: ');
    const drip = setInterval(() => dripping.write('a'), 50);
    cleanUps.push(() => clearInterval(drip), () => dripping.destroy());
    const dripped = new Promise<number>((resolve) => dripping.once('close', () => resolve(performance.now())).resume());
    const startMs = performance.now();
    const [half, nothing, whole] = await Promise.all([
      sendRaw(port, 'GET / HTTP/1.1\r\nhost:'),
      sendRaw(port, ''),
      sendRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    ]);
    for (const ms of [half.ms, nothing.ms, (await dripped) - startMs]) {
      expect(ms).toBeGreaterThan(350);
      expect(ms).toBeLessThan(3000);
    }
    expect([half.status, codeOf(half)]).toEqual([408, 'request_timeout']);
    expect(whole.status).toBe(200);
  });

  test('a body that does not come is cut', async () => {
    const port = await start({ headersS: 0.2, requestS: 0.5 });
    const answer = await sendRaw(port, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":');
    expect(answer.status).toBe(408);
    expect(answer.ms).toBeLessThan(3000);
  });

  test('a connection that asks no more is closed', async () => {
    const port = await start({ keepAliveS: 0.3 });
    const answer = await sendRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(answer.status).toBe(200);
    expect(answer.ms).toBeGreaterThan(250);
    expect(answer.ms).toBeLessThan(5000);
  });

  test('heads over 16 KiB: 431; bodies over the limit: 413; what is no HTTP: 400', async () => {
    const port = await start({ maxBodyBytes: 1000 });
    const head = await sendRaw(port, `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(17_000)}\r\n\r\n`);
    expect([head.status, codeOf(head)]).toEqual([431, 'headers_too_large']);
    const body = JSON.stringify({ a: 'b'.repeat(2000) });
    expect((await sendRaw(port, `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`)).status).toBe(413);
    const nonsense = await sendRaw(port, 'nonsense\r\n\r\n');
    expect([nonsense.status, codeOf(nonsense)]).toEqual([400, 'bad_request']);
  });

  test('nonsense behind a request whose answer is under way does not get into that answer', async () => {
    const app = Fastify(serverLimits());
    cleanUps.push(() => app.server.closeAllConnections(), () => app.close());
    app.get('/', (_request, reply) => {
      reply.hijack();
      reply.raw.write('begun');
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const answer = sendRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n');
    await sleep(50);
    expect((await answer).text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});
