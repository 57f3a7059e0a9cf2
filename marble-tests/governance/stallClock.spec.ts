import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { VirtualTimeScheduler, delay, map, timer } from 'rxjs';
import { createStallClock } from '../../lib/governance/stallClock.js';

/** A stall clock on a clock that the test sets. */
function clockAt(enteredMs = 0): { at: (ms: number) => number; start: (ms: number) => (endMs: number) => void } {
  let nowMs = enteredMs;
  const clock = createStallClock({ now: () => nowMs });
  return {
    at: (ms) => {
      nowMs = ms;
      return clock.stalledMs();
    },
    start: (ms) => {
      nowMs = ms;
      const end = clock.attempting();
      return (endMs) => {
        nowMs = endMs;
        end();
      };
    },
  };
}

describe('stall clock', () => {
  test('B2: without an attempt all time is stalled, counted from the call\'s start', () => {
    const { at } = clockAt(500);
    expect([at(500), at(800), at(10_500)]).toEqual([0, 300, 10_000]);
  });

  test('B2: it stands still while an attempt is in flight, and goes on after it', () => {
    const { at, start } = clockAt();
    const end = start(100);
    expect([at(100), at(5000)]).toEqual([100, 100]);
    end(9000);
    expect([at(9000), at(9250)]).toEqual([100, 350]);
  });

  test('B2: two concurrent attempts count once, however they overlap', () => {
    const { at, start } = clockAt();
    const endPrimary = start(1000);
    const endBackup = start(3000);
    endPrimary(4000);
    expect(at(6000)).toBe(1000);
    endBackup(7000);
    expect(at(8000)).toBe(2000);
  });

  test('B2: several rounds add up', () => {
    const { at, start } = clockAt();
    start(100)(600);
    start(1000)(2000);
    expect(at(2500)).toBe(100 + 400 + 500);
  });

  test('B2: one per call: two clocks know nothing of each other', () => {
    const [first, second] = [clockAt(), clockAt()];
    first.start(0);
    expect([first.at(1000), second.at(1000)]).toEqual([0, 1000]);
  });

  test('B2: equal to age minus the time that any attempt covers, for random attempts', () => {
    const spans = fc.array(fc.record({ fromMs: fc.integer({ min: 0, max: 200 }), forMs: fc.integer({ min: 0, max: 60 }) }), { maxLength: 12 });
    fc.assert(
      fc.property(spans, (attempts) => {
        const scheduler = new VirtualTimeScheduler();
        const clock = createStallClock({ now: () => scheduler.now() });
        for (const { fromMs, forMs } of attempts) {
          timer(fromMs, scheduler).pipe(map(() => clock.attempting()), delay(forMs, scheduler)).subscribe((end) => end());
        }
        timer(300, scheduler).subscribe();
        scheduler.flush();
        const busy = new Set(attempts.flatMap(({ fromMs, forMs }) => Array.from({ length: forMs }, (_, ms) => fromMs + ms)));
        expect(clock.stalledMs()).toBe(300 - busy.size);
      }),
      { numRuns: 500 },
    );
  });
});
