/** @alone It measures the clock of its own process. */
import { describe, expect, test } from '@jest/globals';
import { asyncScheduler, firstValueFrom, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createMonotonicScheduler, monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { block } from './fixtures/block.js';

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
  // Stands for data that needs the thread pool: it is there some milliseconds after the loop is free again.
  const dataSoon = (seen: string[], ms = 20): void => void setTimeout(() => seen.push('data'), ms);

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

  test('T3: other work that ran on the scheduler and blocked the loop is noticed as well', async () => {
    const seen = await seenAtFire(310, (seen, scheduler) => {
      scheduler.schedule(() => {
        block(205);
        dataSoon(seen);
      }, 100);
    });
    expect(seen).toEqual(['data']);
  });

  test('T3: an earlier wish during the grace does not cut it short', async () => {
    const seen = await seenAtFire(200, (seen, scheduler) => {
      block(170);
      setTimeout(() => scheduler.schedule(() => seen.push('turn'), 0), 10);
      dataSoon(seen, 40);
    });
    expect(seen).toEqual(['data', 'turn']);
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
