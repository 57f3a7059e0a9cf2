import { afterEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AllSourcesExhausted, CallDeadlineExceeded, StreamLivenessTimeout, TransientError } from '../../lib/index.js';
import { startChild } from './children/startChild.js';
import { asks, closeAfterTest, closeAll, gatewayTo, nothingInFlight, rejection, until, upstream } from './scene.js';

afterEach(closeAll);

describe('W1: the watchdog on sockets', () => {
  const limits = { ttftTimeoutS: 0.3, interTokenTimeoutS: 0.2, timeoutS: 0.8 };
  test.each([
    ['first', 300, 'no headers', 'hang'],
    ['first', 300, 'headers and nothing more', 'open@0.02 hang'],
    ['first', 300, 'comments, roles and empty texts alone', 'open@0.02 k@0.05..3/0.05 e@0.06..3/0.05 e(role)@0.07..3/0.05'],
    ['between', 200, 'a silence after two increments', 'd@0.02"a" d@0.1"b" hang'],
    ['between', 200, 'keepalive after two increments', 'd@0.02"a" d@0.1"b" k@0.11..3/0.05'],
    ['total', 800, 'a stream that goes on and on', 'd@0.02..30/0.05"tick "'],
  ])('ends an attempt at the limit `%s` of %i ms: %s', async (limit, limitMs, _what, script) => {
    const a = await upstream([script]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, ...limits }], { maxAttempts: 1 });

    const error = await rejection<AllSourcesExhausted>(gateway.chat(asks('hello')));

    expect(error).toMatchObject({ code: 'all_sources_exhausted', reason: 'retry_exhausted', attempts: 1 });
    const killed = error.cause as TransientError;
    expect(killed).toMatchObject({ name: 'TransientError', source: 'a/1' });
    const { name, ...expired } = killed.cause as StreamLivenessTimeout;
    expect({ name, ...expired }).toMatchObject({ name: 'StreamLivenessTimeout', code: 'stream_liveness_timeout', limit, limitMs });
    expect(expired.waitedMs).toBeGreaterThanOrEqual(limitMs);
    expect(expired.waitedMs).toBeLessThan(limitMs + 600);
    expect(rows).toEqual([expect.objectContaining({ error_class: 'transient', stall_ms: null, ttft_ms: limit === 'first' ? null : expect.any(Number) })]);
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the connection is closed');
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
  });

  test('W1: a request that is not streamed knows the limit of the whole attempt alone', async () => {
    const a = await upstream(['d@0.6"whole" f@0.6', 'd@2"late" f@2']);
    const { gateway } = gatewayTo([{ baseUrl: a.url, ...limits }], { maxAttempts: 1 });

    expect(await gateway.chat(asks('hello', { stream: false }))).toMatchObject({ content: 'whole', increments: null, stats: { stallMs: null } });
    const error = await rejection<AllSourcesExhausted>(gateway.chat(asks('hello', { stream: false })));
    expect((error.cause as TransientError).cause).toMatchObject({ limit: 'total', limitMs: 800 });
  });

  test('W3: a killed attempt is tried again elsewhere, without hedging', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.02"half" hang']), upstream(['d@0.02"whole" f@0.03'])]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, ...limits }, b.url]);

    expect(await gateway.chat(asks('hello'))).toMatchObject({ content: 'whole', stats: { hedges: 0, attempts: 2 } });
    expect(rows.map(({ source, round, error_class }) => [source, round, error_class])).toEqual([['a/1', 1, 'transient'], ['b/1', 2, null]]);
  });

  test('H15: after the finish reason no limit holds, and the end marker is waited for a second at most', async () => {
    const a = await upstream(['d@0.02"done" f@0.05 hang']);
    const { gateway } = gatewayTo([{ baseUrl: a.url, ...limits, timeoutS: 20 }], { maxAttempts: 1 });

    const { content, finishReason, usage, latencyMs } = await gateway.chat(asks('hello'));

    expect([content, finishReason, usage]).toEqual(['done', 'stop', null]);
    expect(latencyMs).toBeGreaterThan(1000);
    expect(latencyMs).toBeLessThan(2500);
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the connection is closed');
  });
});

describe('W4: the limit for a connection', () => {
  test('ends an attempt at a host that answers no handshake, and another source is asked', async () => {
    const port = await portThatDropsWhatConnects();
    const b = await upstream(['d@0.02"ok" f@0.03']);
    const dead = { baseUrl: `http://127.0.0.1:${port}/v1`, connectTimeoutS: 0.4, ttftTimeoutS: 20 };
    const alone = gatewayTo([dead], { maxAttempts: 1 });
    const both = gatewayTo([dead, b.url]);

    const [error, answer] = await Promise.all([rejection<AllSourcesExhausted>(alone.gateway.chat(asks('hello'))), both.gateway.chat(asks('hello'))]);

    const cause = (error.cause as TransientError).cause as StreamLivenessTimeout;
    expect(cause).toMatchObject({ name: 'StreamLivenessTimeout', limit: 'connect', limitMs: 400 });
    expect(cause.waitedMs).toBeGreaterThan(350);
    expect(cause.waitedMs).toBeLessThan(3000);
    expect(answer).toMatchObject({ content: 'ok', source: 'b/1', stats: { attempts: 2 } });
    expect([alone.rows, both.rows].map((rows) => rows.map(({ error_class }) => error_class))).toEqual([['transient'], ['transient', null]]);
  }, 20_000);
});

describe('R5: the deadline of the call', () => {
  test('ends a stream that is alive', async () => {
    const a = await upstream(['d@0.02..30/0.02"tick "']);
    const { gateway, rows } = gatewayTo([a.url], { callDeadlineS: 0.4 });
    const startedMs = performance.now();

    const error = await rejection<CallDeadlineExceeded>(gateway.chat(asks('hello')));

    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(400);
    expect(tookMs).toBeLessThan(1500);
    expect(error).toMatchObject({ name: 'CallDeadlineExceeded', code: 'call_deadline', attempts: 1 });
    expect(rows.map(({ error_class, outcome }) => [error_class, outcome])).toEqual([['deadline', 'error']]);
    expect(rows[0]!.increments).toBeGreaterThan(3);
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the connection is closed');
  });

  test('is not waited for where the next try could only come after it', async () => {
    const a = await upstream(['503@0']);
    const { gateway } = gatewayTo([a.url], { callDeadlineS: 20, backoffS: 30 });
    const startedMs = performance.now();

    const error = await rejection<CallDeadlineExceeded>(gateway.chat(asks('hello')));

    expect(performance.now() - startedMs).toBeLessThan(4000);
    expect(error).toMatchObject({ code: 'call_deadline', httpStatus: 503, attempts: 1, cause: expect.objectContaining({ code: 'transient' }) });
    expect(a.requests).toHaveLength(1);
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
  });
});

/** A port of this machine whose backlog is full. */
async function portThatDropsWhatConnects(): Promise<number> {
  const child = startChild('fullBacklog.mjs', {});
  const waiting: Socket[] = [];
  closeAfterTest(async () => {
    waiting.forEach((socket) => socket.destroy());
    child.kill();
    await child.ended;
  });
  const port = await child.message<number>();
  for (let i = 0; i < 20; i += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    waiting.push(socket);
    await sleep(100);
    if (socket.connecting) return port;
  }
  throw new Error('the backlog does not fill');
}
