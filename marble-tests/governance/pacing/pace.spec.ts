import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { concurrencyOf, pace, unpaced } from '../../../lib/governance/pacing/pace.js';
import type { Pace, PaceEvent } from '../../../lib/governance/pacing/pace.js';

type Ended = Extract<PaceEvent, { type: 'ended' }>['outcome'];

/** So many admitted, so that they belong to the state's epoch. */
function admitted(count: number, from: Pace = unpaced): Pace {
  return Array.from({ length: count }).reduce<Pace>((state) => pace(state, { type: 'admitted' }), from);
}

function ended(state: Pace, outcome: Ended, { times = 1, epoch = state.epoch }: { times?: number; epoch?: number } = {}): Pace {
  return Array.from({ length: times }).reduce<Pace>((one) => pace(one, { type: 'ended', epoch, outcome }), state);
}

/** One after the other, never more than one in flight. */
function oneByOne(state: Pace, outcome: Ended, times: number): Pace {
  return Array.from({ length: times }).reduce<Pace>((one) => ended(admitted(1, one), outcome), state);
}

/** A source paced to this, with nothing in flight. */
const pacedTo = (limit: number): Pace => ({ ...unpaced, limit });

/** As many as may run succeed one after the other, and others take every place that is free. */
function roundTrip(state: Pace): Pace {
  const refilled = (one: Pace): Pace => admitted(Math.max(0, concurrencyOf(one) - one.inFlight), one);
  return Array.from({ length: concurrencyOf(state) }).reduce<Pace>((one) => refilled(ended(one, 'success')), refilled(state));
}

/** The state before and after each of so many round trips. */
function roundTrips(from: Pace, count: number): Pace[] {
  return Array.from({ length: count }).reduce<Pace[]>((states) => [...states, roundTrip(states.at(-1)!)], [from]);
}

describe('decrease', () => {
  test('R-Q7: fifty 429s of one round trip are one step, 50 to 45', () => {
    const state = ended(admitted(50), 'rate-limited', { times: 50, epoch: 0 });
    expect(state).toEqual({ limit: 45, inFlight: 0, epoch: 1, slowStart: false });
  });

  test('G5: a 429 of a request that was admitted after the decrease is the next step', () => {
    const once = ended(admitted(50), 'rate-limited');
    expect(once.limit).toBe(45);
    const again = ended(admitted(1, ended(once, 'failure', { times: 9, epoch: 0 })), 'rate-limited');
    expect([again.limit, again.epoch]).toEqual([(41 * 9) / 10, 2]);
  });

  test('G5: it starts from what was in flight where that is less than the limit', () => {
    expect(ended(admitted(10, pacedTo(100)), 'rate-limited').limit).toBe(9);
    expect(ended(admitted(100, pacedTo(10)), 'rate-limited').limit).toBe(9);
  });

  test('it never goes below one request at once', () => {
    const state = oneByOne(unpaced, 'rate-limited', 20);
    expect([state.limit, concurrencyOf(state), state.epoch]).toEqual([1, 1, 20]);
  });
});

describe('increase', () => {
  test('G5: about one more a round trip', () => {
    const limits = roundTrips(pacedTo(10), 20).map(({ limit }) => limit);
    for (const [at, limit] of limits.entries()) {
      expect(limit).toBeGreaterThanOrEqual(10 + at * 0.9);
      expect(limit).toBeLessThanOrEqual(10 + at);
    }
  });

  test('R-Q7: only while at least half of the limit is in use', () => {
    expect(ended(admitted(5, pacedTo(10)), 'success').limit).toBe(10.1);
    expect(ended(admitted(4, pacedTo(10)), 'success').limit).toBe(10);
    expect(oneByOne(pacedTo(10), 'success', 1000).limit).toBe(10);
  });

  test('what is not paced does not grow', () => {
    expect(oneByOne(unpaced, 'success', 10)).toEqual(unpaced);
  });

  test('R-Q7: only by what was admitted since the last change', () => {
    const before = ended(admitted(50), 'rate-limited');
    expect(ended(before, 'success', { times: 49, epoch: 0 }).limit).toBe(45);
  });

  test.each(['failure', 'cancelled', 'unsent'] as const)('R-Q7: %s teaches nothing, and leaves', (outcome) => {
    expect(ended(admitted(10, pacedTo(10)), outcome, { times: 10 })).toEqual(pacedTo(10));
  });
});

describe('restart', () => {
  const restarted = (state: Pace): Pace => pace(state, { type: 'restarted' });

  test('R-B4: one at once, then twice as many each round trip', () => {
    expect(roundTrips(restarted(unpaced), 4).map(concurrencyOf)).toEqual([1, 2, 4, 8, 16]);
  });

  test('R-B4: … until the first 429, then about one more', () => {
    const grown = roundTrips(restarted(unpaced), 3)[3]!;
    const cut = ended(grown, 'rate-limited', { times: 8, epoch: grown.epoch });
    expect([cut.limit, cut.inFlight, cut.slowStart]).toEqual([7.2, 0, false]);
    expect(roundTrips(cut, 2).map(concurrencyOf)).toEqual([7, 8, 9]);
  });

  test('R-B4: what was sent before teaches nothing', () => {
    const state = restarted(admitted(20));
    expect(ended(ended(state, 'success', { times: 10, epoch: 0 }), 'rate-limited', { times: 10, epoch: 0 })).toEqual({ limit: 1, inFlight: 0, epoch: 1, slowStart: true });
  });

  test('what nobody has tried is not trusted: one by one, the limit stays within three', () => {
    expect(oneByOne(restarted(unpaced), 'success', 1000).limit).toBe(3);
  });
});

test('G3: any history leaves nothing in flight and a limit of at least 1; it shrinks once an epoch, grows by at most 1', () => {
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ type: 'admitted' as const }) },
    { weight: 6, arbitrary: fc.record({ type: fc.constant('ended' as const), which: fc.nat(), outcome: fc.constantFrom<Ended>('success', 'success', 'failure', 'rate-limited', 'cancelled', 'unsent') }) },
    { weight: 1, arbitrary: fc.constant({ type: 'restarted' as const }) },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200, size: 'max' }), (events) => {
      const epochs: number[] = [];
      let state = unpaced;
      const tell = (told: PaceEvent): void => {
        const before = state;
        state = pace(before, told);
        if (state.limit < before.limit && state.epoch !== before.epoch + 1) throw new Error('it shrank within an epoch');
        if (state.limit > before.limit + 1) throw new Error('it leapt');
        if (!(state.limit >= 1)) throw new Error('it fell below 1');
      };
      for (const one of events) {
        if (one.type === 'ended') {
          for (const epoch of epochs.splice(one.which % Math.max(1, epochs.length), 1)) tell({ type: 'ended', epoch, outcome: one.outcome });
        } else {
          if (one.type === 'admitted') epochs.push(state.epoch);
          tell(one);
        }
      }
      expect(state.inFlight).toBe(epochs.length);
      for (const epoch of epochs) tell({ type: 'ended', epoch, outcome: 'success' });
      expect(state.inFlight).toBe(0);
    }),
    { numRuns: 500 },
  );
});
