/** @alone It measures the clock of its own process. */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createLoopLag } from '../../lib/clock/loopLag.js';
import { block } from './fixtures/block.js';
import { sleep } from './fixtures/child.js';

describe('createLoopLag', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('M7: the longest block while the meter ran, in whole milliseconds', async () => {
    const meter = createLoopLag().start();
    await sleep(30);
    block(100);
    await sleep(30);
    block(300);
    await sleep(30);
    block(100);
    await sleep(30);
    const lagMs = meter.stop();
    expect(lagMs).toBeGreaterThanOrEqual(275);
    expect(lagMs).toBeLessThan(600);
    expect(Number.isInteger(lagMs)).toBe(true);
  });

  test('M7: a block that has just ended counts although no tick has run since', () => {
    const meter = createLoopLag().start();
    block(200);
    expect(meter.stop()).toBeGreaterThanOrEqual(175);
  });

  test('M7: a free loop reads as next to nothing', async () => {
    const meter = createLoopLag().start();
    await sleep(150);
    expect(meter.stop()).toBeLessThan(60);
  });

  test('M7: each meter sees its own time: what was before, and the part of a block before its start, is not its', async () => {
    const loopLag = createLoopLag();
    const early = loopLag.start();
    await sleep(30);
    block(400);
    const inside = loopLag.start();
    block(150);
    await sleep(30);
    const late = loopLag.start();
    await sleep(30);
    block(80);
    await sleep(30);
    const [earlyMs, insideMs, lateMs] = [early, inside, late].map(({ stop }) => stop());
    expect(earlyMs).toBeGreaterThanOrEqual(525);
    expect(insideMs).toBeGreaterThanOrEqual(145);
    expect(insideMs).toBeLessThan(350);
    expect(lateMs).toBeGreaterThanOrEqual(55);
    expect(lateMs).toBeLessThan(145);
  });

  test('stopping twice gives the same figure and leaves other meters alone', async () => {
    const loopLag = createLoopLag();
    const other = loopLag.start();
    const meter = loopLag.start();
    block(100);
    const lagMs = meter.stop();
    block(300);
    expect(meter.stop()).toBe(lagMs);
    await sleep(30);
    block(500);
    await sleep(30);
    expect(other.stop()).toBeGreaterThanOrEqual(475);
  });

  test('one interval, only while a meter runs, and not one that holds the process', () => {
    const started = jest.spyOn(globalThis, 'setInterval');
    const cleared = jest.spyOn(globalThis, 'clearInterval');
    const loopLag = createLoopLag();
    const meters = Array.from({ length: 5000 }, () => loopLag.start());
    expect(started).toHaveBeenCalledTimes(1);
    expect((started.mock.results[0]!.value as NodeJS.Timeout).hasRef()).toBe(false);
    meters.slice(1).forEach((meter) => meter.stop());
    expect(cleared).not.toHaveBeenCalled();
    meters[0]!.stop();
    expect(cleared).toHaveBeenCalledTimes(1);
    loopLag.start().stop();
    expect(started).toHaveBeenCalledTimes(2);
  });

  test('thousands of meters that each saw many lags are cheap', async () => {
    const loopLag = createLoopLag();
    const meters = Array.from({ length: 5000 }, () => loopLag.start());
    for (let lagMs = 60; lagMs > 0; lagMs -= 4) {
      block(lagMs);
      await sleep(21);
    }
    const startMs = performance.now();
    const lags = meters.map((meter) => meter.stop());
    expect(performance.now() - startMs).toBeLessThan(1000);
    expect(Math.min(...lags)).toBeGreaterThanOrEqual(35);
  });
});
