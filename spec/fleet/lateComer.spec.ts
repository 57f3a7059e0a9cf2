import { afterAll, expect, test } from '@jest/globals';
import { closeAll } from '../gateway/scene.js';
import { until } from '../support/until.js';
import { startFleetRedis, startProcess, startSource } from './fleet.js';
import type { Process } from './fleet.js';
import type { CallersTold } from './hammer.js';
import { mostAtOnce } from './usage.js';

afterAll(closeAll);

test('a process that comes when another holds all places, and has callers for each that comes free, gets some of them too', async () => {
  const { server } = await startFleetRedis();
  const source = await startSource();
  const options = { scope: 'LATE', url: source.url, redisUrl: server.url, limits: { maxConcurrency: 3 }, serviceMs: [1500, 2500], maxTokens: 10 };
  const start = (name: string, callers: number): Promise<Process<CallersTold>> => startProcess('callers.mjs', { ...options, name, callers });
  const [first, late] = await Promise.all([start('first', 20), start('late', 1)]);
  const arrivalsOf = async (name: string): Promise<number> => (await source.visits()).visits.filter(({ by }) => by === name).length;

  first.say('go');
  await until('all places are taken', async () => (await arrivalsOf('first')) === 3);
  late.say('go');
  // Two seconds after which its turn is clearly the first, then the end of a stream, and a poll.
  await until('the late one has had its turn twice', async () => (await arrivalsOf('late')) >= 2, { timeoutMs: 15_000 });
  expect(mostAtOnce((await source.visits()).visits)).toBe(3);
}, 60_000);
