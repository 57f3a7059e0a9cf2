import { afterEach, describe, expect, test } from '@jest/globals';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import type { Gateway, GatewayStats } from '../../lib/index.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { asks, closeAll, connectionsTo, gatewayTo, nothingInFlight, until, upstream } from './scene.js';

const ok = 'd@0"ok" f@0';
const oneCall = { ...nothingInFlight, calls: 1 };

afterEach(closeAll);

describe('X2, RX-02: a call that is started inside the handler of another finds its place free', () => {
  test.each([
    ['next', ok],
    ['complete', ok],
    ['error', '503@0'],
  ])('in `%s`: admitted in the same turn, with room for one call in all', async (handler, script) => {
    const a = await upstream([script, ok]);
    const { gateway, events } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }], { maxAttempts: 1 });
    const inside: GatewayStats[] = [];
    let second: Promise<{ content: string }> | undefined;
    const startSecond = (): void => {
      inside.push(gateway.stats());
      second = gateway.chat(asks('second'));
      inside.push(gateway.stats());
    };

    gateway.chat$(asks('first')).subscribe({ error: () => undefined, [handler]: startSecond });
    await until(() => second !== undefined, `the first call's ${handler}`);

    expect(inside).toEqual([
      { ...nothingInFlight, permits: { 'a/1': 0 } },
      { ...oneCall, permits: { 'a/1': 1 } },
    ]);
    expect((await second!).content).toBe('ok');
    expect(events.filter(({ type }) => type === 'call-waiting')).toEqual([]);
  });

  test('after a hedge: the places of winner and loser are both free in `next`', async () => {
    const [a, b] = await Promise.all([upstream(['d@0"x" hang']), upstream([ok])]);
    const places = [a, b].map(({ url }) => ({ baseUrl: url, maxConcurrency: 1 }));
    const { gateway, rows } = gatewayTo(places, { hedgeStallAfterS: 0.1 });
    const inside: unknown[] = [];
    gateway.chat$(asks('hello')).subscribe(() => inside.push(gateway.stats(), rows.length));
    await until(() => inside.length > 0, 'the answer');
    const breakers = { 'a/1': 'closed', 'b/1': 'closed' };
    expect(inside).toEqual([{ ...nothingInFlight, breakers, permits: { 'a/1': 0, 'b/1': 0 } }, 2]);
  });

  test('a chain of two hundred calls, each started in the `complete` of the one before, over one connection', async () => {
    const a = await upstream([ok]);
    const connections = connectionsTo(a.port);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }]);

    expect(await chain(gateway, 200)).toBe('done');

    expect([a.requests.length, rows.length]).toEqual([200, 200]);
    expect(connections.made).toBeLessThanOrEqual(2);
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
  }, 20_000);

  test('a chain of a thousand calls, at a source of which each answer is there one turn later', async () => {
    const steps: ScriptStep[] = [
      { atMs: 0, type: 'delta', delta: { type: 'content', text: 'ok' } },
      { atMs: 0, type: 'delta', delta: { type: 'finish', reason: 'stop' } },
      { atMs: 0, type: 'end' },
    ];
    const source = scriptedSource({ id: 'a/1', scripts: [steps], maxConcurrency: 1, scheduler: monotonicScheduler });
    const { gateway, rows } = gatewayTo([], { sources: [source] });

    expect(await chain(gateway, 1000)).toBe('done');

    expect(rows).toHaveLength(1000);
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
  }, 20_000);
});

/** Starts each call in the `complete` of the one before. */
function chain(gateway: Gateway, calls: number): Promise<unknown> {
  return new Promise((resolve) => {
    const next = (left: number): void => {
      if (left === 0) resolve('done');
      else gateway.chat$(asks('hello')).subscribe({ error: resolve, complete: () => next(left - 1) });
    };
    next(calls);
  });
}

describe('MM-02: an answer of 20 MB', () => {
  test('in increments of 1 KB arrives whole, in time that grows with its length and no faster', async () => {
    const kilobyte = 'x'.repeat(1023) + '\n';
    const answerOf = (kilobytes: number) => [
      ...Array.from({ length: kilobytes }, () => ({ atMs: 0, type: 'content' as const, text: kilobyte })),
      { atMs: 0, type: 'finish' as const, reason: 'stop' },
    ];
    const a = await upstream([answerOf(1000), answerOf(5 * 1024), answerOf(20 * 1024)]);
    const { gateway } = gatewayTo([a.url]);
    await gateway.chat(asks('warm up'));

    const quarter = await gateway.chat(asks('a quarter'));
    const whole = await gateway.chat(asks('the whole'));

    expect([quarter.increments, whole.increments]).toEqual([5 * 1024, 20 * 1024]);
    expect(whole.content.length).toBe(20 * 2 ** 20);
    expect(whole.content === kilobyte.repeat(20 * 1024)).toBe(true);
    // Four times as long; a quadratic cost would show as sixteen.
    expect(whole.latencyMs).toBeLessThan(10 * quarter.latencyMs + 1000);
  }, 40_000);
});
