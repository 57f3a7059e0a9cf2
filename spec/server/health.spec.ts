import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { Subject } from 'rxjs';
import { createGateway } from '../../lib/assemble/createGateway.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { GatewayEvent } from '../../lib/model/events.js';
import { registerHealth } from '../../lib/server/healthRoutes.js';
import type { HealthOptions } from '../../lib/server/healthRoutes.js';
import { followReadiness } from '../../lib/server/readiness.js';
import { until } from '../support/until.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(options: HealthOptions): Promise<(path: string) => Promise<unknown>> {
  const app = Fastify();
  cleanUps.push(() => app.close());
  registerHealth(app, options);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return async (path) => {
    const response = await fetch(url + path);
    return [response.status, await response.json()];
  };
}

const ready = [200, { status: 'ready' }];
const noSource = [503, { status: 'not-ready', reason: 'no_runnable_source' }];

describe('health', () => {
  test('/readyz is 503 while every breaker is open, and 200 when the cool-down is over, though nobody has asked; /healthz is 200 all the time', async () => {
    const upstream = await startUpstream({ scripts: ['500@0'] });
    cleanUps.push(upstream.close);
    const gateway = createGateway({
      settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: upstream.url, model: 'sim' }], breakerFailures: 1, breakerCooldownS: 0.4, maxAttempts: 1, backpressure: 'fail_fast' },
    });
    cleanUps.push(gateway.close);
    const ask = await start({ chat: gateway, isDraining: () => false });
    expect(await ask('/readyz')).toEqual(ready);
    await gateway.chat({ messages: [{ role: 'user', content: 'x' }] }).catch(() => undefined);
    expect(await ask('/readyz')).toEqual(noSource);
    expect(await ask('/healthz')).toEqual([200, { status: 'ok' }]);
    await until('ready again', async () => JSON.stringify(await ask('/readyz')) === JSON.stringify(ready));
    expect(gateway.stats().breakers).toEqual({ 'a/1': 'open' });
  });

  test('/readyz is 503 while it drains; /healthz is 200 still', async () => {
    const chat = { stats: () => statsOf({ 'a/1': 'closed' }), events$: new Subject<GatewayEvent>() };
    const ask = await start({ chat, isDraining: () => true });
    expect(await ask('/readyz')).toEqual([503, { status: 'not-ready', reason: 'draining' }]);
    expect(await ask('/healthz')).toEqual([200, { status: 'ok' }]);
  });

  test('one source that may be asked is enough, and a cool-down that begins anew counts from then', () => {
    const events$ = new Subject<GatewayEvent>();
    const breakers: Breakers = { 'a/1': 'closed', 'b/1': 'closed' };
    const { isReady, close } = followReadiness({ stats: () => statsOf(breakers), events$ });
    cleanUps.push(close);
    const change = (source: string, to: 'open' | 'closed' | 'half-open', coolDownMs = 60_000): void => {
      const from = breakers[source]!;
      breakers[source] = to;
      events$.next({ type: 'breaker-changed', atMs: 0, callId: 'c', attemptId: 'a', source, from, to, coolDownMs: to === 'open' ? coolDownMs : null });
    };
    change('a/1', 'open');
    expect(isReady()).toBe(true);
    change('b/1', 'open');
    expect(isReady()).toBe(false);
    change('b/1', 'half-open');
    expect(isReady()).toBe(true);
    change('b/1', 'open');
    expect(isReady()).toBe(false);
    change('b/1', 'half-open');
    change('b/1', 'open', 0);
    expect(isReady()).toBe(true);
    change('b/1', 'open');
    expect(isReady()).toBe(false);
    change('b/1', 'closed');
    expect(isReady()).toBe(true);
  });
});

type Breakers = Record<string, 'open' | 'closed' | 'half-open'>;

function statsOf(breakers: Breakers): ReturnType<HealthOptions['chat']['stats']> {
  return { calls: 0, attempts: 0, streams: [], permits: {}, waiters: 0, parked: {}, breakers, paced: {} };
}
