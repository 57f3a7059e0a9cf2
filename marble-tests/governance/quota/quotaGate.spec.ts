import { describe, expect, test } from '@jest/globals';
import { EMPTY, catchError, concat, finalize, of, switchMap, timer } from 'rxjs';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Outcome, Permit } from '../../../lib/governance/gate.js';
import { createQuotaGate } from '../../../lib/governance/quota/quotaGate.js';
import type { QuotaGate } from '../../../lib/governance/quota/quotaGate.js';
import type { QuotaLimits } from '../../../lib/governance/quota/quotaRules.js';
import { marbles } from '../../support/marbles.js';
import { admit, ask, said, success, ticketOf, times, unsent } from './ask.js';

const cancelled: Outcome = { type: 'cancelled', totalTokens: null };

/** A quota for `a/1` on a clock that the test sets. */
function quotaAt(limits: Omit<QuotaLimits, 'id'>): { gate: QuotaGate; at: (ms: number) => QuotaGate } {
  let nowMs = 0;
  const gate = createQuotaGate({ sources: [{ id: 'a/1', ...limits }], now: () => nowMs });
  return {
    gate,
    at: (ms) => {
      nowMs = ms;
      return gate;
    },
  };
}

describe('requests at once', () => {
  test('G1: grants up to the limit, refuses what is more, without saying when', () => {
    const { gate } = quotaAt({ maxConcurrency: 2 });
    admit(gate);
    const second = admit(gate);
    expect(said(ask(gate))).toBe('a/1 runs 2 requests already');
    expect(times(ask(gate))).toEqual([0, undefined]);
    expect(gate.inUse()).toEqual({ 'a/1': 2 });
    second.settle(cancelled);
    expect(gate.inUse()).toEqual({ 'a/1': 1 });
    expect(times(ask(gate))).toBe('in');
  });

  test('counts each source for itself; one without a limit is counted, never refused', () => {
    const gate = createQuotaGate({ sources: [{ id: 'a/1', maxConcurrency: 1, rpm: 1, tpm: 100 }, { id: 'b/1' }], now: () => 0 });
    admit(gate);
    for (let count = 0; count < 1000; count += 1) admit(gate, { sourceId: 'b/1', estimatedTokens: 1e6 });
    expect(gate.inUse()).toEqual({ 'a/1': 1, 'b/1': 1000 });
    expect([gate.spent('a/1'), gate.spent('b/1')]).toEqual([{ requests: 1, tokens: 100 }, { requests: 1000, tokens: 1e9 }]);
  });

  test('G3: a permit that is settled twice frees one place', () => {
    const { gate } = quotaAt({ maxConcurrency: 2 });
    admit(gate);
    const permit = admit(gate);
    permit.settle(success(7));
    permit.settle(unsent);
    expect([gate.inUse(), gate.spent('a/1')]).toEqual([{ 'a/1': 1 }, { requests: 2, tokens: 107 }]);
  });

  test('nothing is taken before somebody subscribes', () => {
    const { gate } = quotaAt({ maxConcurrency: 1 });
    const entry$ = gate.enter(ticketOf());
    expect([gate.inUse(), gate.spent('a/1')]).toEqual([{ 'a/1': 0 }, { requests: 0, tokens: 0 }]);
    entry$.subscribe();
    expect(gate.inUse()).toEqual({ 'a/1': 1 });
  });

  test('a permit held in time', marbles(({ expectObservable, scheduler }) => {
    const gate = createQuotaGate({ sources: [{ id: 'a/1', maxConcurrency: 1 }], now: () => scheduler.now() });
    const hold$ = gate.enter(ticketOf()).pipe(
      switchMap((permit) => concat(of('in'), timer(3).pipe(switchMap(() => EMPTY), finalize(() => permit.settle(cancelled))))),
      catchError(() => of('refused')),
    );
    const holder = '           i--|     ';
    const during = '           --(r|)   ';
    const after = '            ----i--| ';

    expectObservable(hold$).toBe(holder, { i: 'in' });
    expectObservable(hold$, '--^').toBe(during, { r: 'refused' });
    expectObservable(hold$, '----^').toBe(after, { i: 'in' });
  }));

  test('QT-07: what runs counts for as long as it runs, also when it started over a minute ago', () => {
    const { at } = quotaAt({ maxConcurrency: 2 });
    const [x, y] = [admit(at(0)), admit(at(0))];
    expect(said(ask(at(61_000)))).toBe('a/1 runs 2 requests already');
    x.settle(success());
    y.settle(success());
    const z = admit(at(90_000));
    expect(at(90_000).inUse()).toEqual({ 'a/1': 1 });
    z.settle(success());
    expect([1, 2, 3].map(() => times(ask(at(100_000))))).toEqual(['in', 'in', [0, undefined]]);
  });
});

describe('requests a minute', () => {
  test('CL-03: the window is one of the monotonic clock: 60 - 4 of 100 start at once, the others when the first have left', () => {
    const { gate, at } = quotaAt({ rpm: 60 });
    for (let count = 0; count < 3; count += 1) admit(at(0)).settle(success());
    admit(at(100)).settle(success());
    at(200);
    const answers = Array.from({ length: 100 }, () => ask(gate));
    expect(answers.filter((answer) => !(answer instanceof AdmissionRefused))).toHaveLength(56);
    expect(times(answers[99]!)).toEqual([59_800, 59_800]);
    expect(said(answers[99]!)).toBe('a/1 was sent 60 requests within 60 s (rpm 60) and takes the next in 59800 ms');
    expect(times(ask(at(59_999.999)))).not.toBe('in');
    at(60_000);
    expect([1, 2, 3, 4].map(() => times(ask(gate)))).toEqual(['in', 'in', 'in', [100, 100]]);
  });

  test('G2: what was not sent takes nothing from the minute', () => {
    const { gate } = quotaAt({ rpm: 1, tpm: 100 });
    for (let count = 0; count < 5; count += 1) admit(gate).settle(unsent);
    expect([gate.spent('a/1'), gate.inUse()]).toEqual([{ requests: 0, tokens: 0 }, { 'a/1': 0 }]);
    admit(gate);
    expect(gate.spent('a/1')).toEqual({ requests: 1, tokens: 100 });
  });
});

describe('tokens a minute', () => {
  test('QT-08, H5: a winner is charged what it used, a cancelled loser its estimate', () => {
    const gate = createQuotaGate({ sources: [{ id: 'a/1', tpm: 1000 }, { id: 'b/1', tpm: 1000 }], now: () => 0 });
    const [winner, loser] = ['a/1', 'b/1'].map((sourceId) => admit(gate, { sourceId, estimatedTokens: 600 }));
    winner!.settle(success(400));
    loser!.settle(cancelled);
    expect([gate.spent('a/1').tokens, gate.spent('b/1').tokens]).toEqual([400, 600]);
    expect(said(ask(gate, { sourceId: 'b/1', estimatedTokens: 401 }))).toBe('b/1 has 600 tokens in use within 60 s (tpm 1000) and room for 401 more in 60000 ms');
    expect([times(ask(gate, { estimatedTokens: 600 })), times(ask(gate, { sourceId: 'b/1', estimatedTokens: 400 }))]).toEqual(['in', 'in']);
  });

  test('G2: what was used over the estimate makes the next wait until enough has left', () => {
    const { at } = quotaAt({ tpm: 1000 });
    admit(at(0), { estimatedTokens: 500 }).settle(success(300));
    admit(at(1000), { estimatedTokens: 500 }).settle(success(5000));
    expect(at(1000).spent('a/1')).toEqual({ requests: 2, tokens: 5300 });
    expect(times(ask(at(2000), { estimatedTokens: 0 }))).toEqual([59_000, 59_000]);
    expect(times(ask(at(61_000), { estimatedTokens: 1000 }))).toBe('in');
  });

  test('G2: a stream that ends after its minute changes nothing any more', () => {
    const { at } = quotaAt({ tpm: 1000 });
    const permit = admit(at(0), { estimatedTokens: 600 });
    expect(at(60_000).spent('a/1')).toEqual({ requests: 0, tokens: 0 });
    permit.settle(success(900));
    expect([at(60_000).spent('a/1'), at(60_000).inUse()]).toEqual([{ requests: 0, tokens: 0 }, { 'a/1': 0 }]);
  });

  test('an estimate over the limit counts as the limit, and gets the window to itself', () => {
    for (const estimatedTokens of [1001, 1e9, Infinity, NaN]) {
      const { at } = quotaAt({ tpm: 1000 });
      admit(at(0), { estimatedTokens: 1 }).settle(success());
      expect(times(ask(at(100), { estimatedTokens }))).toEqual([59_900, 59_900]);
      admit(at(60_000), { estimatedTokens });
      expect(at(60_000).spent('a/1')).toEqual({ requests: 1, tokens: 1000 });
    }
  });

  test.each([NaN, Infinity, -Infinity, -1])('a report of %p tokens is none: the estimate stands', (totalTokens) => {
    const { gate } = quotaAt({ tpm: 1000 });
    admit(gate, { estimatedTokens: 600 }).settle(success(totalTokens));
    expect(gate.spent('a/1').tokens).toBe(600);
  });

  test('figures beyond belief and parts of tokens leave no remainder behind', () => {
    const { at } = quotaAt({});
    for (const tokens of [0.1, 1e300, 0.2, Number.MAX_SAFE_INTEGER, 3]) admit(at(0), { estimatedTokens: tokens }).settle(success(tokens / 3));
    admit(at(1), { estimatedTokens: 5 });
    expect(at(60_000).spent('a/1')).toEqual({ requests: 1, tokens: 5 });
    expect(at(60_001).spent('a/1')).toEqual({ requests: 0, tokens: 0 });
  });

  test('B4: what still runs may free its tokens any moment, so asking before it leaves may help', () => {
    const { at } = quotaAt({ tpm: 1000 });
    admit(at(0), { estimatedTokens: 300 }).settle(success());
    const running = admit(at(5000), { estimatedTokens: 600 });
    expect(times(ask(at(10_000), { estimatedTokens: 500 }))).toEqual([0, 55_000]);
    expect(times(ask(at(10_000), { estimatedTokens: 800 }))).toEqual([50_000, 55_000]);
    expect(times(ask(at(10_000), { estimatedTokens: 400 }))).toEqual([0, 50_000]);
    running.settle(success());
    expect(times(ask(at(10_000), { estimatedTokens: 500 }))).toEqual([55_000, 55_000]);
    expect(times(ask(at(10_000), { estimatedTokens: 400 }))).toEqual([50_000, 50_000]);
  });
});

describe('several limits', () => {
  test('R-Q6: together or not at all: whichever is full, none of the others is touched', () => {
    for (const limits of [{ rpm: 1 }, { tpm: 100 }, { maxConcurrency: 1 }]) {
      const { gate } = quotaAt({ rpm: 10, tpm: 10_000, maxConcurrency: 10, ...limits });
      admit(gate);
      const before = [gate.inUse(), gate.spent('a/1')];
      for (let count = 0; count < 3; count += 1) expect(times(ask(gate))).not.toBe('in');
      expect([gate.inUse(), gate.spent('a/1')]).toEqual(before);
    }
  });

  test('full in several ways, it says all of them, and the last time of those that are known', () => {
    const { at } = quotaAt({ rpm: 2, tpm: 1000, maxConcurrency: 1 });
    admit(at(0), { estimatedTokens: 1 }).settle(success());
    admit(at(500), { estimatedTokens: 900 });
    const refused = ask(at(1000), { estimatedTokens: 600 });
    expect(said(refused)).toBe(
      'a/1 runs 1 requests already, and a/1 was sent 2 requests within 60 s (rpm 2) and takes the next in 59000 ms, and a/1 has 901 tokens in use within 60 s (tpm 1000) and room for 600 more in 59500 ms',
    );
    expect(times(refused)).toEqual([59_000, 59_500]);
  });
});

test('R-Q5: of 50 at once, as many are let in as the tokens of the minute allow', () => {
  const { gate } = quotaAt({ tpm: 1000 });
  const permits = Array.from({ length: 50 }, () => ask(gate, { estimatedTokens: 300 })).filter((answer): answer is Permit => !(answer instanceof AdmissionRefused));
  expect(permits).toHaveLength(3);
  for (const [at, permit] of permits.entries()) permit.settle(success(100 + at));
  expect(gate.spent('a/1').tokens).toBe(303);
});
