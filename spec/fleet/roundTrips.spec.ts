import { afterAll, expect, test } from '@jest/globals';
import { closeAfterTest, closeAll } from '../gateway/scene.js';
import { until } from '../support/until.js';
import { startFleetRedis, startProcess, startSource } from './fleet.js';
import type { Process, Told } from './fleet.js';

afterAll(closeAll);

const calls = (times: number): string => JSON.stringify({ call: { serviceMs: 5 }, times });
const ended = ({ ask }: Process<Told>): Promise<void> => until('all calls have ended', async () => (await ask('{}')).calls.every(({ outcome }) => outcome === 'ok'));
const scripted = ['eval', 'evalsha'];

test('R-X2: 200 calls under all three limits say no more to Redis than two scripts each, and the renewals', async () => {
  const { server, look } = await startFleetRedis();
  const source = await startSource();
  const limits = { rpm: 10_000, tpm: 10_000_000, maxConcurrency: 200 };
  const caller = await startProcess<Told>('caller.mjs', { name: 'p1', scope: 'LLM', url: source.url, redisUrl: server.url, limits });
  // Connects, and makes the scripts known.
  await caller.ask(calls(1));
  await ended(caller);
  const monitor = await look.monitor();
  closeAfterTest(() => monitor.disconnect());
  const heard: (readonly string[])[] = [];
  // What a script itself says comes from `lua`.
  monitor.on('monitor', (_time: string, args: readonly string[], from: string) => {
    if (from !== 'lua') heard.push(args);
  });

  // Not all in one turn, since what is sent long after it was let in is told to be late.
  for (let batch = 0; batch < 20; batch += 1) {
    await caller.ask(calls(10));
    await ended(caller);
  }
  await look.ping('all is heard');
  await until('the monitor has told all', () => Promise.resolve(heard.some(([, text]) => text === 'all is heard')));

  const renewals = heard.filter((args) => args.at(-1)?.includes('"leases"'));
  const decisions = heard.filter(([name = '']) => scripted.includes(name)).length - renewals.length;
  expect(decisions).toBe(400);
  expect(renewals.length).toBeLessThan(10);
  expect(heard.filter(([name = '', text]) => !scripted.includes(name) && text !== 'all is heard').map(([name]) => name)).toEqual([]);
}, 60_000);
