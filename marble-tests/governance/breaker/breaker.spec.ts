import { describe, expect, test } from '@jest/globals';
import { freshBreaker, transition, verdictOf } from '../../../lib/governance/breaker/breaker.js';
import type { BreakerEvent, BreakerPolicy, BreakerState } from '../../../lib/governance/breaker/breaker.js';

/** Three in a row; the share alone opens nothing. */
const byRow: BreakerPolicy = { failures: 3, cooldownMs: 30_000, cooldownMaxMs: 300_000, ratio: 1, windowMs: 60_000, minCalls: 1000 };
/** Half of at least ten; a row alone opens nothing. */
const byShare: BreakerPolicy = { ...byRow, failures: 1000, ratio: 0.5, minCalls: 10 };

/** What an attempt of the present generation tells, admitted in the same instant unless said otherwise. */
type Told = 'ok' | 'neutral' | 'unsent' | 'probe' | { readonly failedAfterMs: number; readonly random?: number };
const failed: Told = { failedAfterMs: 0 };

function eventOf(told: Told, state: BreakerState, nowMs: number): BreakerEvent {
  const { generation } = state;
  if (told === 'probe') return { type: 'probe-taken', leaseMs: 30_000 };
  if (told === 'ok') return { type: 'succeeded', generation };
  if (told === 'neutral') return { type: 'neutral', generation };
  if (told === 'unsent') return { type: 'undone', generation, before: freshBreaker };
  return { type: 'failed', generation, admittedMs: nowMs - told.failedAfterMs, random: told.random ?? 1 };
}

type Timed = readonly [atMs: number, ...told: Told[]];

function played(policy: BreakerPolicy, timeline: readonly Timed[], from: BreakerState = freshBreaker): BreakerState {
  const flat = timeline.flatMap(([atMs, ...all]) => all.map((told) => ({ atMs, told })));
  return flat.reduce((state, { atMs, told }) => transition(state, eventOf(told, state, atMs), atMs, policy), from);
}

const repeat = (count: number, told: Told): Told[] => Array.from({ length: count }, () => told);
const open: BreakerState = played(byRow, [[0, ...repeat(3, failed)]]);
const halfOpen: BreakerState = played(byRow, [[30_000, 'probe']], open);

describe('opens', () => {
  test.each<[string, BreakerPolicy, readonly Timed[], BreakerState['type']]>([
    ['G4: after failures in a row', byRow, [[0, failed, failed, failed]], 'open'],
    ['G4: not after one fewer', byRow, [[0, failed, failed]], 'closed'],
    ['G4: a success begins a new row', byRow, [[0, failed, failed, 'ok', failed, failed]], 'closed'],
    ['BR-02: neutral results neither add nor erase', byRow, [[0, failed, 'neutral', failed, 'unsent', 'neutral', failed]], 'open'],
    ['R-B6: an idle window begins a new row', { ...byRow, failures: 5 }, [[0, ...repeat(4, failed)], [3_600_000, failed]], 'closed'],
    ['R-B6: an attempt admitted just a window after the last result does not', byRow, [[0, failed, failed], [60_000, failed]], 'open'],
    ['R-B6: one admitted later than that does', byRow, [[0, failed, failed], [60_001, failed]], 'closed'],
    ['R-B6: neutral results do not bridge an idle window', byRow, [[0, failed, failed], [50_000, 'neutral'], [100_000, failed]], 'closed'],
    ['R-B6: the new row counts from its first failure', byRow, [[0, failed, failed], [100_000, failed, failed]], 'closed'],
    ['R-B6: … and opens as any other', byRow, [[0, failed, failed], [100_000, failed, failed, failed]], 'open'],
    ['W2: slowness is no idleness: attempts of 120 s each, one right after the other', byRow, [1, 2, 3].map((n) => [n * 120_000, { failedAfterMs: 120_000 }]), 'open'],
    ['G4: at the ratio of enough results', byShare, [[0, ...repeat(5, 'ok'), ...repeat(5, failed)]], 'open'],
    ['G4: not under the ratio', byShare, [[0, ...repeat(6, 'ok'), ...repeat(5, failed)]], 'closed'],
    ['G4: not of too few results', byShare, [[0, ...repeat(9, failed)]], 'closed'],
    ['G4: a row counts in the share however it was broken', byShare, [[0, failed, 'ok', failed, 'ok', failed, 'ok', failed, 'ok', failed, failed]], 'open'],
    ['BR-02: neutral results do not make enough results', byShare, [[0, ...repeat(8, failed), ...repeat(5, 'neutral'), failed]], 'closed'],
    ['BR-02: … nor do they dilute the share', byShare, [[0, ...repeat(9, failed), ...repeat(20, 'neutral'), failed]], 'open'],
    ['R-B6: what is older than the window does not count', byShare, [[0, ...repeat(9, failed)], [60_000, failed]], 'closed'],
    ['R-B6: what is within nine tenths of it does', byShare, [[5999, ...repeat(9, failed)], [59_999, failed]], 'open'],
    ['R-B6: old successes do not dilute it either', byShare, [[0, ...repeat(500, 'ok')], [60_000, ...repeat(10, failed)]], 'open'],
  ])('%s', (_, policy, timeline, type) => {
    expect(played(policy, timeline).type).toBe(type);
  });

  test('R-B7: memory is bounded whatever the traffic', () => {
    const timeline = Array.from({ length: 5000 }, (_, n): Timed => [n * 77, 'ok', failed]);
    const state = played({ ...byShare, ratio: 0.9 }, timeline);
    expect(state.type === 'closed' && state.buckets.length).toBe(10);
  });

  test('R-B7: any number of simultaneous failures is one opening', () => {
    const admitted = freshBreaker.generation;
    const late = (state: BreakerState, atMs: number): BreakerState => transition(state, { type: 'failed', generation: admitted, admittedMs: 0, random: 1 }, atMs, byRow);
    const states = Array.from({ length: 50 }).reduce<BreakerState[]>((all, _, at) => [...all, late(all.at(-1)!, 1000 + at)], [freshBreaker]);
    expect(states[3]).toEqual({ type: 'open', generation: 1, level: 0, coolDownMs: 30_000, untilMs: 31_002 });
    for (const state of states.slice(4)) expect(state).toBe(states[3]);
  });
});

describe('cools down', () => {
  const coolDownOf = (state: BreakerState): unknown => (state.type === 'closed' ? 'closed' : state.coolDownMs);
  /** A probe each time it is ready, so many of which fail. */
  const outage = (count: number, state: BreakerState = open): BreakerState =>
    Array.from({ length: count }).reduce<BreakerState>((one) => (one.type === 'open' ? played(byRow, [[one.untilMs, 'probe', failed]], one) : one), state);
  /** Closes after it, and stays so for that long before it opens anew. */
  const relapse = (state: BreakerState, healthyMs: number): BreakerState => {
    const atMs = state.type === 'open' ? state.untilMs : 0;
    return played(byRow, [[atMs, 'probe', 'ok'], [atMs + healthyMs, failed, failed, failed]], state);
  };

  test('R-B5: twice as long with each probe that fails, up to the most', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((count) => coolDownOf(outage(count)))).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  });

  test('R-B5: who relapses at once goes on where it was', () => {
    expect([0, 1, 2].map((count) => coolDownOf(relapse(outage(count), 0)))).toEqual([60_000, 120_000, 240_000]);
    expect(coolDownOf(relapse(relapse(open, 1000), 1000))).toBe(120_000);
  });

  test('R-B5: a window of health forgives one opening', () => {
    const healthyMs = [0, 59_999, 60_000, 119_999, 120_000, 180_000, 240_000, 1e9];
    expect(healthyMs.map((ms) => coolDownOf(relapse(outage(2), ms)))).toEqual([240_000, 240_000, 120_000, 120_000, 60_000, 30_000, 30_000, 30_000]);
  });

  test('R-B5: a night of failed probes is forgiven as soon as a few minutes of them', () => {
    expect([5, 500].map((count) => coolDownOf(relapse(outage(count), 4 * 60_000)))).toEqual([30_000, 30_000]);
  });

  test('R-B5: jitter only shortens, by a fifth at most, the longest too', () => {
    const opened = (random: number, policy: BreakerPolicy): unknown => coolDownOf(played(policy, [[0, failed, failed, { failedAfterMs: 0, random }]]));
    const most = { ...byRow, cooldownMs: 400_000 };
    expect([0, 0.5, 1].map((random) => opened(random, byRow))).toEqual([24_000, 27_000, 30_000]);
    expect([0, 0.5, 1].map((random) => opened(random, most))).toEqual([240_000, 270_000, 300_000]);
  });
});

describe('lets in', () => {
  test.each<[string, BreakerState, number, unknown]>([
    ['whoever comes, while closed', freshBreaker, 0, { type: 'pass' }],
    ['R-B7: nobody before its cool-down is over', open, 29_999.5, { type: 'cooling', leftMs: 0.5 }],
    ['R-B7: a probe then, without any timer', open, 30_000, { type: 'probe' }],
    ['R-B2: nobody beside the probe', halfOpen, 59_999.5, { type: 'probing', leftMs: 0.5 }],
    ['BR-04: another probe when the place of the first has lapsed', halfOpen, 60_000, { type: 'probe' }],
  ])('%s', (_, state, nowMs, verdict) => {
    expect(verdictOf(state, nowMs)).toEqual(verdict);
  });

  test.each<[string, BreakerState, number]>([['closed', freshBreaker, 0], ['cooling down', open, 29_999], ['probed already', halfOpen, 59_999]])('R-B2: no probe can be taken while %s', (_, state, nowMs) => {
    expect(transition(state, { type: 'probe-taken', leaseMs: 1 }, nowMs, byRow)).toBe(state);
  });
});

describe('a probe', () => {
  test('R-B2: takes the place for as long as its lease', () => {
    expect(halfOpen).toEqual({ type: 'half-open', generation: 2, level: 0, coolDownMs: 30_000, untilMs: 30_000, leaseUntilMs: 60_000 });
  });

  test('R-B2: that succeeds closes', () => {
    expect(played(byRow, [[31_000, 'ok']], halfOpen)).toEqual({ ...freshBreaker, generation: 3, level: 1, sinceMs: 31_000 });
  });

  test('R-B5: that fails opens again, for longer', () => {
    expect(played(byRow, [[31_000, failed]], halfOpen)).toEqual({ type: 'open', generation: 3, level: 1, coolDownMs: 60_000, untilMs: 91_000 });
  });

  test('BR-01, BR-03: without a verdict leaves the breaker open, and ready for the next at once', () => {
    const ready = played(byRow, [[31_000, 'neutral']], halfOpen);
    expect(ready).toEqual({ ...open, generation: 3 });
    expect(verdictOf(ready, 31_000)).toEqual({ type: 'probe' });
  });

  test.each<[string, BreakerState, number]>([['an open breaker', open, 30_000], ['a half-open one whose probe has lapsed', halfOpen, 60_000]])('G1: that was not sent leaves %s as it was', (_, before, nowMs) => {
    const probing = transition(before, { type: 'probe-taken', leaseMs: 5000 }, nowMs, byRow);
    expect(probing).not.toEqual(before);
    expect(transition(probing, { type: 'undone', generation: probing.generation, before }, nowMs + 1, byRow)).toEqual(before);
  });

  test('BR-04 b: that has lapsed has a say until another takes its place, and none after that', () => {
    expect(played(byRow, [[70_000, 'ok']], halfOpen).type).toBe('closed');
    const another = played(byRow, [[60_000, 'probe']], halfOpen);
    for (const told of ['ok', failed, 'neutral', 'unsent'] as const) expect(transition(another, eventOf(told, halfOpen, 70_000), 70_000, byRow)).toBe(another);
  });
});

describe('R-B1: a result of another generation changes nothing', () => {
  const closedAgain = played(byRow, [[31_000, 'ok']], halfOpen);
  const openAgain = played(byRow, [[31_000, failed]], halfOpen);
  const all = { freshBreaker, open, halfOpen, closedAgain, openAgain };

  test.each(Object.entries(all))('%s', (_, state) => {
    for (const generation of [0, 1, 2, 3, 4].filter((other) => other !== state.generation)) {
      for (const told of ['ok', failed, 'neutral', 'unsent'] as const) {
        expect(transition(state, eventOf(told, { ...state, generation }, 200_000), 200_000, byRow)).toBe(state);
      }
    }
  });

  test('nor does one of its own change an open breaker, which admits nobody', () => {
    for (const told of ['ok', failed, 'neutral', 'unsent'] as const) expect(transition(open, eventOf(told, open, 40_000), 40_000, byRow)).toBe(open);
  });
});

test('G6: every state survives JSON', () => {
  const states = [freshBreaker, played(byRow, [[5, failed, 'ok']]), open, halfOpen];
  expect(JSON.parse(JSON.stringify(states))).toEqual(states);
});
