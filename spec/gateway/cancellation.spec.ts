import { afterEach, describe, expect, test } from '@jest/globals';
import dns from 'node:dns';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { TransientError } from '../../lib/index.js';
import type { ChatRequest, Source } from '../../lib/index.js';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { asks, closeAfterTest, closeAll, connectionsTo, gatewayTo, nothingInFlight, rejection, until, upstream } from './scene.js';
import type { Scene } from './scene.js';

const untilTheEnd = 'd@0.02..10/0.02"tick "';
const short = 'd@0.01"ok" f@0.01';

afterEach(closeAll);

describe('a caller who leaves in mid-stream', () => {
  test('CN-01, X1: the upstream sees it at once, the permit is back in the same turn, nothing comes afterwards', async () => {
    const a = await upstream([untilTheEnd]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }], { hedgeStallAfterS: 5, callDeadlineS: 60 });
    const told: unknown[] = [];
    const subscription = gateway.chat$(asks('hello')).subscribe({ next: (value) => told.push(value), error: (error) => told.push(error), complete: () => told.push('completed') });
    await until(() => a.requests.length === 1 && performance.now() - a.requests[0]!.startedMs > 250, 'some ticks');

    const leftMs = performance.now();
    subscription.unsubscribe();

    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    expect(rows).toHaveLength(1);
    const row = rows[0]!;
    expect(row).toMatchObject({ error_class: 'caller_cancelled', outcome: 'error', won: 0, stall_ms: null });
    expect(row.increments).toBeGreaterThan(3);
    expect(row.ttft_ms).toBeGreaterThan(10);
    await until(() => a.requests[0]!.closedByClientMs !== null, 'the upstream sees it');
    expect(a.requests[0]!.closedByClientMs! - leftMs).toBeLessThan(250);
    expect(a.requests[0]!.finished).toBe(false);
    expect(told).toEqual([]);
  });

  test('X1: both attempts of a hedged call are closed', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.02"x" hang']), upstream(['d@0.02"y" hang'])]);
    const { gateway, rows } = gatewayTo([a.url, b.url], { hedgeStallAfterS: 0.1 });
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => b.requests.length === 1, 'the backup started');

    subscription.unsubscribe();

    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0, 'b/1': 0 } });
    expect(rows.map(({ role, error_class }) => [role, error_class]).sort()).toEqual([['backup', 'caller_cancelled'], ['primary', 'caller_cancelled']]);
    await until(() => [a, b].every(({ requests }) => requests[0]!.closedByClientMs !== null), 'both closed');
  });
});

describe('CN-02: a caller who leaves before anything has come', () => {
  test('(a) with a signal that was aborted before: its reason in the same turn, no request, no row', async () => {
    const a = await upstream([short]);
    const { gateway, rows, events } = gatewayTo([a.url]);
    const thrown: unknown[] = [];

    gateway.chat$(asks('hello'), { signal: AbortSignal.abort('too late') }).subscribe({ error: (error) => thrown.push(error) });

    expect(thrown).toEqual(['too late']);
    await turn();
    expect([a.requests.length, rows.length]).toEqual([0, 0]);
    expect(events.map(({ type }) => type)).toEqual(['call-started', 'call-ended']);
  });

  test('(b) in the turn in which he came: no request, no row', async () => {
    const a = await upstream([short]);
    const { gateway, rows } = gatewayTo([a.url]);

    gateway.chat$(asks('hello')).subscribe().unsubscribe();

    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    // A later call shows that the earlier one would have arrived by now.
    await gateway.chat(asks('another'));
    expect(a.requests).toHaveLength(1);
    expect(rows).toHaveLength(1);
  });

  test('(c) while he waits for a place: no request, no row, and no place in the line', async () => {
    const a = await upstream(['d@0.02"x" hang', short]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }]);
    const first = gateway.chat$(asks('first')).subscribe();
    await until(() => a.requests.length === 1, 'the first runs');
    const second = gateway.chat$(asks('second')).subscribe();
    expect(gateway.stats()).toMatchObject({ calls: 2, waiters: 1 });

    second.unsubscribe();

    expect(gateway.stats()).toMatchObject({ calls: 1, attempts: 1, waiters: 0, permits: { 'a/1': 1 } });
    first.unsubscribe();
    await gateway.chat(asks('third'));
    expect(a.requests.map(({ body }) => body['messages'])).toEqual([asks('first').messages, asks('third').messages]);
    expect(rows.map(({ error_class }) => error_class)).toEqual(['caller_cancelled', null]);
  });

  test('(d) while the name is being resolved: no request, no row', async () => {
    const a = await upstream([short]);
    const connections = connectionsTo(a.port);
    const pending = holdLookups('slow.test');
    const { gateway, rows, events } = gatewayTo([`http://slow.test:${a.port}/v1`]);
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => pending.length === 1, 'the name is asked for');

    subscription.unsubscribe();
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    pending[0]!();
    await until(() => connections.made === connections.open.size || connections.open.size === 0, 'what was dialled is closed again');
    await gateway.close();

    expect([a.requests.length, rows.length]).toEqual([0, 0]);
    expect(events.map(({ type }) => type)).toContain('attempt-unsent');
  });

  test('(e) after the request is sent and before headers: the upstream sees it, one row without a first increment', async () => {
    const a = await upstream(['hang']);
    const { gateway, rows } = gatewayTo([a.url]);
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => a.requests.length === 1, 'the request arrived');

    const leftMs = performance.now();
    subscription.unsubscribe();

    await until(() => a.requests[0]!.closedByClientMs !== null, 'the upstream sees it');
    expect(a.requests[0]!.closedByClientMs! - leftMs).toBeLessThan(250);
    expect(rows).toEqual([expect.objectContaining({ error_class: 'caller_cancelled', ttft_ms: null, increments: 0 })]);
  });
});

describe('a signal', () => {
  test.each([['a text', 'no longer wanted'], ['an object', { because: 'of this' }], ['undefined', undefined]])(
    'X3: aborted in mid-stream with %s as its reason, the call fails with just that, in the same turn',
    async (_what, given) => {
      const a = await upstream([untilTheEnd]);
      const { gateway, rows } = gatewayTo([a.url]);
      const controller = new AbortController();
      const thrown: unknown[] = [];
      gateway.chat$(asks('hello'), { signal: controller.signal }).subscribe({ error: (error) => thrown.push(error) });
      await until(() => a.requests.length === 1, 'the request arrived');

      controller.abort(given);

      expect(thrown).toHaveLength(1);
      expect(thrown[0]).toBe(controller.signal.reason);
      expect(rows.map(({ error_class }) => error_class)).toEqual(['caller_cancelled']);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    },
  );

  test('X3: `chat` rejects with the reason unchanged', async () => {
    const a = await upstream(['hang']);
    const { gateway } = gatewayTo([a.url]);
    const controller = new AbortController();
    const answer = rejection(gateway.chat(asks('hello'), { signal: controller.signal }));
    await until(() => a.requests.length === 1, 'the request arrived');
    controller.abort('enough');
    expect(await answer).toBe('enough');
  });

  test('X1: one abort ends fifty calls in its own turn, whatever each is doing, and all connections are closed', async () => {
    const a = await upstream([untilTheEnd]);
    const connections = connectionsTo(a.port);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 30 }]);
    const controller = new AbortController();
    const thrown: unknown[] = [];
    for (let i = 0; i < 50; i += 1) gateway.chat$(asks('hello'), { signal: controller.signal }).subscribe({ error: (error) => thrown.push(error) });
    await until(() => a.requests.length === 30, 'thirty run');
    expect(gateway.stats()).toMatchObject({ calls: 50, attempts: 30, waiters: 20 });

    controller.abort('all of you');

    expect(thrown).toEqual(Array.from({ length: 50 }, () => 'all of you'));
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await until(() => connections.open.size === 0, 'all closed');
    expect(a.requests).toHaveLength(30);
    expect(rows).toHaveLength(30);
  });
});

describe('CN-03: a signal that outlives ten thousand calls', () => {
  test('no listener stays on it, no warning is given, and aborting it at the end calls nothing', async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', warn);
    closeAfterTest(async () => void process.off('warning', warn));
    const controller = new AbortController();
    const { signal } = controller;
    const scenes = [scripted(), await onSockets()];
    const ends = new Map<string, number>();
    const run = async ({ gateway }: Scene, calls: number): Promise<void> => {
      for (let done = 0; done < calls; done += 50) {
        const batch = Array.from({ length: 50 }, () => gateway.chat(asks('hello'), { signal }).then(({ stats }) => (stats.hedgeWon ? 'hedged' : stats.attempts > 1 ? 'retried' : 'ok'), () => 'failed'));
        expect(getEventListeners(signal, 'abort').length).toBe(1);
        for (const end of await Promise.all(batch)) ends.set(end, (ends.get(end) ?? 0) + 1);
        expect(getEventListeners(signal, 'abort').length).toBe(0);
      }
    };

    await run(scenes[0]!, 9500);
    await run(scenes[1]!, 500);

    expect([...ends.values()].reduce((sum, n) => sum + n, 0)).toBe(10_000);
    for (const end of ['ok', 'retried', 'hedged', 'failed']) expect([end, ends.get(end)! > 200]).toEqual([end, true]);
    const told = scenes.map(({ events }) => events.length);
    controller.abort('at last');
    await turn();
    expect(scenes.map(({ events }) => events.length)).toEqual(told);
    expect(scenes.map(({ gateway }) => gateway.stats().calls)).toEqual([0, 0]);
    expect(warnings).toEqual([]);
  }, 60_000);
});

/** Of seven requests to the first source three answer, two break, one falls silent and one finds its call out of tries. */
function scripted(): Scene {
  const ok = answers('ok');
  const broken = breaks();
  const silent: ScriptStep[] = [{ atMs: 0, type: 'delta', delta: { type: 'content', text: 'half' } }];
  const first = cycling('a/1', [ok, broken, ok, silent, ok, broken]);
  const second = cycling('b/1', [ok, broken, ok]);
  return gatewayTo([], { sources: [first, second], hedgeStallAfterS: 0.01, backoffS: 0.001, maxAttempts: 2 });
}

async function onSockets(): Promise<Scene> {
  const scripts = ['d@0"ok" f@0', '503@0', 'd@0"ok" f@0', 'd@0"half" hang', 'd@0"ok" f@0', '503@0'];
  const [a, b] = await Promise.all([upstream(scripts, { order: 'cycle' }), upstream(['d@0"ok" f@0', '503@0', 'd@0"ok" f@0'], { order: 'cycle' })]);
  return gatewayTo([a.url, b.url], { hedgeStallAfterS: 0.05, backoffS: 0.001, maxAttempts: 2 });
}

function answers(text: string): ScriptStep[] {
  return [
    { atMs: 0, type: 'delta', delta: { type: 'content', text } },
    { atMs: 0, type: 'delta', delta: { type: 'finish', reason: 'stop' } },
    { atMs: 0, type: 'end' },
  ];
}

function breaks(): ScriptStep[] {
  return [{ atMs: 0, type: 'error', get error() { return new TransientError('it broke'); } }];
}

function cycling(id: string, scripts: readonly ScriptStep[][], scheduler: SchedulerLike = monotonicScheduler): Source {
  const sources = scripts.map((script) => scriptedSource({ id, scripts: [script], scheduler }));
  let asked = 0;
  return { ...sources[0]!, stream: (request, context) => sources[asked++ % sources.length]!.stream(request, context) };
}

/** Lookups of a name that wait to be let go; it stands for this machine. */
function holdLookups(name: string): (() => void)[] {
  const pending: (() => void)[] = [];
  const { lookup } = dns;
  type Answer = (error: Error | null, addresses: { address: string; family: number }[]) => void;
  const held = (host: string, options: dns.LookupOptions, answer: Answer): void => {
    if (host === name) pending.push(() => answer(null, [{ address: '127.0.0.1', family: 4 }]));
    else lookup(host, options, answer as never);
  };
  dns.lookup = held as unknown as typeof dns.lookup;
  closeAfterTest(async () => { dns.lookup = lookup; });
  return pending;
}
