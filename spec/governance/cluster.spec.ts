import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { RedisCluster } from '../support/redisCluster.js';
import { startRedisCluster } from '../support/redisCluster.js';
import { asks, closeAll, gatewayTo, upstream } from '../gateway/scene.js';
import { holderContract } from './contracts/holderContract.js';
import { inWorld, success } from './contracts/inWorld.js';
import { redisHolder } from './holders.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);

afterEach(closeAll);

afterAll(async () => {
  await cluster.stop();
});

const holder = redisHolder(() => cluster.url, 'a Redis cluster');

/** The tags of the keys that each node holds. */
async function tagsByNode(): Promise<string[][]> {
  return Promise.all(
    cluster.nodes.map(async ({ url }) => {
      const client = new Redis(url);
      try {
        return [...new Set((await client.keys('*')).map((key) => /\{.*\}/.exec(key)?.[0] ?? key))];
      } finally {
        client.disconnect();
      }
    }),
  );
}

describe(`the admission state kept in ${holder.name}`, () => {
  holderContract(holder);
});

describe('a scope whose sources lie on different nodes', () => {
  // By chance all of them would lie on one node once in 3 to the 19th.
  const ids = Array.from({ length: 20 }, (_, at) => `source/${at}`);
  const sources = ids.map((id) => ({ id, limits: {}, maxConcurrency: 1 }));

  test('RD-06, G1: enters, refuses, settles and parks at each of them; its progress is the youngest of all', inWorld(holder, { sources }, async ({ enter, admit, end, ageMs, heard, advance, governance }) => {
    const before = (await tagsByNode()).flat();
    const permits = await Promise.all(ids.map((sourceId) => admit({ sourceId })));
    expect((await tagsByNode()).filter((tags) => tags.some((tag) => !before.includes(tag))).length).toBeGreaterThan(1);
    for (const sourceId of ids) expect(await enter({ sourceId })).toBeInstanceOf(AdmissionRefused);
    expect(await ageMs()).toBe(Infinity);
    for (const permit of permits) {
      advance(1000);
      await end(permit, success(1));
    }
    advance(500);
    expect([await ageMs(), governance.permits()]).toEqual([500, Object.fromEntries(ids.map((id) => [id, 0]))]);
    for (const sourceId of ids) governance.parking.park(sourceId, 1000);
    await heard();
    for (const sourceId of ids) expect(await enter({ sourceId })).toMatchObject({ retryAfterMs: 1000 });
    advance(1000);
    for (const sourceId of ids) await admit({ sourceId });
  }));
});

describe('a whole gateway over a cluster', () => {
  test('G6: calls go out, fail over, and leave nothing held; a second gateway knows what the first has learned', async () => {
    const places = await Promise.all([upstream(['503@0']), upstream(['d@0"one" f@0', 'd@0"two" f@0', 'd@0"three" f@0'])]);
    const options = { backendUrl: cluster.url, breakerFailures: 2, breakerCooldownS: 60, maxAttempts: 4 };
    const first = gatewayTo(places.map(({ url }) => url), options);
    expect((await first.gateway.chat(asks('1'))).content).toBe('one');
    expect((await first.gateway.chat(asks('2'))).content).toBe('two');
    expect(first.gateway.stats()).toMatchObject({ calls: 0, attempts: 0, permits: { 'a/1': 0, 'b/1': 0 }, breakers: { 'a/1': 'open', 'b/1': 'closed' } });
    const second = gatewayTo(places.map(({ url }) => url), options);
    expect((await second.gateway.chat(asks('3'))).content).toBe('three');
    expect(second.rows.map(({ source }) => source)).toEqual(['b/1']);
  });
});
