import { describe, expect, test } from '@jest/globals';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';
import type { Stage } from '../support/wholeCalls.js';
import type { GovernorSpec, SourceSpec } from '../support/virtualGateway.js';

const breaker = { failures: 3, cooldownMs: 30_000, cooldownMaxMs: 30_000 };
const noRunnable = { code: 'all_sources_exhausted', reason: 'no_runnable_source' };
const phases = (gateway: ReturnType<Stage['gatewayOf']>): (readonly [number, string, string])[] =>
  eventsOf(gateway, 'breaker-changed').map(({ atMs, from, to }) => [atMs, from, to] as const);

/** Three calls in a row whose only source fails: its breaker is open from 0.3 s on. */
const threeFailures = ['T0.1', 'T0.1', 'T0.1'];
function openBreaker({ gatewayOf, expectCall }: Stage, scripts: readonly string[], more: Partial<SourceSpec> = {}): ReturnType<Stage['gatewayOf']> {
  const gateway = gatewayOf([{ scripts: [...threeFailures, ...scripts], ...more }], { breaker, maxAttempts: 1, backpressure: 'fail_fast' });
  expectCall(gateway).toFail('100ms #', { reason: 'retry_exhausted' });
  expectCall(gateway, { atMs: 100 }).toFail('200ms #', { reason: 'retry_exhausted' });
  expectCall(gateway, { atMs: 200 }).toFail('300ms #', { reason: 'retry_exhausted' });
  return gateway;
}

describe('breaker', () => {
  test('G4: open after failures in a row, refused meanwhile with the time left, probed when it has cooled down', wholeCalls((stage) => {
    const { expectCall, flush } = stage;
    const gateway = openBreaker(stage, ['d0.1 f0.2']);
    expectCall(gateway, { atMs: 10_300 }).toFail('10300ms #', { ...noRunnable, retryAfterS: 20 });
    expectCall(gateway, { atMs: 30_300 }).toAnswer('30500ms (r|)');
    flush();
    expect(phases(gateway)).toEqual([[300, 'closed', 'open'], [30_300, 'open', 'half-open'], [30_400, 'half-open', 'closed']]);
    expect(gateway.stats().breakers).toEqual({ 'a/1': 'closed' });
  }));

  test('B1: where calls wait, the cool-down is waited for, on the stall clock', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [...threeFailures, 'd0.1 f0.2'] }], { breaker, maxAttempts: 4, backoffMs: 100 });
    // Fails at 0.1, 0.3, 0.6; the backoff of 0.4 s ends while the breaker is open.
    expectCall(gateway).toAnswer('30800ms (r|)', { stats: { attempts: 4, waitedMs: 30_300 } });
    flush();
  }));

  for (const [what, word, failure] of [['429', 'L0.1', noRunnable], ['400', 'Q0.1', { code: 'request' }], ['401', 'S0.1', noRunnable]] as const) {
    test(`BR-01: ${what} on the probe frees the probe`, wholeCalls((stage) => {
      const { expectCall, flush } = stage;
      const gateway = openBreaker(stage, [word, 'd0.1 f0.2']);
      expectCall(gateway, { atMs: 30_400 }).toFail('30500ms #', failure);
      expectCall(gateway, { atMs: 31_600 }).toAnswer('31800ms (r|)');
      flush();
      expect(gateway.stats().breakers).toEqual({ 'a/1': 'closed' });
    }));
  }

  test('BR-02: a 429 neither adds nor erases failures', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const limited = gatewayOf(['L0.1'], { breaker, backpressure: 'fail_fast' });
    for (let at = 0; at < 10; at += 1) expectCall(limited, { atMs: at * 20_000 }).toFail(`${at * 20_000 + 100}ms #`, noRunnable);
    const mixed = gatewayOf([{ scripts: ['T0.1', 'T0.1', 'L0.1', 'T0.1'] }], { breaker, maxAttempts: 1, backpressure: 'fail_fast' });
    for (let at = 0; at < 4; at += 1) expectCall(mixed, { atMs: at * 5000 }).toFail(`${at * 5000 + 100}ms #`, {});
    flush();
    expect(phases(limited)).toEqual([]);
    expect(phases(mixed)).toEqual([[15_100, 'closed', 'open']]);
  }));

  test('BR-03: a probe that its caller leaves frees its place without a verdict', wholeCalls((stage) => {
    const { expectCall, flush } = stage;
    const gateway = openBreaker(stage, ['d1 f2', 'd0.2 f0.3']);
    expectCall(gateway, { atMs: 30_400, leaveMs: 31_000 }).toSayNothing();
    expectCall(gateway, { atMs: 31_100 }).toAnswer('31400ms (r|)');
    flush();
    expect(phases(gateway).at(-1)).toEqual([31_300, 'half-open', 'closed']);
  }));

  test('BR-03, H5: a probe that loses a hedge frees its place too', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [...threeFailures, '', 'd0.2 f0.3'] }, 'd0.5 f1'], { breaker, backoffMs: 100, hedgeAfterMs: 3000 });
    expectCall(gateway).toAnswer('1200ms (r|)', { source: 'b/1' });
    expectCall(gateway).toAnswer('1200ms (r|)', { source: 'b/1' });
    expectCall(gateway).toAnswer('1200ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 30_400 }).toAnswer('34400ms (r|)', { source: 'b/1', stats: { hedgeWon: true } });
    expectCall(gateway, { atMs: 34_500 }).toAnswer('34800ms (r|)', { source: 'a/1' });
    flush();
    expect(gateway.stats().breakers).toEqual({ 'a/1': 'closed', 'b/1': 'closed' });
  }));

  test('BR-04 a, W2: a probe that is never answered fails by its own limit, and opens the breaker again', wholeCalls((stage) => {
    const { expectCall, flush } = stage;
    const gateway = openBreaker(stage, ['', 'd0.1 f0.2']);
    expectCall(gateway, { atMs: 30_400 }).toFail('40400ms #', { reason: 'retry_exhausted' });
    expectCall(gateway, { atMs: 70_300 }).toFail('70300ms #', { ...noRunnable, retryAfterS: 0.1 });
    expectCall(gateway, { atMs: 70_400 }).toAnswer('70600ms (r|)');
    flush();
  }));

  test('BR-04 b: the place of a probe that never ends is reclaimed after a cool-down', wholeCalls((stage) => {
    const { expectCall, flush } = stage;
    const gateway = openBreaker(stage, ['', 'd0.1 f0.2'], { unlimited: true });
    expectCall(gateway, { atMs: 30_400, leaveMs: 200_000 }).toSayNothing();
    expectCall(gateway, { atMs: 60_300 }).toFail('60300ms #', noRunnable);
    expectCall(gateway, { atMs: 60_400 }).toAnswer('60600ms (r|)');
    flush();
    expect(gateway.stats().breakers).toEqual({ 'a/1': 'closed' });
  }));

  test('G4: a probe that is not streamed keeps its place as long as its attempt may take', wholeCalls((stage) => {
    const { expectCall, flush } = stage;
    const gateway = openBreaker(stage, ['d200 f200.5'], { ttftS: 120, timeoutS: 300, interTokenS: 'none' });
    expectCall(gateway, { atMs: 30_400, request: { stream: false } }).toAnswer('230900ms (r|)');
    expectCall(gateway, { atMs: 160_000 }).toFail('160s #', noRunnable);
    flush();
    expect(requestsOf(gateway)[0]).toHaveLength(4);
    expect(gateway.stats().breakers).toEqual({ 'a/1': 'closed' });
  }));

  test('BR-05: no stampede at the end of the cool-down', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [...threeFailures, ''] }, 'd0.2 f0.4'], { breaker, backoffMs: 1000 });
    for (let at = 0; at < 3; at += 1) expectCall(gateway).toAnswer('1500ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 30_400 }).toAnswer('41800ms (r|)', { source: 'b/1' });
    for (let at = 1; at < 50; at += 1) expectCall(gateway, { atMs: 30_400 }).toAnswer('30800ms (r|)', { source: 'b/1' });
    for (let at = 0; at < 50; at += 1) expectCall(gateway, { atMs: 35_000 }).toAnswer('35400ms (r|)', { source: 'b/1' });
    flush();
    expect(requestsOf(gateway)[0]).toHaveLength(4);
    expect(phases(gateway).at(-1)).toEqual([40_400, 'half-open', 'open']);
  }));

  test('R-B4: a source that has recovered is not overrun: one at a time, then two, then more', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [...threeFailures, 'd1 f2'] }], { breaker, maxAttempts: 2, backoffMs: 100 });
    for (const end of ['32100ms', '34100ms', '36100ms']) expectCall(gateway).toAnswer(`${end} (r|)`);
    for (const end of ['36100ms', '38100ms', '38100ms', '38100ms']) expectCall(gateway, { atMs: 1000 }).toAnswer(`${end} (r|)`);
    flush();
    expect(requestsOf(gateway)[0]?.slice(3).map(([startedMs]) => startedMs)).toEqual([30_100, 32_100, 34_100, 34_100, 36_100, 36_100, 36_100]);
  }));
});

describe('breaker x hedge', () => {
  test('H3: a backup is never a probe; the primary goes on as if hedging were off', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.1', 'T0.1', 'T0.1', 'd8 f9'], priority: 0 }, { scripts: [...threeFailures, 'd1 f2'], priority: 1 }], { breaker: { ...breaker, failures: 3 }, maxAttempts: 2, hedgeAfterMs: 3000, backoffMs: 100, backpressure: 'fail_fast' });
    // Both breakers open at 0.1 and 0.3 s; B is ready for a probe from 30.3 s on.
    for (let at = 0; at < 3; at += 1) expectCall(gateway).toFail('300ms #', { reason: 'retry_exhausted' });
    expectCall(gateway, { atMs: 40_000 }).toAnswer('49s (r|)', { source: 'a/1', stats: { hedges: 0 } });
    flush();
    expect(eventsOf(gateway, 'hedge-refused').map(({ atMs, reason }) => [atMs, reason.includes('b/1')])).toEqual([[43_000, true]]);
    expect(requestsOf(gateway)[1]).toHaveLength(3);
  }));

  test('H5, G4: losing hedges opens no breaker, however often', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1', 'd1 f2'], { breaker, hedgeStallAfterMs: 5000 });
    for (let at = 0; at < 6; at += 1) expectCall(gateway, { atMs: at * 10_000 }).toAnswer(`${at * 10 + 8}s (r|)`, { source: 'b/1' });
    flush();
    expect(phases(gateway)).toEqual([]);
    expect(rowsOf(gateway, 'source', 'errorClass').filter(([source]) => source === 'a/1')).toEqual(Array.from({ length: 6 }, () => ['a/1', 'hedge_cancelled']));
  }));

  test('H6, W2: a primary that its watchdog ends while a backup runs counts as a failure', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d2'], interTokenS: 15 }, 'd1 d14 f14.5'], { breaker: { ...breaker, failures: 1 }, hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('21500ms (r|)', { source: 'b/1', stats: { stallMs: 13_000, stallCount: 1 } });
    flush();
    expect(phases(gateway)).toEqual([[17_000, 'closed', 'open']]);
  }));
});

const max500 = { max_tokens: 500 };

describe('quota x hedge', () => {
  test('QT-08, H5, G2: a winner settles what it used, a loser keeps its estimate', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d9 u9.5(100,300) f10', 'd1 f2'], tpm: 1100 }, { scripts: ['d1 d2 d3 d4 d5 d6'], tpm: 1000 }], { hedgeStallAfterMs: 5000 });
    expectCall(gateway, { request: max500 }).toAnswer('10s (r|)', { source: 'a/1', usage: { totalTokens: 400 } });
    // A has 400 of 1100, so one more fits; B has its estimate of a little over 500, so none does.
    expectCall(gateway, { atMs: 12_000, request: max500 }).toAnswer('14s (r|)', { source: 'a/1' });
    expectCall(gateway, { atMs: 12_000, request: max500 }).toAnswer('62s (r|)', { source: 'a/1', stats: { waitedMs: 48_000 } });
    flush();
    const [[own]] = rowsOf(gateway, 'estimatedTokens') as [[number]];
    expect(own).toBeGreaterThan(500);
    expect(own).toBeLessThan(520);
    expect(rowsOf(gateway, 'source', 'errorClass', 'estimatedTokens').slice(0, 2)).toEqual([['a/1', null, own], ['b/1', 'hedge_cancelled', own]]);
  }));

  test.each<[string, Partial<SourceSpec>]>([
    ['HG-11: its places are taken', { maxConcurrency: 1 }],
    ['its requests of the minute are spent', { rpm: 1 }],
    ['its tokens of the minute are spent', { tpm: 600 }],
  ])('H3: the other source is refused by quota: no hedge, no waiting, no late request; %s', (_, limits) => {
    wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf([{ scripts: ['S0.1', 'd9 f10'] }, { scripts: ['d1 f20'], interTokenS: 60, ...limits }], { hedgeAfterMs: 3000 });
      expectCall(gateway, { request: max500 }).toAnswer('20100ms (r|)', { source: 'b/1' });
      expectCall(gateway, { atMs: 1000, request: max500 }).toAnswer('11s (r|)', { source: 'a/1', stats: { hedges: 0, waitedMs: 0 } });
      flush();
      expect(requestsOf(gateway).map((requests) => requests.length)).toEqual([2, 1]);
      expect(eventsOf(gateway, 'hedge-refused')).toHaveLength(1);
    })();
  });

  test('G1, H3: a refused hedge leaves every counter as it was', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    // B would have a request left, but no place: were the request spent on the refused hedge, the last call would wait.
    const gateway = gatewayOf([{ scripts: ['S0.1', 'd9 f10', 'S0.1'] }, { scripts: ['d1 f20', 'd1 f2'], interTokenS: 60, maxConcurrency: 1, rpm: 2 }], { hedgeAfterMs: 3000 });
    expectCall(gateway).toAnswer('20100ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 1000 }).toAnswer('11s (r|)', { source: 'a/1' });
    expectCall(gateway, { atMs: 21_000 }).toAnswer('23100ms (r|)', { source: 'b/1', stats: { waitedMs: 0 } });
    flush();
  }));
});

describe('hedge caps', () => {
  test('HG-10, H10: hedgeMaxRatio caps backups, in one tick too; the primaries all go on', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d9 f10', { scripts: [''], ttftS: 60 }], { hedgeAfterMs: 3000, hedgeMaxRatio: 0.25 });
    for (let at = 0; at < 32; at += 1) expectCall(gateway).toAnswer('10s (r|)', { source: 'a/1' });
    flush();
    // 1 at the start and 32 quarters, but never more than a burst of 3.
    expect(requestsOf(gateway).map((requests) => requests.length)).toEqual([32, 3]);
    expect(rowsOf(gateway, 'errorClass').filter(([errorClass]) => errorClass === 'hedge_cancelled')).toHaveLength(3);
  }));

  test('H10: over a long time the share of backups is the ratio', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d9 f10', 'd0.5 f1'], { hedgeAfterMs: 3000, hedgeMaxRatio: 0.1 });
    // Calls one by one: 1 in the bucket at first, and a tenth with each call.
    const hedgedCalls = new Set([0, 9, 19, 29, 39]);
    for (let at = 0; at < 40; at += 1) expectCall(gateway, { atMs: at * 20_000 }).toAnswer(`${at * 20 + (hedgedCalls.has(at) ? 4 : 10)}s (r|)`);
    flush();
    expect(requestsOf(gateway)[1]).toHaveLength(5);
  }));

  test('H14: a second backup starts when both attempts have been silent; three run, the first to complete wins', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1'], interTokenS: 'none' }, { scripts: ['d1'], interTokenS: 'none' }, 'd1 f2'], { hedgeStallAfterMs: 5000, hedgeMaxBackups: 2 });
    // A silent from 1 s, so B at 6 s; B speaks at 7 s, both silent from then on, so C at 12 s.
    expectCall(gateway).toAnswer('14s (r|)', { source: 'c/1', stats: { hedges: 2, hedgeWon: true, attempts: 3 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 14_000]], [[6000, 14_000]], [[12_000, 14_000]]]);
    expect(rowsOf(gateway, 'source', 'role', 'hedgeTrigger', 'won')).toEqual([['c/1', 'backup', 'stall', true], ['a/1', 'primary', null, false], ['b/1', 'backup', 'stall', false]]);
  }));

  test('H14: by default there is one backup, however silent both are (HG-16)', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1'], interTokenS: 'none' }, { scripts: ['d1 d30 f31'], interTokenS: 60 }, 'd1 f2'], { hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('37s (r|)', { source: 'b/1', stats: { hedges: 1 } });
    flush();
    expect(requestsOf(gateway)[2]).toEqual([]);
  }));

  test('H7, H14: all three fail: one failure, which burns one attempt and carries all causes', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T15'] }, { scripts: ['d1 L9'] }, { scripts: ['d1 T5'] }], { hedgeStallAfterMs: 5000, hedgeMaxBackups: 2, maxAttempts: 1 });
    expectCall(gateway).toFail('17s #', { reason: 'retry_exhausted', attempts: 3, cause: { code: 'transient' } });
    flush();
    const [failed] = gateway.events.filter(({ type }) => type === 'call-ended');
    expect(failed).toMatchObject({ outcome: 'failed' });
  }));
});

describe('pacer x retry', () => {
  test('G5, R3: 429s of one round-trip slow the source down once; they burn no attempt, and nobody sends twice as much again', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.1(ra=2)', 'L0.1(ra=2)', 'L0.1(ra=2)', 'L0.1(ra=2)', 'd1 f2'] }], { maxAttempts: 1 });
    // Four at once are limited and come back at 2.1 s: 3 of them (4 x 0.9, in whole requests); the last when one is through.
    for (let at = 0; at < 3; at += 1) expectCall(gateway).toAnswer('4100ms (r|)', { stats: { attempts: 2 } });
    expectCall(gateway).toAnswer('6100ms (r|)', { stats: { attempts: 2 } });
    flush();
    expect(eventsOf(gateway, 'pace-changed').map(({ atMs, concurrency }) => [atMs, concurrency])[0]).toEqual([100, 3]);
    expect(requestsOf(gateway)[0]?.map(([startedMs]) => startedMs)).toEqual([0, 0, 0, 0, 2100, 2100, 2100, 4100]);
  }));
});

describe('deadline x wait', () => {
  test('R5: a wait for the quota that would end past the deadline is not begun', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d0.1 f0.5'], rpm: 1 }], { callDeadlineMs: 60_000 });
    expectCall(gateway).toAnswer('500ms (r|)');
    expectCall(gateway, { atMs: 0 }).toFail('0ms #', { code: 'call_deadline', retryAfterS: 60, attempts: 0 });
    expectCall(gateway, { atMs: 1000 }).toAnswer('60500ms (r|)', { stats: { waitedMs: 59_000 } });
  }));

  test('R5: nor one for the cool-down of a breaker', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['T0.1'] }], { breaker: { ...breaker, failures: 1 }, callDeadlineMs: 20_000, backoffMs: 100 });
    expectCall(gateway).toFail('200ms #', { code: 'call_deadline', retryAfterS: 29.9, cause: { code: 'transient' } });
  }));

  test('R5: a wait of which nobody knows the end is begun, and ends at the deadline', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f50'], interTokenS: 60, maxConcurrency: 1 }], { callDeadlineMs: 51_000 });
    expectCall(gateway).toAnswer('50s (r|)');
    expectCall(gateway, { atMs: 100, leaveMs: 40_000 }).toSayNothing();
    expectCall(gateway, { atMs: 1000 }).toFail('52s #', { code: 'call_deadline', attempts: 1 });
  }));

  test('R5, B4: another source that comes free in time is waited for', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f2'], rpm: 1 }, { scripts: ['d1 f10'], maxConcurrency: 1 }], { callDeadlineMs: 30_000 });
    expectCall(gateway).toAnswer('2s (r|)', { source: 'a/1' });
    expectCall(gateway).toAnswer('10s (r|)', { source: 'b/1' });
    expectCall(gateway).toAnswer('20s (r|)', { source: 'b/1', stats: { waitedMs: 10_000 } });
  }));
});

describe('quota', () => {
  test('B4: the earliest useful time stands in the error, over all gates together', wholeCalls(({ gatewayOf, expectCall }) => {
    // A may be asked in 60 s by its rpm, B in 40 s, though its pause ends after 5 s.
    const gateway = gatewayOf([{ scripts: ['d1 f2'], rpm: 1 }, { scripts: ['L0.1(ra=5)'], rpm: 1 }], { backpressure: 'fail_fast' });
    expectCall(gateway, { atMs: 0 }).toAnswer('2s (r|)', { source: 'a/1' });
    expectCall(gateway, { atMs: 100 }).toFail('200ms #', { ...noRunnable, retryAfterS: 59.8 });
    expectCall(gateway, { atMs: 20_000 }).toFail('20s #', { ...noRunnable, retryAfterS: 40 });
  }));

  test('B3: a call that is given up is told when asking again can help', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f100'], maxConcurrency: 1, interTokenS: 200 }, { scripts: ['d1 f2'], rpm: 1 }], { stallWindowMs: 20_000 });
    expectCall(gateway).toAnswer('100s (r|)', { source: 'a/1' });
    expectCall(gateway).toAnswer('2s (r|)', { source: 'b/1' });
    // Nobody knows when A has a place again, B may be asked at 60 s.
    expectCall(gateway, { atMs: 1000 }).toFail('22500ms #', { reason: 'stalled', retryAfterS: 37.5 });
  }));

  test('CL-03: a quota counts the injected clock, whatever the date does', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f2'], rpm: 60 }]);
    for (let at = 0; at < 3; at += 1) expectCall(gateway).toAnswer('2s (r|)');
    expectCall(gateway, { atMs: 100 }).toAnswer('2100ms (r|)', { stats: { waitedMs: 0 } });
    for (let at = 0; at < 56; at += 1) expectCall(gateway, { atMs: 200 }).toAnswer('2200ms (r|)', { stats: { waitedMs: 0 } });
    for (let at = 0; at < 3; at += 1) expectCall(gateway, { atMs: 200 }).toAnswer('62s (r|)', { stats: { waitedMs: 59_800 } });
    flush();
    expect(gateway.rows.every(({ latencyMs, waitedMs }) => latencyMs >= 0 && waitedMs >= 0)).toBe(true);
  }));

  test('G2: who reports more than was estimated uses up the next one`s share', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 u1(400,600) f2'], tpm: 1000 }]);
    expectCall(gateway, { request: { max_tokens: 100 } }).toAnswer('2s (r|)');
    expectCall(gateway, { atMs: 3000, request: { max_tokens: 100 } }).toAnswer('62s (r|)', { stats: { waitedMs: 57_000 } });
  }));

  test('G2: a request larger than the limit itself goes alone', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 u1(10,10) f2'], tpm: 100 }]);
    expectCall(gateway, { request: max500 }).toAnswer('2s (r|)');
    expectCall(gateway, { request: max500 }).toAnswer('62s (r|)');
  }));

  test('H5: a request that was refused with a status has used no tokens', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['L0.1(ra=1)', 'd1 f2'], tpm: 600 }]);
    expectCall(gateway, { request: max500 }).toAnswer('3100ms (r|)');
  }));
});

describe('selection', () => {
  const strategy = (name: GovernorSpec['strategy']): GovernorSpec => ({ ...(name && { strategy: name }) });

  test('round_robin: calls of one turn are spread', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1 f2', 'd1 f2', 'd1 f2'], strategy('round_robin'));
    for (const source of ['a/1', 'b/1', 'c/1', 'a/1', 'b/1', 'c/1']) expectCall(gateway).toAnswer('2s (r|)', { source });
  }));

  test('R2: a retry goes first to who was tried least in this call, then by the strategy', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['T1', 'd1 f2'] }, 'd1 f2', 'd1 f2'], { ...strategy('round_robin'), backoffMs: 1000 });
    expectCall(gateway).toAnswer('4s (r|)', { source: 'c/1' });
    expectCall(gateway).toAnswer('2s (r|)', { source: 'b/1' });
  }));

  test('least_busy: who has the fewest requests in flight', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1 f10', 'd1 f2'], strategy('least_busy'));
    expectCall(gateway).toAnswer('10s (r|)', { source: 'a/1' });
    expectCall(gateway, { atMs: 1000 }).toAnswer('3s (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 4000 }).toAnswer('6s (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 11_000 }).toAnswer('21s (r|)', { source: 'a/1' });
  }));

  test('weighted: in the proportion of the weights', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f2'], weight: 3 }, { scripts: ['d1 f2'] }], strategy('weighted'));
    for (let at = 0; at < 40; at += 1) expectCall(gateway, { atMs: at * 100 }).toAnswer(`${at * 100 + 2000}ms (r|)`);
    flush();
    expect(requestsOf(gateway).map((requests) => requests.length)).toEqual([30, 10]);
  }));

  test('steady: a source that always stalls and is always rescued falls behind, though no breaker sees it', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1', 'd0.1 d0.2 d0.3 d0.4 d0.5 f0.6'], { ...strategy('steady'), breaker, hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('6600ms (r|)', { source: 'b/1', stats: { hedges: 1 } });
    expectCall(gateway, { atMs: 10_000 }).toAnswer('10600ms (r|)', { source: 'b/1', stats: { hedges: 0 } });
    flush();
    expect(phases(gateway)).toEqual([]);
    expect(requestsOf(gateway).map((requests) => requests.length)).toEqual([1, 2]);
  }));
});

test('H14: a backup that has been let in and says nothing is silent too, and asks for the next one', wholeCalls(({ gatewayOf, expectCall, flush }) => {
  const gateway = gatewayOf([{ scripts: ['d1'], interTokenS: 'none' }, { scripts: ['e1'], interTokenS: 'none' }, 'd1"c" f2'], { hedgeStallAfterMs: 5000, hedgeMaxBackups: 2 });
  // The primary is silent from 1 s on, the first backup from its start at 6 s on, so that the second one starts at 11 s.
  expectCall(gateway).toAnswer('13s (r|)', { content: 'c', stats: { hedges: 2, hedgeWon: true } });
  flush();
  expect(requestsOf(gateway).map(([request]) => request?.[0])).toEqual([0, 6000, 11_000]);
}));

test('H3, H14: a source whose attempt has just failed may be asked for a backup in the same instant', wholeCalls(({ gatewayOf, expectCall }) => {
  const sources = [{ scripts: ['d1'], interTokenS: 'none' }, { scripts: ['d1', 'd1"b" f2'], interTokenS: 9 }] as const;
  const gateway = gatewayOf(sources, { hedgeStallAfterMs: 5000, hedgeMaxBackups: 2 });
  // The first backup starts at 6 s and is killed at 16 s, silent for 9 s; both were silent then, so that the next one starts at once.
  expectCall(gateway).toAnswer('18s (r|)', { content: 'b', stats: { hedges: 2, hedgeWon: true } });
}));
