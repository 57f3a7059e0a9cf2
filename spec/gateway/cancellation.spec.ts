import { afterEach, describe, expect, test } from '@jest/globals';
import dns from 'node:dns';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import { asks, closeAfterTest, closeAll, connectionsTo, gatewayTo, nothingInFlight, rejection, until, upstream } from './scene.js';

const untilTheEnd = 'd@0.02..10/0.02"tick "';
const short = 'd@0.01"ok" f@0.01';

afterEach(closeAll);

describe('a caller who leaves in mid-stream', () => {
  test('CN-01, X1: the permit is back in the same turn, the upstream sees it within 50 ms, nothing comes afterwards', async () => {
    const a = await upstream([untilTheEnd]);
    const { gateway, rows } = gatewayTo([{ baseUrl: a.url, maxConcurrency: 1 }], { hedgeStallAfterS: 5, callDeadlineS: 60 });
    const told: unknown[] = [];

    const closedAfterMs = await leaveFiveTimes(a, 150, () => {
      const subscription = gateway.chat$(asks('hello')).subscribe({ next: (value) => told.push(value), error: (error: unknown) => told.push(error), complete: () => told.push('completed') });
      return () => {
        subscription.unsubscribe();
        expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
      };
    });

    expect(Math.min(...closedAfterMs)).toBeLessThan(50);
    expect(a.requests.map(({ finished }) => finished)).toEqual([false, false, false, false, false]);
    expect(told).toEqual([]);
    for (const row of rows) {
      expect(row).toMatchObject({ error_class: 'caller_cancelled', outcome: 'error', won: 0, stall_ms: null });
      expect(row.increments).toBeGreaterThan(1);
      expect(row.ttft_ms).toBeGreaterThan(10);
    }
    expect(rows).toHaveLength(5);
  });

  test('X1: both attempts of a hedged call are closed', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.02"x" hang']), upstream(['d@0.02"y" hang'])]);
    const { gateway, rows } = gatewayTo([a.url, b.url], { hedgeStallAfterS: 0.1 });
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => b.requests.length === 1, 'the backup started');

    subscription.unsubscribe();

    expect(gateway.stats()).toEqual({ ...nothingInFlight, breakers: { 'a/1': 'closed', 'b/1': 'closed' }, permits: { 'a/1': 0, 'b/1': 0 } });
    expect(rows.map(({ role, error_class }) => [role, error_class]).sort()).toEqual([['backup', 'caller_cancelled'], ['primary', 'caller_cancelled']]);
    await until(() => [a, b].every(({ requests }) => requests[0]!.closedByClientMs !== null), 'both closed');
  });
});

describe('CN-02: a caller who leaves before anything has come', () => {
  test('(a) with a signal that was aborted before: its reason in the same turn, no request, no row', async () => {
    const a = await upstream([short]);
    const { gateway, rows, events } = gatewayTo([a.url]);
    const thrown: unknown[] = [];

    gateway.chat$(asks('hello'), { signal: AbortSignal.abort('too late') }).subscribe({ error: (error: unknown) => thrown.push(error) });

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

  test('(b) likewise where the source is one of the application\'s own: it is not even subscribed', async () => {
    const source = scriptedSource({ id: 'a/1', scripts: [[]] });
    const { gateway, rows } = gatewayTo([], { sources: [source] });

    gateway.chat$(asks('hello')).subscribe().unsubscribe();
    await turn();

    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    expect([source.requests.length, rows.length]).toEqual([0, 0]);
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
    const pending = holdLookups('slow.test');
    const { gateway, rows, events } = gatewayTo([`http://slow.test:${a.port}/v1`]);
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => pending.length === 1, 'the name is asked for');

    subscription.unsubscribe();
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });
    pending[0]!();
    // A later call shows that the earlier one would have arrived by now.
    const later = gateway.chat(asks('another'));
    await until(() => pending.length === 2 || a.requests.length > 0, 'the later one is on its way');
    pending[1]?.();
    await later;

    expect(a.requests.map(({ body }) => body['messages'])).toEqual([asks('another').messages]);
    expect(rows.map(({ error_class }) => error_class)).toEqual([null]);
    expect(events.map(({ type }) => type)).toContain('attempt-unsent');
  });

  test('(e) after the request is sent and before headers: the upstream sees it, one row without a first increment', async () => {
    const a = await upstream(['hang']);
    const { gateway, rows } = gatewayTo([a.url]);
    const closedAfterMs = await leaveFiveTimes(a, 0, () => {
      const subscription = gateway.chat$(asks('hello')).subscribe();
      return () => subscription.unsubscribe();
    });

    expect(Math.min(...closedAfterMs)).toBeLessThan(50);
    expect(rows).toEqual(Array.from({ length: 5 }, () => expect.objectContaining({ error_class: 'caller_cancelled', ttft_ms: null, increments: 0 })));
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
      gateway.chat$(asks('hello'), { signal: controller.signal }).subscribe({ error: (error: unknown) => thrown.push(error) });
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
    for (let i = 0; i < 50; i += 1) gateway.chat$(asks('hello'), { signal: controller.signal }).subscribe({ error: (error: unknown) => thrown.push(error) });
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

/**
 * Starts five calls one after the other, leaves each some time after it arrived, and tells when the upstream saw that.
 * Any one may meet a busy machine; a lateness of our own would be in the quickest too.
 */
async function leaveFiveTimes(a: Upstream, afterMs: number, start: () => () => void): Promise<number[]> {
  const closedAfterMs: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const leave = start();
    await until(() => performance.now() - (a.requests[i]?.startedMs ?? Infinity) >= afterMs, 'the time to leave');
    const leftMs = performance.now();
    leave();
    await until(() => a.requests[i]?.closedByClientMs != null, 'the upstream sees it');
    closedAfterMs.push(a.requests[i]!.closedByClientMs! - leftMs);
  }
  return closedAfterMs;
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
  closeAfterTest(() => { dns.lookup = lookup; });
  return pending;
}
