import { describe, expect, test } from '@jest/globals';
import type { Holder, WorldSpec } from '../holders.js';
import { failure, inWorld, success } from './inWorld.js';

const twoSources: WorldSpec = { sources: [{ id: 'a/1', limits: {}, rpm: 2 }, { id: 'b/1', limits: {} }], breaker: { failures: 1 } };
const minuteMs = 60_000;

/** Sources that asked to be left alone. */
export function parkingContract(holder: Holder): void {
  const parked = (run: Parameters<typeof inWorld>[2]): (() => Promise<void>) => inWorld(holder, twoSources, run);

  describe('parking', () => {
    test('R3: a parked source is refused with the time that is left, until exactly then', parked(async ({ governance, says, times, heard, advance }) => {
      governance.parking.park('a/1', 1000);
      await heard();
      expect(await says()).toBe('a/1 asked for a pause of 1000 ms more');
      advance(999);
      expect(await times()).toEqual([1, 1]);
      advance(1);
      expect(await times()).toBe('in');
    }));

    test('R3: it holds from the turn in which it is said, and for that source only', parked(async ({ governance, says }) => {
      governance.parking.park('a/1', 1000);
      expect([await says(), await says({ sourceId: 'b/1' })]).toEqual(['a/1 asked for a pause of 1000 ms more', 'in']);
    }));

    test('BO-10: a second, longer wish extends the first', parked(async ({ governance: { parking }, times, heard, advance }) => {
      parking.park('a/1', 1000);
      advance(350);
      parking.park('a/1', 60_000);
      await heard();
      advance(2000);
      expect(await times()).toEqual([58_000, 58_000]);
    }));

    test('BO-10: a shorter wish never shortens a longer one', parked(async ({ governance: { parking }, times, heard, advance }) => {
      parking.park('a/1', 60_000);
      advance(1000);
      parking.park('a/1', 1000);
      await heard();
      expect(await times()).toEqual([59_000, 59_000]);
      advance(58_999);
      expect(await times()).toEqual([1, 1]);
      advance(1);
      expect(await times()).toBe('in');
    }));

    test('R3: a wish that is over counts for nothing', parked(async ({ governance: { parking }, times, heard, advance }) => {
      parking.park('a/1', 60_000);
      advance(70_000);
      parking.park('a/1', 500);
      await heard();
      expect(await times()).toEqual([500, 500]);
    }));

    test.each([9e9, Infinity])('R3: whatever it asked for (%p ms), it is asked again after 15 minutes', (forMs) =>
      parked(async ({ governance: { parking }, times, heard, advance }) => {
        parking.park('a/1', forMs);
        await heard();
        expect(await times()).toEqual([15 * minuteMs, 15 * minuteMs]);
        expect(parking.parked()).toEqual({ 'a/1': 15 * minuteMs });
        advance(15 * minuteMs - 1);
        expect(await times()).toEqual([1, 1]);
        advance(1);
        expect(await times()).toBe('in');
      })());

    test('R3: the 15 minutes are those of the last wish', parked(async ({ governance: { parking }, times, heard, advance }) => {
      parking.park('a/1', 9e9);
      advance(5 * minuteMs);
      parking.park('a/1', 9e9);
      await heard();
      advance(14 * minuteMs);
      expect(await times()).toEqual([minuteMs, minuteMs]);
    }));

    test('R3: a pause of up to 60 s is worth waiting for, a longer one is hopeless until it has come down to that', parked(async ({ governance: { parking }, enter, heard, advance }) => {
      parking.park('a/1', minuteMs + 1);
      await heard();
      expect(await enter()).toMatchObject({ asked: true, hopeless: true });
      advance(1);
      expect(await enter()).toMatchObject({ asked: true, hopeless: false });
    }));

    test('R3: tells who is parked and for how long, and forgets who is not', parked(async ({ governance: { parking }, heard, advance }) => {
      parking.park('a/1', 1000);
      parking.park('b/1', 2000);
      await heard();
      advance(500);
      expect(parking.parked()).toEqual({ 'a/1': 500, 'b/1': 1500 });
      advance(500);
      expect(parking.parked()).toEqual({ 'b/1': 1000 });
      advance(5000);
      expect(parking.parked()).toEqual({});
    }));

    test('R-Q6: a refusal takes nothing of the minute, and what runs already runs on', parked(async ({ governance: { parking }, admit, crowd, end, heard, advance }) => {
      const running = await admit();
      parking.park('a/1', 1000);
      await heard();
      for (let count = 0; count < 5; count += 1) expect(await crowd(1)).toEqual([]);
      await end(running, success());
      advance(1000);
      expect(await crowd(5)).toHaveLength(1);
    }));

    test('G1: parked and with an open breaker, it is let in when the last of them agrees', parked(async ({ governance: { parking }, admit, end, enter, heard, advance }) => {
      await end(await admit(), failure);
      parking.park('a/1', 50_000);
      await heard();
      advance(10_000);
      // It may know of the pause alone: what is heard first is enough, as long as nobody is let in.
      expect(await enter()).toMatchObject({ message: expect.stringContaining('a/1 asked for a pause of 40000 ms more'), notBeforeMs: 40_000, retryAfterMs: 40_000, asked: true });
      advance(39_999);
      expect(await enter()).toMatchObject({ notBeforeMs: 1 });
      advance(1);
      expect(await enter()).toHaveProperty('settle');
    }));
  });
}
