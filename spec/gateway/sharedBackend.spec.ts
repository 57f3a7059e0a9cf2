import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom, mergeMap } from 'rxjs';
import type { GatewayOptions } from '../../lib/index.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { startRedis, sharedRedisUrl } from '../support/redisServer.js';
import { startTcpProxy } from '../support/tcpProxy.js';
import { asks, closeAfterTest, closeAll, gatewayTo, sourceAt, until, upstream } from './scene.js';
import type { Scene } from './scene.js';

// Gateways of one scope over real sockets and a real Redis; each stands for a process, with a connection of its own.

afterEach(closeAll);

const quick = 'open@0.02 d@0.05"Hello" f@0.1';

/** Gateways of one fleet: the same sources with the same limits, one scope that no other test has. */
function fleetOf(upstreams: readonly Upstream[], limits: Parameters<typeof sourceAt>[0] & object, options: Partial<GatewayOptions> = {}): { join: (this: void) => Scene } {
  const scope = `LLM-${randomUUID()}`;
  const sources = upstreams.map(({ url }, at) => sourceAt({ ...limits, baseUrl: url }, at));
  return { join: () => gatewayTo([], { settings: { scope, sources }, backendUrl: sharedRedisUrl(), ...options }) };
}

const noLimits = { baseUrl: '' };

describe('a scope that is shared by Redis', () => {
  test('X2: one place; a call that is started in the handler of the one before finds it free', async () => {
    const only = await upstream([quick]);
    const { gateway } = fleetOf([only], { ...noLimits, maxConcurrency: 1 }, { backpressure: 'fail_fast' }).join();
    const twice$ = gateway.chat$(asks('one')).pipe(mergeMap(() => gateway.chat$(asks('two'))));
    expect(await firstValueFrom(twice$)).toMatchObject({ content: 'Hello', stats: { waitedMs: expect.any(Number) } });
    expect(only.requests).toHaveLength(2);
  });

  test('G1: one place for the whole fleet; who waits gets in when the other has ended, and never both at once', async () => {
    const only = await upstream(['open@0.02 d@0.05"a" d@0.4"b" f@0.5']);
    const { join } = fleetOf([only], { ...noLimits, maxConcurrency: 1 }, { pollS: 0.1 });
    const [one, other] = [join(), join()];
    const first = one.gateway.chat(asks('first'));
    await firstAttempt(one);
    const second = other.gateway.chat(asks('second'));
    await sleep(250);
    expect(only.requests).toHaveLength(1);
    expect(other.gateway.stats()).toMatchObject({ waiters: 1, permits: { 'a/1': 0 } });
    expect(one.gateway.stats()).toMatchObject({ waiters: 0, permits: { 'a/1': 1 } });
    await first;
    expect((await second).callMs).toBeGreaterThan(300);
  });

  test('R3: a 429 parks the source for the fleet', async () => {
    const [busy, free] = [await upstream(['429@0.02(ra=30)', quick]), await upstream([quick])];
    const { join } = fleetOf([busy, free], noLimits);
    const [one, other] = [join(), join()];
    expect(await one.gateway.chat(asks('first'))).toMatchObject({ source: 'b/1' });
    expect(await other.gateway.chat(asks('second'))).toMatchObject({ source: 'b/1' });
    expect(busy.requests).toHaveLength(1);
    expect(other.gateway.stats().parked['a/1']).toBeGreaterThan(25_000);
  });

  test('G4: what one process has seen of a source opens the breaker for all; one of them probes, and its event is told once', async () => {
    const [sick, well] = [await upstream(['500@0.01', '500@0.01', quick]), await upstream([quick])];
    const { join } = fleetOf([sick, well], noLimits, { breakerFailures: 2, breakerCooldownS: 1, breakerCooldownMaxS: 1 });
    const [one, other] = [join(), join()];
    await one.gateway.chat(asks('a failure'));
    await other.gateway.chat(asks('another'));
    expect(await one.gateway.chat(asks('nobody asks it now'))).toMatchObject({ source: 'b/1' });
    expect(sick.requests).toHaveLength(2);
    expect(one.gateway.stats().breakers['a/1']).toBe('open');
    await sleep(1100);
    expect(await one.gateway.chat(asks('the probe'))).toMatchObject({ source: 'a/1' });
    expect(await other.gateway.chat(asks('it is back'))).toMatchObject({ source: 'a/1' });
    const changes = [...one.events, ...other.events].flatMap((event) => (event.type === 'breaker-changed' ? [`${event.from} ${event.to}`] : []));
    expect(changes.sort()).toEqual(['closed open', 'half-open closed', 'open half-open']);
  });

  test('H3, H6: a backup whose admission is undecided counts as running: the failure of the primary waits for it', async () => {
    const server = await startRedis();
    closeAfterTest(() => server.stop());
    const [dying, saving] = [await upstream(['open@0.01 d@0.05"a" rst@0.38']), await upstream([quick])];
    const { gateway, rows, events } = fleetOf([dying, saving], noLimits, { backendUrl: server.url, hedgeStallAfterS: 0.3, maxAttempts: 1 }).join();
    const answer = gateway.chat(asks('hedged'));
    await firstAttempt({ gateway, rows, events });
    server.pause();
    // The signal comes after 0.35 s, the primary fails after 0.38 s, the decision comes now.
    await until(() => events.some(({ type }) => type === 'attempt-ended'), 'the end of the primary');
    server.resume();
    expect(await answer).toMatchObject({ source: 'b/1', stats: { hedges: 1, hedgeWon: true } });
    expect(events.filter(({ type }) => type === 'hedge-refused')).toEqual([]);
  });

  test('G6: without Redis a call fails within the limit of a decision, a running one is not disturbed, and a hedge is left out', async () => {
    const server = await startRedis();
    closeAfterTest(() => server.stop());
    const proxy = await startTcpProxy(server.port);
    closeAfterTest(() => proxy.stop());
    const [one, two] = [await upstream(['open@0.02 d@0.05"a" d@1.5"b" f@1.6']), await upstream([quick])];
    const { gateway, events } = fleetOf([one, two], noLimits, { backendUrl: `redis://127.0.0.1:${proxy.port}`, hedgeStallAfterS: 0.7 }).join();
    const running = gateway.chat(asks('running'));
    await sleep(300);
    proxy.swallow();
    const refused = await gateway.chat(asks('refused')).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'governance_backend', retryable: true, message: expect.stringMatching(/^Redis at 127\.0\.0\.1:\d+ gave no decision: no answer within 250 ms/) });
    expect(await running).toMatchObject({ content: 'ab', stats: { hedges: 0 } });
    expect(events.filter(({ type }) => type === 'hedge-refused')).toHaveLength(1);
    expect(two.requests).toHaveLength(0);
    proxy.flow({ late: true });
    expect(await gateway.chat(asks('again'))).toMatchObject({ content: 'Hello', stats: { hedgeWon: true } });
    expect(events.flatMap((event) => (event.type === 'backend-changed' ? [event.state] : []))).toEqual(['away', 'back']);
  });
});

describe('CN-04: a process that makes one call and does not close its gateway', () => {
  test.each([
    ['ends by itself, Redis there', () => sharedRedisUrl(), 'ok'],
    ['ends by itself, Redis away', () => 'redis://127.0.0.1:9', 'governance_backend'],
  ])('%s', async (_where, redisUrl, told) => {
    const only = await upstream([quick]);
    const settings = { scope: `LLM-${randomUUID()}`, sources: [sourceAt(only.url, 0)], backendUrl: redisUrl() };
    const code = `const { createGateway } = await import('polygateway'); const gateway = createGateway({ settings: ${JSON.stringify(settings)} });
      console.log(await gateway.chat({ messages: [{ role: 'user', content: 'x' }] }).then(() => 'ok', ({ code }) => code));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { timeout: 12_000 });
    expect(stdout).toBe(`${told}\n`);
  }, 15_000);
});

async function firstAttempt({ events }: Scene): Promise<void> {
  await until(() => events.some(({ type }) => type === 'attempt-started'), 'the first attempt');
}
