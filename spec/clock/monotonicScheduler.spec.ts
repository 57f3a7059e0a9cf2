import { afterEach, describe, expect, test } from '@jest/globals';
import { asyncScheduler, config, debounceTime, delay, firstValueFrom, interval, of, range, observeOn, take, timeInterval, timeout, timer, toArray } from 'rxjs';
import type { SchedulerAction, SchedulerLike } from 'rxjs';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createMonotonicScheduler, monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { block } from './fixtures/block.js';
import { sleep, startChild } from './fixtures/child.js';

const realTimers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

describe('createMonotonicScheduler', () => {
  test('T1: now() is performance.now(), whatever the wall clock does', () => {
    const before = performance.now();
    const now = monotonicScheduler.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(performance.now());
  });

  test('work runs later than its delay, never earlier, fractions included', async () => {
    const scheduler = createMonotonicScheduler();
    const delays = [0, 0.2, 1, 1.5, 7.3, 20, 20.9];
    const waited = await Promise.all(
      delays.map((delayMs) => {
        const startMs = performance.now();
        return new Promise<number>((resolve) => scheduler.schedule(() => resolve(performance.now() - startMs), delayMs));
      }),
    );
    expect(waited.map((ms, i) => ms >= delays[i]!)).toEqual(delays.map(() => true));
  });

  test('delay 0, and a negative one, runs in a later turn, after promises', async () => {
    const scheduler = createMonotonicScheduler();
    const order: string[] = [];
    scheduler.schedule(() => order.push('zero'));
    scheduler.schedule(() => order.push('negative'), -1);
    void Promise.resolve().then(() => order.push('promise'));
    order.push('now');
    await sleep(20);
    expect(order).toEqual(['now', 'promise', 'zero', 'negative']);
  });

  test('what came due together runs in one pass, earliest first, across delays', async () => {
    const scheduler = createMonotonicScheduler();
    const ran: string[] = [];
    const add = (name: string, delayMs: number) => scheduler.schedule(() => ran.push(name), delayMs);
    add('due at 40', 40);
    add('due at 30', 30);
    add('due at 40 too', 40);
    add('due at 1', 1);
    block(30);
    add('due at 55', 25);
    block(100);
    await firstValueFrom(timer(1, scheduler));
    expect(ran).toEqual(['due at 1', 'due at 30', 'due at 40', 'due at 40 too', 'due at 55']);
  });

  test('an entry unsubscribed by an earlier one of the same pass does not run', async () => {
    const scheduler = createMonotonicScheduler();
    const ran: string[] = [];
    scheduler.schedule(() => {
      ran.push('first');
      second.unsubscribe();
      third.unsubscribe();
    }, 10);
    const second = scheduler.schedule(() => ran.push('second'), 10);
    const third = scheduler.schedule(() => ran.push('third'), 11);
    scheduler.schedule(() => ran.push('fourth'), 10);
    block(30);
    await sleep(50);
    expect(ran).toEqual(['first', 'fourth']);
    expect([second.closed, third.closed]).toEqual([true, true]);
  });

  test('what is scheduled during a pass waits for the next one', async () => {
    const scheduler = createMonotonicScheduler();
    const ran: string[] = [];
    scheduler.schedule(() => {
      ran.push('a');
      scheduler.schedule(() => ran.push('c'), 0);
    }, 5);
    scheduler.schedule(() => ran.push('b'), 5);
    await sleep(50);
    expect(ran).toEqual(['a', 'b', 'c']);
  });

  test('an action re-schedules itself with new state and delay, and a pending one is moved', async () => {
    const scheduler = createMonotonicScheduler();
    const states: (number | undefined)[] = [];
    const action = scheduler.schedule(
      function (this: SchedulerAction<number>, state?: number) {
        states.push(state);
        if (state! < 3) this.schedule(state! + 1, state);
      },
      30_000,
      -1,
    ) as SchedulerAction<number>;
    action.schedule(0, 5);
    await sleep(60);
    expect(states).toEqual([0, 1, 2, 3]);
    action.unsubscribe();
    action.schedule(0, 0);
    await sleep(10);
    expect(states).toHaveLength(4);
  });

  test('T5: a delay that is not finite or not below 2^31 is refused by name', async () => {
    const scheduler = createMonotonicScheduler();
    const schedule = (delayMs: number) => () => scheduler.schedule(() => undefined, delayMs);
    for (const delayMs of [2 ** 31, 2 ** 31 - 0.5, Infinity, -Infinity, NaN]) {
      expect(schedule(delayMs)).toThrow(RangeError);
      expect(schedule(delayMs)).toThrow(`got ${delayMs}`);
    }
    await expect(firstValueFrom(timer(2 ** 31, scheduler))).rejects.toThrow('2^31');
  });

  test('T5: the longest delay does not fire at once', async () => {
    let fired = false;
    const subscription = createMonotonicScheduler().schedule(() => (fired = true), 2 ** 31 - 1);
    await sleep(20);
    subscription.unsubscribe();
    expect(fired).toBe(false);
  });

  test("RxJS's time operators run on it", async () => {
    const scheduler = createMonotonicScheduler();
    const gaps = firstValueFrom(interval(10, scheduler).pipe(timeInterval(scheduler), take(3), toArray()));
    expect((await gaps).map(({ value, interval: ms }) => [value, ms >= 10])).toEqual([[0, true], [1, true], [2, true]]);
    expect(await firstValueFrom(timer(5, 5, scheduler).pipe(take(2), toArray()))).toEqual([0, 1]);
    expect(await firstValueFrom(range(0, 3).pipe(observeOn(scheduler), delay(5, scheduler), toArray()))).toEqual([0, 1, 2]);
    expect(await firstValueFrom(of(1, 2).pipe(debounceTime(5, scheduler)))).toBe(2);
    await expect(firstValueFrom(timer(1000, scheduler).pipe(timeout({ each: 10, scheduler })))).rejects.toThrow('Timeout');
  });
});

describe('work that throws', () => {
  afterEach(() => {
    config.onUnhandledError = null;
  });

  test('does not stop other work of the pass; its error goes to onUnhandledError', async () => {
    const scheduler = createMonotonicScheduler();
    const unhandled: unknown[] = [];
    const ran: string[] = [];
    config.onUnhandledError = (error) => unhandled.push(error);
    const failing = scheduler.schedule(() => {
      throw new Error('boom');
    }, 5);
    scheduler.schedule(() => ran.push('same delay'), 5);
    scheduler.schedule(() => ran.push('later'), 20);
    await sleep(60);
    expect(ran).toEqual(['same delay', 'later']);
    expect(unhandled).toEqual([new Error('boom')]);
    expect(failing.closed).toBe(true);
  });
});

describe('bytes that wait in a socket', () => {
  /** A timer comes due 10 ms before a block ends that is too short to be noticed; the bytes are there well before. */
  async function firstSeen(scheduler: SchedulerLike, [near, far]: readonly [Socket, Socket]): Promise<string> {
    const dueMs = performance.now() + 60;
    const data = once(far, 'data').then(() => 'data');
    const silence = firstValueFrom(timer(60, scheduler)).then(() => 'silence');
    const writeAndBlock = (): void => {
      near.write('x');
      block(dueMs + 10 - performance.now());
    };
    // In the check phase: the timers phase comes next, before the poll that would read the bytes.
    setTimeout(() => setImmediate(writeAndBlock), 30);
    const first = await Promise.race([data, silence]);
    await Promise.all([data, silence]);
    return first;
  }

  test('T3: come before a timer that came due meanwhile, and after it on asyncScheduler', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const far = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [near] = (await once(server, 'connection')) as [Socket];
    const seen = { ours: new Set<string>(), control: new Set<string>() };
    for (let i = 0; i < 5; i += 1) {
      seen.ours.add(await firstSeen(monotonicScheduler, [near, far]));
      seen.control.add(await firstSeen(asyncScheduler, [near, far]));
    }
    far.destroy();
    server.close();
    expect(seen.ours).toEqual(new Set(['data']));
    expect(seen.control).toContain('silence');
  });
});

describe('a blocked loop', () => {
  // Stands for data that needs the thread pool: it is there 20 ms after the loop is free again.
  const dataSoon = (seen: string[]): void => void setTimeout(() => seen.push('data'), 20);

  /** What was seen when a timer of `delayMs` fired. */
  async function seenAtFire(delayMs: number, during: (seen: string[], scheduler: SchedulerLike) => void): Promise<string[]> {
    const seen: string[] = [];
    const scheduler = createMonotonicScheduler();
    const fired = new Promise<string[]>((resolve) => scheduler.schedule(() => resolve([...seen]), delayMs));
    during(seen, scheduler);
    return fired;
  }

  test.each([600, 205, 196])('T3: a timer of 200 ms lets data come first after a block of %i ms', async (blockMs) => {
    const seen = await seenAtFire(200, (seen) => {
      block(blockMs);
      dataSoon(seen);
    });
    expect(seen).toEqual(['data']);
  });

  test('T3: a block during the grace is followed by another grace', async () => {
    const seen = await seenAtFire(100, (seen) => {
      block(200);
      setTimeout(() => {
        block(150);
        dataSoon(seen);
      }, 30);
    });
    expect(seen).toEqual(['data']);
  });

  test('T3: work of delay 0 that a block holds up waits for the grace as well', async () => {
    const seen = await seenAtFire(0, (seen) => {
      block(100);
      dataSoon(seen);
    });
    expect(seen).toEqual(['data']);
  });

  test('T3: an earlier wish during the grace does not cut it short', async () => {
    const seen = await seenAtFire(100, (seen, scheduler) => {
      block(200);
      setTimeout(() => scheduler.schedule(() => seen.push('turn'), 0), 10);
      dataSoon(seen);
    });
    expect(seen).toEqual(['data']);
  });

  test('T3: a loop that is never free for long does not hold timers up for ever', async () => {
    const startMs = performance.now();
    const saturate = (): void => {
      block(70);
      if (performance.now() - startMs < 4000) turn = setImmediate(saturate);
    };
    let turn = setImmediate(saturate);
    await firstValueFrom(timer(100, createMonotonicScheduler()));
    clearImmediate(turn);
    expect(performance.now() - startMs).toBeLessThan(4000);
  });
});

describe('real timers', () => {
  test('T6: all delays share one, and none is left when nothing waits', async () => {
    const scheduler = createMonotonicScheduler();
    const before = realTimers();
    const waiting = Array.from({ length: 2000 }, (_, i) => scheduler.schedule(() => undefined, 10_000 + (i % 50)));
    expect(realTimers()).toBe(before + 1);
    waiting.forEach((subscription) => subscription.unsubscribe());
    expect(realTimers()).toBe(before);
    await firstValueFrom(timer(5, scheduler));
    expect(realTimers()).toBe(before);
  });

  test('CN-04: a process waits for a timer, and ends when the others were unsubscribed', async () => {
    const child = startChild('leavingClient.mjs');
    const message = once(child, 'message');
    const readyMs = performance.now();
    const [{ resources }] = (await message) as [{ resources: string[] }];
    const toldMs = performance.now();
    const [code] = (await once(child, 'exit')) as [number];
    expect({ code, timers: resources.filter((type) => type === 'Timeout') }).toEqual({ code: 0, timers: [] });
    expect(toldMs - readyMs).toBeGreaterThan(100);
    expect(performance.now() - toldMs).toBeLessThan(3000);
  });
});
