import { describe, expect, test } from '@jest/globals';
import { createSlidingWindow } from '../../../lib/governance/quota/slidingWindow.js';
import type { Spending } from '../../../lib/governance/quota/slidingWindow.js';

function chainLength(newest: Spending): number {
  let length = 0;
  for (let spending: Spending | undefined = newest; spending !== undefined; spending = spending.older) length += 1;
  return length;
}

describe('createSlidingWindow', () => {
  test('what was spent at t counts from t on and is free again at exactly t + 60 s', () => {
    const window = createSlidingWindow();
    window.spend(7, 0.5);
    expect(window.spent(0.5)).toEqual({ requests: 1, tokens: 7 });
    expect(window.spent(60_000.499)).toEqual({ requests: 1, tokens: 7 });
    expect(window.spent(60_000.5)).toEqual({ requests: 0, tokens: 0 });
  });

  test('any request can be taken out: the oldest, the newest, one between, the only one', () => {
    for (const out of [0, 1, 2]) {
      const window = createSlidingWindow();
      const spendings = [1, 10, 100].map((tokens, at) => window.spend(tokens, at));
      window.withdraw(spendings[out]!, 5);
      const left = [1, 10, 100].filter((_, at) => at !== out);
      expect(window.spent(5)).toEqual({ requests: 2, tokens: left[0]! + left[1]! });
      expect(window.requestLeavesInMs(5)).toBe(60_000 - 5 + (out === 0 ? 1 : 0));
      for (const [at, spending] of spendings.entries()) if (at !== out) window.withdraw(spending, 5);
      window.spend(3, 6);
      expect([window.spent(6), window.requestLeavesInMs(6)]).toEqual([{ requests: 1, tokens: 3 }, 60_000]);
    }
  });

  test('what has left is neither settled nor taken out', () => {
    const window = createSlidingWindow();
    const [settled, withdrawn] = [window.spend(5, 0), window.spend(6, 0)];
    window.spend(1, 60_000);
    window.settle(settled, 500, 60_000);
    window.withdraw(withdrawn, 60_000);
    expect(window.spent(60_000)).toEqual({ requests: 1, tokens: 1 });
  });

  test('tokens leave with their requests; what still runs may leave sooner', () => {
    const window = createSlidingWindow();
    window.settle(window.spend(10, 0), null, 0);
    const running = window.spend(10, 1000);
    window.settle(window.spend(10, 2000), null, 2000);
    const leave = (tokens: number): unknown => Object.values(window.tokensLeaveInMs(tokens, 2000));
    expect([leave(1), leave(10), leave(11), leave(20), leave(21), leave(30)]).toEqual([[58_000, 0], [58_000, 0], [59_000, 58_000], [59_000, 58_000], [60_000, 60_000], [60_000, 60_000]]);
    window.settle(running, null, 2000);
    expect([leave(10), leave(11), leave(30)]).toEqual([[58_000, 58_000], [59_000, 59_000], [60_000, 60_000]]);
  });

  test('it remembers one window and no more, whoever still holds an old request', () => {
    const window = createSlidingWindow();
    const old = window.spend(1, 0);
    let newest = old;
    for (let nowMs = 1; nowMs <= 300_000; nowMs += 1) {
      window.spent(nowMs);
      newest = window.spend(1, nowMs);
    }
    expect([window.spent(300_000).requests, chainLength(newest)]).toEqual([60_000, 60_000]);
    expect([old.older, old.newer]).toEqual([undefined, undefined]);
  });
});
