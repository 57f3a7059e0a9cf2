/** @alone It measures the clock of its own process. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { config, debounceTime, delay, firstValueFrom, interval, observeOn, of, range, take, timeInterval, timeout, timer, toArray } from 'rxjs';
import type { SchedulerAction } from 'rxjs';
import { once } from 'node:events';
import { createMonotonicScheduler, monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { block } from './fixtures/block.js';
import { messageOf, sleep, startChild } from './fixtures/child.js';

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

  test('an entry moved by an earlier one of the same pass runs at its new time only', async () => {
    const scheduler = createMonotonicScheduler();
    const ran: string[] = [];
    const startMs = performance.now();
    scheduler.schedule(() => moved.schedule(undefined, 100), 10);
    const moved = scheduler.schedule(() => ran.push(performance.now() - startMs >= 110 ? 'later' : 'too early'), 10) as SchedulerAction<unknown>;
    await sleep(60);
    await firstValueFrom(timer(100, scheduler));
    expect(ran).toEqual(['later']);
  });

  test('what is scheduled during a pass waits for the next one', async () => {
    const scheduler = createMonotonicScheduler();
    const ran: string[] = [];
    scheduler.schedule(() => {
      ran.push('a');
      scheduler.schedule(() => ran.push('c'), 0);
    }, 5);
    scheduler.schedule(() => ran.push('b'), 5);
    // Both are due when the pass begins, however slow this machine is.
    const dueMs = performance.now() + 6;
    while (performance.now() < dueMs);
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

test('T6, CN-04: all delays share one real timer; it holds the process while something waits and no longer', async () => {
  const child = startChild('leavingClient.mjs');
  const { waitedMs, ...timers } = await messageOf<Record<string, number>>(child);
  const toldMs = performance.now();
  const [code] = (await once(child, 'exit')) as [number];
  expect({ code, ...timers }).toEqual({ code: 0, whileWaiting: 1, afterLeaving: 0, atTheEnd: 0 });
  expect(waitedMs).toBeGreaterThanOrEqual(800);
  expect(performance.now() - toldMs).toBeLessThan(3000);
});
