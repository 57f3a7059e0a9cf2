import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { Subscription } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { sourceKeys } from '../../lib/governance/redis/sourceKeys.js';
import { createGateway } from '../../lib/index.js';
import type { Gateway, GatewayOptions } from '../../lib/index.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';

// What a crowd that waits in one process costs Redis, by the server's own count.

let server: RedisServer;
let look: Redis;
const opened: { gateway: Gateway; calls: Subscription[] }[] = [];

beforeAll(async () => {
  server = await startRedis();
  look = new Redis(server.url, { disconnectTimeout: 20 });
}, 20_000);

afterEach(async () => {
  for (const { gateway, calls } of opened.splice(0)) {
    for (const call of calls) call.unsubscribe();
    await gateway.close();
  }
});

afterAll(async () => {
  look.disconnect();
  await server.stop();
});

type Limits = { readonly maxConcurrency?: number; readonly rpm?: number; readonly tpm?: number };

/** A gateway whose only source never ends, and a thousand callers; the errors of those who were not let wait. */
function crowd(limits: Limits, options: Partial<GatewayOptions> = {}): { scope: string; errors: unknown[] } {
  const scope = `herd-${randomUUID()}`;
  const source = scriptedSource({ id: 'a/1', scripts: [[{ atMs: 0, type: 'delta', delta: { type: 'content', text: 'x' } }]], limits: { ttftTimeoutMs: 500 }, scheduler: monotonicScheduler, ...limits });
  const gateway = createGateway({ settings: { scope, sources: [] }, sources: [source], backendUrl: server.url, ...options });
  const errors: unknown[] = [];
  const ask = (): Subscription => gateway.chat$({ messages: [{ role: 'user', content: 'x' }], max_tokens: 100 }).subscribe({ error: (error: unknown) => errors.push(error) });
  opened.push({ gateway, calls: Array.from({ length: 1000 }, ask) });
  return { scope, errors };
}

async function scriptsRunIn(ms: number): Promise<number> {
  await look.config('RESETSTAT');
  await sleep(ms);
  const stats = await look.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

describe('a thousand callers of one process who wait', () => {
  test.each<[string, Limits]>([
    ['for a place', { maxConcurrency: 1 }],
    ['for requests of the next minute', { rpm: 1 }],
    ['for tokens', { tpm: 150 }],
  ])('R-X9: %s ask no more often than ten times a second, and none is turned away', async (_what, limits) => {
    const { errors } = crowd(limits);
    await sleep(1000);
    expect(await scriptsRunIn(1000)).toBeLessThanOrEqual(20);
    expect(errors).toEqual([]);
  }, 20_000);

  test('B3: nor does each read the progress of the scope, once all have waited for long enough', async () => {
    const { scope, errors } = crowd({ maxConcurrency: 1 }, { stallWindowS: 1 });
    const [, source = ''] = sourceKeys(scope, 'a/1');
    // Somebody else of the scope succeeds all the time, so that they go on waiting.
    const succeed = "local t = redis.call('TIME') redis.call('HSET', KEYS[1], 'succeededMs', t[1] * 1000 + math.floor(t[2] / 1000))";
    const succeeding = setInterval(() => void look.eval(succeed, 1, source), 100);
    try {
      await sleep(2000);
      await look.config('RESETSTAT');
      await sleep(1000);
      const stats = await look.info('commandstats');
      const asks = Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1]);
      expect([asks > 0, asks <= 20, errors]).toEqual([true, true, []]);
    } finally {
      clearInterval(succeeding);
    }
  }, 20_000);
});
