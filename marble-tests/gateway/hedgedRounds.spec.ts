import { describe, expect, test } from '@jest/globals';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const once = { maxAttempts: 1 };

describe('who wins', () => {
  const stalls = { hedgeStallAfterMs: 5000 };

  test('H4: the first to complete, not the first to speak', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d6"a" f7.5', 'd1"b" f6'], { hedgeAfterMs: 3000 });
    expectCall(gateway).toAnswer('7500ms (r|)', { content: 'a', stats: { hedges: 1, hedgeWon: false } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'won', 'ttftMs', 'latencyMs')).toEqual([['a/1', null, true, 6000, 7500], ['b/1', 'hedge_cancelled', false, 1000, 4500]]);
  }));

  test('H4: at the same instant the primary, whichever of the two was scheduled first', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const primaryLast = gatewayOf(['d1"a" d7.5"a" f9', 'd1"b" f3'], stalls);
    const primaryFirst = gatewayOf(['d1"a" f9', 'd1"b" d2.5"b" f3'], stalls);
    expectCall(primaryLast).toAnswer('9s (r|)', { content: 'aa', stats: { hedges: 1, hedgeWon: false } });
    expectCall(primaryFirst).toAnswer('9s (r|)', { content: 'a', stats: { hedges: 1, hedgeWon: false } });
    flush();
    expect(rowsOf(primaryFirst, 'source', 'won').filter(([, won]) => won)).toEqual([['a/1', true]]);
  }));

  for (const [what, words] of Object.entries({ 'an error frame': 'd1"b" T2', 'a truncated stream': 'd1"b" T1.5', 'an end without output': 'e1 D1.5', 'a finish without output': 'e1 f1.5' })) {
    test(`H4: ${what} is not a completion`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf(['d1"a" f12', words], stalls);
      expectCall(gateway).toAnswer('12s (r|)', { content: 'a', stats: { hedges: 1, hedgeWon: false } });
      flush();
      expect(rowsOf(gateway, 'source', 'errorClass')).toEqual([['b/1', 'transient'], ['a/1', null]]);
    }));
  }

  test('H4: an end that was seen, without a finish reason, is a completion', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1', 'd1"b" D2'], stalls)).toAnswer('8s (r|)', { content: 'b', finishReason: 'unknown' });
  }));

  test('H4: a refusal by content filter waits for the other, which wins', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const byBackup = gatewayOf(['d1"a" f12', 'd1"b" f(content_filter)2'], stalls);
    const byPrimary = gatewayOf(['d1"a" f(content_filter)7', 'd1"b" f6'], stalls);
    expectCall(byBackup).toAnswer('12s (r|)', { content: 'a', stats: { hedgeWon: false } });
    expectCall(byPrimary).toAnswer('12s (r|)', { content: 'b', stats: { hedgeWon: true } });
    flush();
    expect(rowsOf(byBackup, 'source', 'outcome', 'won')).toEqual([['b/1', 'ok', false], ['a/1', 'ok', true]]);
  }));

  test('H4: with nobody to wait for it is delivered at once', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1"a" f(content_filter)4', 'd1 f2'], stalls)).toAnswer('4s (r|)', { finishReason: 'content_filter', stats: { hedges: 0 } });
    expectCall(gatewayOf(['d1"a" f(content_filter)9', 'T1'], stalls)).toAnswer('9s (r|)', { finishReason: 'content_filter', stats: { hedges: 1 } });
  }));

  test('H4: it is delivered when the other fails', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a" f(content_filter)7', 'd1"b" T4'], stalls);
    expectCall(gateway).toAnswer('10s (r|)', { content: 'a', finishReason: 'content_filter', latencyMs: 7000, callMs: 10_000 });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'won')).toEqual([['a/1', null, true], ['b/1', 'transient', false]]);
  }));

  test('H4: it is delivered when the other falls silent for good', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a" f(content_filter)7', { scripts: ['d1"b"'], interTokenS: 3 }], stalls);
    expectCall(gateway).toAnswer('10s (r|)', { content: 'a', finishReason: 'content_filter' });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'won')).toEqual([['a/1', null, true], ['b/1', 'transient', false]]);
  }));

  test('H4: it is delivered at the deadline, and its row has won', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a" f(content_filter)7', 'd1"b"'], { ...stalls, callDeadlineMs: 9000 });
    expectCall(gateway).toAnswer('9s (r|)', { content: 'a', finishReason: 'content_filter', stats: { hedgeWon: false } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'won')).toEqual([['a/1', null, true], ['b/1', 'deadline', false]]);
  }));

  test('H4: of two refusals the first is delivered, at the deadline too', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1"a" f(content_filter)7', 'd1"b" f(content_filter)4'], { ...stalls, callDeadlineMs: 10_000 })).toAnswer('10s (r|)', { content: 'a' });
    expectCall(gatewayOf(['d1"a" f(content_filter)9', 'd1"b" f(content_filter)2'], stalls)).toAnswer('9s (r|)', { content: 'b', finishReason: 'content_filter', stats: { hedgeWon: true } });
  }));

  test('H5: the loser is let go in the turn of the decision, and its figures are null', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d2 d9'], maxConcurrency: 1 }, { scripts: ['d1 f4'], maxConcurrency: 1 }], stalls);
    expectCall(gateway).toAnswer('11s (r|)', { stats: { hedgeWon: true } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 11_000]], [[7000, 11_000]]]);
    expect(rowsOf(gateway, 'source', 'outcome', 'errorClass', 'stallMs', 'stallCount', 'maxInterTokenMs', 'ttftMs', 'increments')).toEqual([
      ['b/1', 'ok', null, null, null, null, 1000, 1],
      ['a/1', 'error', 'hedge_cancelled', null, null, null, 1000, 3],
    ]);
  }));

  test('H11: text of two attempts is never joined', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1"a1" r2"a2" g3"a3"', 'd1"b1" d2"b2" f3'], stalls);
    expectCall(gateway).toAnswer('11s (r|)', { content: 'b1b2', reasoning: '', toolCalls: [] });
  }));
});

describe('failures of a hedged round', () => {
  const stalls = { hedgeStallAfterMs: 5000 };
  const words = { transient: 'T', 'rate-limited': 'L', source: 'S', request: 'Q' };

  for (const [what, word] of Object.entries(words)) {
    test(`H6: a ${what} failure of one waits for the other, and is forgotten if that answers`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const backup = gatewayOf(['d1"a" f12', `${word}1`], { ...stalls, ...once });
      const primary = gatewayOf([`d1"a" ${word}7`, 'd1"b" f6'], { ...stalls, ...once });
      expectCall(backup).toAnswer('12s (r|)', { content: 'a' });
      expectCall(primary).toAnswer('12s (r|)', { content: 'b' });
      flush();
      expect(rowsOf(backup, 'source', 'errorClass')).toEqual([['b/1', what.replace('-', '_')], ['a/1', null]]);
      expect(rowsOf(primary, 'source', 'errorClass')).toEqual([['a/1', what.replace('-', '_')], ['b/1', null]]);
    }));
  }

  test('H7: two failures count once against the budget and carry both causes', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T7', 'd1 T7', 'd1 f2'] }, 'd1 T2'], { ...stalls, maxAttempts: 2 });
    expectCall(gateway).toFail('17s #', {
      code: 'all_sources_exhausted',
      reason: 'retry_exhausted',
      attempts: 4,
      cause: { code: 'transient', cause: { errors: expect.arrayContaining([expect.objectContaining({ code: 'transient', source: 'a/1' }), expect.objectContaining({ code: 'transient', source: 'b/1' })]) as unknown } },
    });
  }));

  // What a call with one attempt to burn does after a round in which these two failed, C being there to answer.
  const afterwards: Record<string, { first: string; second: string; after: 'gives up' | 'goes on' | 'throws' }> = {
    'transient before rate-limited': { first: 'L', second: 'T', after: 'gives up' },
    'transient before request': { first: 'T', second: 'Q', after: 'gives up' },
    'rate-limited before source': { first: 'S', second: 'L', after: 'goes on' },
    'rate-limited before request': { first: 'Q', second: 'L', after: 'goes on' },
    'source before request': { first: 'Q', second: 'S', after: 'goes on' },
    'request when both say so': { first: 'Q', second: 'Q', after: 'throws' },
  };
  for (const [which, { first, second, after }] of Object.entries(afterwards)) {
    test(`H7: the more hopeful class decides: ${which}`, wholeCalls(({ gatewayOf, expectCall }) => {
      const call = expectCall(gatewayOf([`d1 ${first}7`, `${second}2`, 'd1"c" f2'], { ...stalls, ...once }));
      if (after === 'goes on') call.toAnswer('10s (r|)', { content: 'c', stats: { attempts: 3, waitedMs: 0 } });
      if (after === 'gives up') call.toFail('8s #', { reason: 'retry_exhausted', attempts: 2 });
      if (after === 'throws') call.toFail('8s #', { code: 'request', cause: { name: 'AggregateError' } });
    }));
  }

  test('H7: two 429 burn no budget, and each parks its source', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 L7(ra=20)'] }, { scripts: ['L2(ra=5)', 'd1"b" f2'] }], { ...stalls, ...once });
    // B: 429 at 8 s, parked until 13 s.
    expectCall(gateway).toAnswer('15s (r|)', { content: 'b', stats: { waitedMs: 5000 } });
    flush();
    expect(eventsOf(gateway, 'source-parked').map(({ atMs, source, forMs }) => [atMs, source, forMs])).toEqual([[7000, 'a/1', 20_000], [8000, 'b/1', 5000]]);
  }));

  test('H7: a source that is out by its own failure stays out, though the round counts as transient', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T7', 'd1 f2'] }, 'S2'], stalls);
    expectCall(gateway).toAnswer('11s (r|)', { source: 'a/1', stats: { attempts: 3, waitedMs: 1000 } });
    flush();
    expect(gateway.sources[1]?.requests).toHaveLength(1);
  }));

  test('H8: a primary that fails before any signal is an ordinary failure', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 T4', 'd1 f2'], stalls);
    expectCall(gateway).toAnswer('7s (r|)', { source: 'b/1', stats: { hedges: 0, waitedMs: 1000 } });
    flush();
    expect(rowsOf(gateway, 'round', 'role')).toEqual([[1, 'primary'], [2, 'primary']]);
  }));

  test('H8: and so is one that fails after its hedge was refused', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['d1 T7', 'd1 f2'] }], stalls)).toAnswer('10s (r|)', { stats: { hedges: 0, attempts: 2, waitedMs: 1000 } });
  }));

  test('H6, R2, W2, R5: hedge, watchdog, retry and deadline in one call', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1', 'd1 d2'], interTokenS: 8 }, { scripts: ['L1', 'd1 d9'] }], { ...stalls, callDeadlineMs: 22_000 });
    // Round 1: A silent from 1, B at 6 limited at 7, A killed at 9. Round 2 from 10: each was tried once, so A comes first.
    expectCall(gateway).toFail('22s #', { code: 'call_deadline', attempts: 4, cause: { code: 'transient' } });
    flush();
    expect(rowsOf(gateway, 'round', 'role', 'source', 'errorClass', 'startedMs', 'latencyMs')).toEqual([
      [1, 'backup', 'b/1', 'rate_limited', 6000, 1000],
      [1, 'primary', 'a/1', 'transient', 0, 9000],
      [2, 'primary', 'a/1', 'transient', 10_000, 10_000],
      [2, 'backup', 'b/1', 'deadline', 17_000, 5000],
    ]);
  }));
});
