import { describe, expect, test } from '@jest/globals';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const stalled = { code: 'all_sources_exhausted', reason: 'stalled' };
const busy = (untilS: number): { scripts: string[]; maxConcurrency: number; interTokenS: number } => ({ scripts: [`d1 f${untilS}`], maxConcurrency: 1, interTokenS: 4000 });

describe('the stall budget', () => {
  test('B6: window, timeout and first-increment limit of 300 s: the first attempt times out, the second answers', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['', 'd1"ok" f2'], ttftS: 300, timeoutS: 300 }], { stallWindowMs: 300_000 });
    expectCall(gateway).toAnswer('303s (r|)', { content: 'ok', callMs: 303_000, stats: { waitedMs: 1000, attempts: 2 } });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs')).toEqual([['transient', 300_000], [null, 2000]]);
  }));

  test('B1: time of real attempts never counts, however long they take', wholeCalls(({ gatewayOf, expectCall }) => {
    // Rounds of 300 s; the waits between them, 1 + 2 + 4 s, just fill the window.
    const policy = { stallWindowMs: 7000, maxAttempts: 4 };
    expectCall(gatewayOf([{ scripts: [''], ttftS: 300, timeoutS: 300 }], policy)).toFail('1207s #', { reason: 'retry_exhausted', attempts: 4 });
    expectCall(gatewayOf([{ scripts: ['', '', '', 'd1 f2'], ttftS: 300, timeoutS: 300 }], policy)).toAnswer('909s (r|)', { stats: { waitedMs: 7000 } });
  }));

  test('B1, B3: mere waiting fills the window', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([busy(100)], { stallWindowMs: 20_000, pollEveryMs: 500 });
    expectCall(gateway).toAnswer('100s (r|)');
    expectCall(gateway, { atMs: 10_000 }).toFail('30500ms #', { ...stalled, attempts: 0 });
    flush();
    expect(gateway.rows).toHaveLength(1);
  }));

  test('B3, B6: 429 for ever is given up within one wait of the window', wholeCalls(({ gatewayOf, expectCall }) => {
    // Waits of 1, 2, 4 and 8 s make 15; the next one, of 16 s, ends at 31.
    expectCall(gatewayOf(['L0.1'], { stallWindowMs: 20_000 })).toFail('31500ms #', { ...stalled, attempts: 5, cause: { code: 'rate_limited' } });
    expectCall(gatewayOf(['L0.1(ra=5)'], { stallWindowMs: 20_000, maxAttempts: 1, backoffMaxMs: 2000 })).toFail('25500ms #', { ...stalled, attempts: 5 });
  }));

  test('B2: two attempts in flight count once', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T9', 'd1 f2'] }, 'd1 T6'], { hedgeStallAfterMs: 3000 });
    // A from 0 to 9, B from 4 to 10, then one second of backoff, then A again.
    expectCall(gateway).toAnswer('13s (r|)', { callMs: 13_000, stats: { waitedMs: 1000, attempts: 3 } });
  }));

  test('B2: two concurrent calls do not share a clock', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f50'], maxConcurrency: 1, interTokenS: 100 }], { stallWindowMs: 20_000, pollEveryMs: 1000 });
    expectCall(gateway).toAnswer('50s (r|)', { stats: { waitedMs: 0 } });
    expectCall(gateway, { atMs: 5000 }).toFail('26s #', stalled);
    expectCall(gateway, { atMs: 40_000 }).toAnswer('100s (r|)', { stats: { waitedMs: 10_000 } });
  }));

  // Whether the call has waited for longer than the window, and whether its scope has had no answer for so long.
  const quadrants: Record<string, { ownWaitS: number; lastAnswerS: number; givenUp: boolean }> = {
    'both over: given up': { ownWaitS: 21, lastAnswerS: 0, givenUp: true },
    'only the own wait over: the scope lives, so it waits on': { ownWaitS: 21, lastAnswerS: 18, givenUp: false },
    'only the scope`s silence over: it waits on': { ownWaitS: 15, lastAnswerS: 0, givenUp: false },
    'neither: it waits on': { ownWaitS: 15, lastAnswerS: 18, givenUp: false },
  };
  for (const [which, { ownWaitS, lastAnswerS, givenUp }] of Object.entries(quadrants)) {
    test(`B3: ${which}`, wholeCalls(({ gatewayOf, expectCall, at }) => {
      // The call waits for A from 30 s on; progress is noted by the scope, here by hand.
      const gateway = gatewayOf([busy(30 + ownWaitS)], { stallWindowMs: 20_000, pollEveryMs: 250 });
      expectCall(gateway).toAnswer(`${30 + ownWaitS}s (r|)`);
      at((30 + lastAnswerS - 0.001) * 1000, () => gateway.progress.noteSuccess());
      const call = expectCall(gateway, { atMs: 30_000 });
      if (givenUp) call.toFail('50250ms #', stalled);
      else call.toAnswer(`${30 + ownWaitS + 30 + ownWaitS}s (r|)`);
    }));
  }

  test('B3: progress that never happened is infinitely old', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: [''], maxConcurrency: 1, ttftS: 100 }], { stallWindowMs: 5000, pollEveryMs: 1000, maxAttempts: 1 });
    expectCall(gateway).toFail('100s #', { reason: 'retry_exhausted' });
    expectCall(gateway).toFail('6s #', stalled);
  }));

  test('B3: what counts is the time already waited, even where the next wait is known to pass the window', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=25)', 'd1 f2'] }], { stallWindowMs: 20_000 })).toFail('25500ms #', { ...stalled, attempts: 1 });
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=20)', 'd1 f2'] }], { stallWindowMs: 20_000 })).toAnswer('22500ms (r|)');
  }));

  test('B3: is asked at the head of every round, before admission, whatever the failure before was', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.5', 'S0.5', 'd1 f2'], { stallWindowMs: 900 });
    // B is free, but a second of backoff is more than the window.
    expectCall(gateway).toFail('1500ms #', { ...stalled, attempts: 1, cause: { code: 'transient' } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 500]], [], []]);
  }));

  test('B3: while the scope progresses a call limited for ever goes on until its deadline', wholeCalls(({ gatewayOf, expectCall, at }) => {
    const gateway = gatewayOf(['L0.1(ra=5)'], { stallWindowMs: 8000, callDeadlineMs: 60_000, backoffMaxMs: 5000 });
    for (let atMs = 1000; atMs < 60_000; atMs += 5000) at(atMs, () => gateway.progress.noteSuccess());
    // The 12th try ends at 56.2; the next wait would end at 61.2.
    expectCall(gateway).toFail('56200ms #', { code: 'call_deadline', attempts: 12 });
  }));

  test('G7: progress is noted on success only', wholeCalls(({ gatewayOf, expectCall }) => {
    const streams = Array.from({ length: 30 }, (_, at) => `d${at + 1}`).join(' ');
    const policy = { stallWindowMs: 5000, pollEveryMs: 1000, maxAttempts: 1 };
    // What streams and is cut off in the end is no progress of the scope; an answer is, and counts for one window more.
    const failing = gatewayOf([{ scripts: [`${streams} T31`], maxConcurrency: 1 }], policy);
    expectCall(failing).toFail('31s #', { reason: 'retry_exhausted' });
    expectCall(failing).toFail('6s #', stalled);
    const answering = gatewayOf([{ scripts: ['d1 f4', `${streams} T31`], maxConcurrency: 1 }], policy);
    expectCall(answering).toAnswer('4s (r|)');
    expectCall(answering).toFail('35s #', { reason: 'retry_exhausted' });
    expectCall(answering).toFail('10s #', stalled);
  }));
});

describe('waiting for a source', () => {
  test('B4: a freed place wakes the oldest waiter in the same turn; polling is the fallback', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f3.3'], maxConcurrency: 1 }], { pollEveryMs: 60_000 });
    for (const [atMs, diagram] of [[0, '3300ms (r|)'], [200, '6600ms (r|)'], [100, '9900ms (r|)']] as const) {
      expectCall(gateway, { atMs: atMs === 0 ? 0 : 300 - atMs }).toAnswer(diagram);
    }
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 3300], [3300, 6600], [6600, 9900]]]);
  }));

  test('B4: a retry keeps no place', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T1', 'd1 f2', 'd1 f2', 'd1 f2'], maxConcurrency: 1 }]);
    expectCall(gateway).toAnswer('7s (r|)', { stats: { attempts: 2, waitedMs: 4000 } });
    expectCall(gateway, { atMs: 100 }).toAnswer('3s (r|)');
    expectCall(gateway, { atMs: 200 }).toAnswer('5s (r|)');
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 1000], [1000, 3000], [3000, 5000], [5000, 7000]]]);
  }));

  test('B4: polls with jitter between half and the whole of the interval', wholeCalls(({ gatewayOf, expectCall }) => {
    for (const [random, diagram] of [[1, '8s #'], [0, '6500ms #']] as const) {
      const gateway = gatewayOf([busy(50)], { stallWindowMs: 5000, pollEveryMs: 3000, random: () => random });
      expectCall(gateway).toAnswer('50s (r|)');
      // Looks every 3 s, or every 1.5 s; the first look past 5 s ends it.
      expectCall(gateway, { atMs: random === 1 ? 2000 : 500 }).toFail(diagram, stalled);
    }
  }));

  test('B4: fail_fast refuses every wait for admission, and says when to come back', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const full = gatewayOf([busy(50)], { backpressure: 'fail_fast' });
    expectCall(full).toAnswer('50s (r|)');
    expectCall(full, { atMs: 1000 }).toFail('1s #', { code: 'all_sources_exhausted', reason: 'no_runnable_source', attempts: 0, cause: undefined });
    const parked = gatewayOf([{ scripts: ['L0.5(ra=9)'] }, { scripts: ['L0.5(ra=6)'] }], { backpressure: 'fail_fast' });
    expectCall(parked).toFail('1s #', { reason: 'no_runnable_source', attempts: 2, retryAfterS: 6, cause: { code: 'rate_limited', source: 'b/1' } });
    flush();
    expect(eventsOf(full, 'call-waiting')).toEqual([]);
  }));

  test('B4: fail_fast still sleeps the backoff', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['T0.5', 'd1 f2'] }], { backpressure: 'fail_fast' })).toAnswer('3500ms (r|)', { stats: { waitedMs: 1000 } });
    expectCall(gatewayOf([{ scripts: ['T0.5(ra=4)', 'd1 f2'] }], { backpressure: 'fail_fast' })).toAnswer('6500ms (r|)', { stats: { waitedMs: 4000 } });
  }));

  test('R5: the deadline bounds the whole call, waits included', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([busy(50)], { callDeadlineMs: 20_000 });
    expectCall(gateway).toFail('20s #', { code: 'call_deadline', attempts: 1 });
    expectCall(gatewayOf([busy(50)], {})).toAnswer('50s (r|)');
    const crowded = gatewayOf([busy(30)], { callDeadlineMs: 31_000 });
    expectCall(crowded).toAnswer('30s (r|)');
    expectCall(crowded, { atMs: 5000 }).toFail('36s #', { code: 'call_deadline', attempts: 1 });
  }));
});

describe('permits', () => {
  const ends: Record<string, { words: string; policy?: object; call?: object; freeMs: number }> = {
    completion: { words: 'd1 f4', freeMs: 4000 },
    error: { words: 'd1 T4', policy: { maxAttempts: 1 }, freeMs: 4000 },
    unsubscription: { words: 'd1', call: { leaveMs: 4000 }, freeMs: 4000 },
    abort: { words: 'd1', call: { abortMs: 4000, reason: 'stop' }, freeMs: 4000 },
    watchdog: { words: 'd1', policy: { maxAttempts: 1 }, freeMs: 16_000 },
    deadline: { words: 'd1', policy: { callDeadlineMs: 4000 }, freeMs: 4000 },
  };
  for (const [how, { words, policy = {}, call = {}, freeMs }] of Object.entries(ends)) {
    test(`G3: a permit is given back once: ${how}`, wholeCalls(({ gatewayOf, expectCall, flush, at }) => {
      const gateway = gatewayOf([{ scripts: [words, 'd0.5 f1'], maxConcurrency: 1 }], { pollEveryMs: 60_000, ...policy });
      expectCall(gateway, call);
      // From this time on one request may run, and only one.
      expectCall(gateway, { atMs: 3500 }).toAnswer(`${freeMs + 1000}ms (r|)`);
      expectCall(gateway, { atMs: 3600 });
      at(freeMs + 500, () => expect(gateway.stats()).toMatchObject({ permits: { 'a/1': 1 } }));
      flush();
      expect(gateway.stats().permits).toEqual({ 'a/1': 0 });
      expect(gateway.sources[0]!.requests[1]!.startedMs).toBe(freeMs);
    }));
  }

  test('G1, G3: a hedged attempt takes one at each source, and both are back when the call answers', wholeCalls(({ gatewayOf, expectCall, at }) => {
    const gateway = gatewayOf([{ scripts: ['d1'], maxConcurrency: 1 }, { scripts: ['d1 f5'], maxConcurrency: 1 }], { hedgeStallAfterMs: 2000 });
    expectCall(gateway).toAnswer('8s (r|)', { stats: { hedgeWon: true } });
    at(2500, () => expect(gateway.stats().permits).toEqual({ 'a/1': 1, 'b/1': 0 }));
    at(4000, () => expect(gateway.stats().permits).toEqual({ 'a/1': 1, 'b/1': 1 }));
  }));

  test('G1: nothing is held while a source refuses', wholeCalls(({ gatewayOf, expectCall, at }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5(ra=20)', 'd1 f2'], maxConcurrency: 1 }]);
    expectCall(gateway).toAnswer('22500ms (r|)');
    at(5000, () => expect(gateway.stats()).toMatchObject({ permits: { 'a/1': 0 }, parked: { 'a/1': 15_500 }, waiters: 1 }));
  }));

  test('QT-02: a place is held until the stream ends', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['e0.1 d1 f10', 'd0.5 f1'], maxConcurrency: 1 }]);
    expectCall(gateway).toAnswer('10s (r|)');
    expectCall(gateway, { atMs: 1000 }).toAnswer('11s (r|)', { ttftMs: 500, stats: { waitedMs: 9000 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 10_000], [10_000, 11_000]]]);
  }));

  test('QT-03: a place is not held while a call sleeps', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.1', 'd1 f2', 'd1 f1.5'], maxConcurrency: 1 }], { backoffMs: 4000 });
    expectCall(gateway).toAnswer('5600ms (r|)', { stats: { waitedMs: 4000 } });
    expectCall(gateway, { atMs: 500 }).toAnswer('2500ms (r|)', { stats: { waitedMs: 0 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 100], [500, 2500], [4100, 5600]]]);
  }));

  test('QT-04: a waiter that has left is passed over', wholeCalls(({ gatewayOf, expectCall, flush, at }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f2'], maxConcurrency: 1 }], { pollEveryMs: 60_000 });
    expectCall(gateway).toAnswer('2s (r|)');
    expectCall(gateway, { atMs: 100, leaveMs: 1000 }).toSayNothing();
    expectCall(gateway, { atMs: 200, leaveMs: 1999 }).toSayNothing();
    expectCall(gateway, { atMs: 300 }).toAnswer('4s (r|)');
    at(500, () => expect(gateway.stats().waiters).toBe(3));
    at(1500, () => expect(gateway.stats().waiters).toBe(2));
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 2000], [2000, 4000]]]);
    expect(gateway.rows).toHaveLength(2);
  }));

  test('QT-04: one that leaves in the turn of the grant has sent nothing, and the next gets the place', wholeCalls(({ gatewayOf, expectCall, flush, scheduler }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f2'], maxConcurrency: 1 }], { pollEveryMs: 60_000 });
    const leaves = new AbortController();
    const first = gateway.chat$({ messages: [{ role: 'user', content: 'hello' }] });
    scheduler.schedule(() => { first.subscribe({ complete: () => leaves.abort('gone') }); });
    scheduler.schedule(() => { gateway.chat$({ messages: [{ role: 'user', content: 'hello' }] }, { signal: leaves.signal }).subscribe({ error: () => undefined }); }, 100);
    expectCall(gateway, { atMs: 300 }).toAnswer('4s (r|)');
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 2000], [2000, 4000]]]);
  }));

  test('QT-07: a place is not a count per minute', wholeCalls(({ gatewayOf, expectCall, flush, at }) => {
    const long = Array.from({ length: 8 }, (_, step) => `d${10 + 10 * step}`).join(' ');
    const gateway = gatewayOf([{ scripts: [`${long} f90`, `${long} f90`, 'd0.5 f1'], maxConcurrency: 2 }], { stallWindowMs: 600_000 });
    expectCall(gateway).toAnswer('90s (r|)');
    expectCall(gateway).toAnswer('90s (r|)');
    expectCall(gateway, { atMs: 61_000 }).toAnswer('91s (r|)', { stats: { waitedMs: 29_000 } });
    expectCall(gateway, { atMs: 100_000 }).toAnswer('101s (r|)');
    expectCall(gateway, { atMs: 100_000 }).toAnswer('101s (r|)');
    expectCall(gateway, { atMs: 100_000 }).toAnswer('102s (r|)');
    at(100_500, () => expect(gateway.stats()).toMatchObject({ permits: { 'a/1': 2 }, waiters: 1 }));
    flush();
  }));
});

describe('cases of budgets', () => {
  test('BO-07: what is left of the deadline bounds an attempt, and such an end is nobody`s fault', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['', ''], { callDeadlineMs: 12_000 });
    expectCall(gateway).toFail('12s #', { code: 'call_deadline', attempts: 2, cause: { code: 'transient', source: 'a/1' } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs', 'latencyMs')).toEqual([['a/1', 'transient', null, 10_000], ['b/1', 'deadline', null, 1000]]);
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]], [[11_000, 12_000]]]);
  }));

  test('BO-08 a: the window counts waiting, not work', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5(ra=4)', 'T6', 'd1"x" f1.5'] }], { stallWindowMs: 10_000, backoffMs: 4000, callDeadlineMs: 60_000 });
    expectCall(gateway).toAnswer('16s (r|)', { content: 'x', stats: { waitedMs: 8000, attempts: 3 } });
    flush();
    expect(requestsOf(gateway)[0]!.map(([startedMs]) => startedMs)).toEqual([0, 4500, 14_500]);
  }));

  test('T2: a call of an hour runs in milliseconds, and exactly', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const everyTenSeconds = Array.from({ length: 359 }, (_, at) => `d${10 * (at + 1)}`).join(' ');
    const gateway = gatewayOf([{ scripts: [`${everyTenSeconds} f3600`], timeoutS: 7200 }], { callDeadlineMs: 7_200_000, hedgeStallAfterMs: 12_000, stallThresholdMs: 9999 });
    const startedMs = performance.now();
    expectCall(gateway).toAnswer('3600s (r|)', { increments: 359, latencyMs: 3_600_000, stats: { stallMs: 3_580_000, stallCount: 358, generationMs: 20_000, hedges: 0 } });
    flush();
    expect(performance.now() - startedMs).toBeLessThan(5000);
  }));
});
