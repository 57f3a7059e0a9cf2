import { describe, expect, test } from '@jest/globals';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const once = { maxAttempts: 1 };

describe('the signal', () => {
  test('H1: the first-increment key counts until the first increment and no further', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const late = gatewayOf(['d6 f12', 'd1 f9'], { hedgeAfterMs: 5000 });
    expectCall(late).toAnswer('12s (r|)', { source: 'a/1', stats: { hedges: 1, hedgeWon: false } });
    const inTime = gatewayOf(['d4 d14 f15', 'd1 f2'], { hedgeAfterMs: 5000 });
    expectCall(inTime).toAnswer('15s (r|)', { source: 'a/1', stats: { hedges: 0 } });
    flush();
    expect(requestsOf(late)).toEqual([[[0, 12_000]], [[5000, 12_000]]]);
  }));

  test('H1: the stall key counts after the first increment and not before', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d9 d10', 'd1 f2'], { hedgeStallAfterMs: 4000 });
    expectCall(gateway).toAnswer('16s (r|)', { source: 'b/1', stats: { hedges: 1, hedgeWon: true } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 16_000]], [[14_000, 16_000]]]);
    expect(rowsOf(gateway, 'role', 'hedgeTrigger')).toEqual([['backup', 'stall'], ['primary', null]]);
  }));

  test('H1: with both keys whichever silence comes first starts the backup', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const keys = { hedgeAfterMs: 3000, hedgeStallAfterMs: 4000 };
    const first = gatewayOf(['d9', 'd1 f2'], keys);
    const stall = gatewayOf(['d2', 'd1 f2'], keys);
    expectCall(first).toAnswer('5s (r|)');
    expectCall(stall).toAnswer('8s (r|)');
    flush();
    expect(rowsOf(first, 'hedgeTrigger')[0]).toEqual(['first_increment']);
    expect(rowsOf(stall, 'hedgeTrigger')[0]).toEqual(['stall']);
  }));

  test('H1: with neither key nothing is watched for', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d9 d20 f30', 'd1 f2']);
    expectCall(gateway).toAnswer('30s (r|)', { stats: { hedges: 0, stallMs: 11_000 } });
    flush();
    expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
  }));

  test('H2: the stall key alone leaves a request that is not streamed on the unhedged path', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d9 f20', 'd1 f2'], { hedgeStallAfterMs: 1000 });
    expectCall(gateway, { request: { stream: false } }).toAnswer('20s (r|)', { stats: { hedges: 0 } });
    flush();
    expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
  }));

  test('H2: the first-increment key counts until the response of a request that is not streamed', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d8 f8', 'd1"b" f2'], { hedgeAfterMs: 3000, hedgeStallAfterMs: 1000 });
    expectCall(gateway, { request: { stream: false } }).toAnswer('5s (r|)', { content: 'b', stats: { hedges: 1 } });
    flush();
    expect(rowsOf(gateway, 'hedgeTrigger')).toEqual([['first_increment'], [null]]);
  }));

  test('H15: from the finish reason on there is neither hedge signal nor watchdog', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 F1.4'], interTokenS: 0.5, timeoutS: 2 }, 'd1 f2'], { ...once, hedgeStallAfterMs: 450 });
    expectCall(gateway).toAnswer('2400ms (r|)', { source: 'a/1', stats: { hedges: 0 } });
    flush();
    expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
  }));

  test('H15: usage and end marker get one second, trouble after the finish reason is ignored', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1 F2 u3(7,3) D9'])).toAnswer('3s (r|)', { usage: { promptTokens: 7 }, latencyMs: 3000 });
    expectCall(gatewayOf(['d1 F2 u3.001(7,3) D9'])).toAnswer('3s (r|)', { usage: null });
    expectCall(gatewayOf(['d1 F2 T2.5'])).toAnswer('2500ms (r|)', { finishReason: 'stop', stats: { attempts: 1 } });
  }));

  test('H15: output after a finish reason shows that it was said too soon: nothing is cut, and the watchdog holds again', wholeCalls(({ gatewayOf, expectCall }) => {
    const everyFrame = 'd1"a" F1 d1.9"b" F1.9 d9"c" F9';
    expectCall(gatewayOf([`${everyFrame} D12`])).toAnswer('12s (r|)', { content: 'abc', finishReason: 'stop', stats: { stallMs: 7100, stallCount: 1 } });
    expectCall(gatewayOf([everyFrame], { maxAttempts: 1 })).toFail('24s #', { cause: { code: 'transient', cause: { limit: 'between' } } });
    expectCall(gatewayOf([{ scripts: [`${everyFrame} T9.5`] }], { maxAttempts: 1 })).toFail('9500ms #', { cause: { code: 'transient', message: 'it broke' } });
  }));

  test('H15: the deadline ends the wait for the end marker, and the answer is delivered', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 F5'], { callDeadlineMs: 5400 });
    expectCall(gateway).toAnswer('5400ms (r|)', { content: 'x', finishReason: 'stop', latencyMs: 5400 });
    flush();
    expect(rowsOf(gateway, 'outcome', 'errorClass', 'won')).toEqual([['ok', null, true]]);
  }));

  test('H15: a finish reason without any output is no answer, at the deadline neither', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['F5'], { callDeadlineMs: 5400 })).toFail('5400ms #', { code: 'call_deadline' });
  }));
});

describe('the backup', () => {
  test('H3: goes to another source, in order of preference, past those that refuse', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1', 'd1 f9'], maxConcurrency: 1 }, { scripts: ['d1 f20'], maxConcurrency: 1 }, 'd1"c" f2'], { hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('8s (r|)', { content: 'c', source: 'c/1' });
    expectCall(gateway, { request: { stream: false } }).toAnswer('20s (r|)', { source: 'b/1' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 8000]], [[0, 20_000]], [[6000, 8000]]]);
  }));

  test('H3: refused admission is no hedge, silently; an event tells why, and the next silence may ask again', wholeCalls(({ gatewayOf, expectCall, flush, at }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d8 d14'], maxConcurrency: 1 }, { scripts: ['d1 f12', 'd1"b" f2'], maxConcurrency: 1 }], { hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('15s (r|)', { content: 'b', stats: { hedges: 1, attempts: 2, waitedMs: 0 } });
    expectCall(gateway).toAnswer('12s (r|)', { source: 'b/1', stats: { hedges: 0 } });
    // A hedge never takes a place in the line.
    at(7000, () => expect(gateway.stats()).toMatchObject({ waiters: 0, permits: { 'a/1': 1, 'b/1': 1 } }));
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 15_000]], [[0, 12_000], [13_000, 15_000]]]);
    expect(eventsOf(gateway, 'hedge-refused').map(({ atMs, reason }) => [atMs, reason])).toEqual([[6000, 'b/1 runs 1 requests already'], [6000, 'a/1 runs 1 requests already']]);
  }));

  test('H3: with one source there is nobody to ask, and the primary goes on as if nothing were', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1"a" d8 d9 f20'], maxConcurrency: 1 }], { hedgeAfterMs: 500, hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('20s (r|)', { stats: { hedges: 0, attempts: 1 } });
    flush();
    expect(eventsOf(gateway, 'silence-noticed').map(({ atMs, trigger }) => [atMs, trigger])).toEqual([[500, 'first_increment'], [6000, 'stall'], [14_000, 'stall']]);
    expect(eventsOf(gateway, 'hedge-refused').map(({ atMs, reason }) => [atMs, reason])).toEqual([500, 6000, 14_000].map((atMs) => [atMs, 'there is no source to ask']));
  }));

  test('H3: a source that is out for the call, or parked, is not asked', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const out = gatewayOf([{ scripts: ['S0.5', 'd1 f2'] }, 'd1 d2 f9'], { hedgeStallAfterMs: 3000 });
    expectCall(out).toAnswer('9500ms (r|)', { source: 'b/1', stats: { hedges: 0 } });
    const parked = gatewayOf([{ scripts: ['L0.5(ra=30)', 'd1 f2'] }, 'd1 d2 f9'], { hedgeStallAfterMs: 3000 });
    expectCall(parked).toAnswer('9500ms (r|)', { source: 'b/1', stats: { hedges: 0 } });
    flush();
    expect(eventsOf(out, 'hedge-refused').map(({ reason }) => reason)).toEqual(['there is no source to ask']);
    expect(eventsOf(parked, 'hedge-refused').map(({ reason }) => reason)).toEqual(['a/1 asked for a pause of 25000 ms more']);
  }));

  test('H3, H10: a round has one backup, whether it runs on or has failed', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const silences = 'd1 d8 d15 d22 f29';
    const failed = gatewayOf([silences, 'T1', 'd1 f2'], { hedgeStallAfterMs: 5000 });
    const running = gatewayOf([silences, { scripts: ['d1 d10 d20 d30'], ttftS: 100 }, 'd1 f2'], { hedgeStallAfterMs: 5000 });
    expectCall(failed).toAnswer('29s (r|)', { source: 'a/1', stats: { hedges: 1, hedgeWon: false } });
    expectCall(running).toAnswer('29s (r|)', { source: 'a/1', stats: { hedges: 1, hedgeWon: false } });
    flush();
    expect(requestsOf(failed)).toEqual([[[0, 29_000]], [[6000, 7000]], []]);
    expect(requestsOf(running)).toEqual([[[0, 29_000]], [[6000, 29_000]], []]);
  }));

  test('H9: hedges are counted over the whole call', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T9', 'd1'] }, { scripts: ['T4', 'd1"b" f2'] }], { hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('19s (r|)', { content: 'b', stats: { hedges: 2, hedgeWon: true, attempts: 4, waitedMs: 1000 } });
    flush();
    expect(rowsOf(gateway, 'round', 'role', 'source', 'errorClass')).toEqual([
      [1, 'primary', 'a/1', 'transient'],
      [1, 'backup', 'b/1', 'transient'],
      [2, 'backup', 'b/1', null],
      [2, 'primary', 'a/1', 'hedge_cancelled'],
    ]);
  }));
});

describe('cases of hedging', () => {
  const first = { hedgeAfterMs: 3000, callDeadlineMs: 60_000 };
  const stalls = { hedgeStallAfterMs: 5000, callDeadlineMs: 60_000 };

  test('HG-01: the plain race', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d8"a1" f9', 'd1"b1" d2"b2" f2.5'], first);
    expectCall(gateway).toAnswer('5500ms (r|)', { content: 'b1b2', stats: { hedgeWon: true } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs', 'latencyMs')).toEqual([['b/1', null, 1000, 2500], ['a/1', 'hedge_cancelled', null, 5500]]);
    expect(requestsOf(gateway)).toEqual([[[0, 5500]], [[3000, 5500]]]);
  }));

  for (const words of ['D0.3', 'e0.2 D0.3', 'e0.2 f0.3']) {
    test(`HG-03: an empty stream (${words}) does not win`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf(['d5"a" f6', words], first);
      expectCall(gateway).toAnswer('6s (r|)', { content: 'a', ttftMs: 5000 });
      flush();
      expect(rowsOf(gateway, 'source', 'errorClass')).toEqual([['b/1', 'transient'], ['a/1', null]]);
    }));
  }

  test('HG-06: the second stream completes first', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a1" d2"a2"', 'd1"b1" d2"b2" f3'], stalls);
    expectCall(gateway).toAnswer('10s (r|)', { content: 'b1b2', source: 'b/1', stats: { generationMs: 3000, stallMs: 0, stallCount: 0, hedges: 1, hedgeWon: true, attempts: 2, waitedMs: 0 } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs', 'stallMs', 'latencyMs')).toEqual([['b/1', null, 1000, 0, 3000], ['a/1', 'hedge_cancelled', 1000, null, 10_000]]);
  }));

  test('HG-07: silence in the middle of thinking can be hedged', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const thinking = Array.from({ length: 100 }, (_, at) => `r${(at + 1) / 10}`).join(' ');
    const gateway = gatewayOf([thinking, 'd1"b" f2'], stalls);
    expectCall(gateway).toAnswer('17s (r|)', { content: 'b', reasoning: '' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 17_000]], [[15_000, 17_000]]]);
    expect(rowsOf(gateway, 'errorClass', 'ttftMs')).toEqual([[null, 1000], ['hedge_cancelled', 100]]);
  }));

  test('HG-08 a: a hedge timer does not outlive its attempt, and the retry has its own', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T2', 'd0.5"b" f1'], first);
    expectCall(gateway).toAnswer('4s (r|)', { content: 'b' });
    const slow = gatewayOf(['T2', 'd3.5"b" f4'], first);
    expectCall(slow).toAnswer('7s (r|)', { content: 'b', stats: { hedges: 1 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 2000]], [[3000, 4000]]]);
    expect(requestsOf(slow)).toEqual([[[0, 2000], [6000, 7000]], [[3000, 7000]]]);
  }));

  test('HG-08 b: an answer just in time leaves no timer', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d2.9"a" f2.95', 'd1 f2'], first);
    expectCall(gateway).toAnswer('2950ms (r|)', { content: 'a' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 2950]], []]);
  }));

  test('HG-09: both fail, which is one of three', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T6', 'd1"x" f1.5'] }, 'T1'], first);
    expectCall(gateway).toAnswer('8500ms (r|)', { content: 'x', ttftMs: 1000, stats: { attempts: 3, waitedMs: 1000 } });
    const hopeless = gatewayOf(['T6', 'T1'], { ...first, maxAttempts: 3 });
    // Rounds: 0-6, 7-13, 15-21.
    expectCall(hopeless).toFail('21s #', { reason: 'retry_exhausted', attempts: 6 });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'round')).toEqual([['b/1', 'transient', 1], ['a/1', 'transient', 1], ['a/1', null, 2]]);
  }));

  test('HG-11 a: a hedge without a place is no hedge, and does not wait for one', wholeCalls(({ gatewayOf, expectCall, flush, at }) => {
    const gateway = gatewayOf([{ scripts: ['d9"a" f10'], maxConcurrency: 1 }, { scripts: ['d1 d2 d9 f20'], maxConcurrency: 1 }], { hedgeAfterMs: 3000 });
    expectCall(gateway).toAnswer('10s (r|)', { content: 'a', stats: { attempts: 1 } });
    expectCall(gateway).toAnswer('20s (r|)', { source: 'b/1' });
    at(4000, () => expect(gateway.stats().waiters).toBe(0));
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]], [[0, 20_000]]]);
  }));

  test('HG-11 b: with one source and one place there is one request', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d9"a" f10'], maxConcurrency: 1 }], first);
    expectCall(gateway).toAnswer('10s (r|)', { stats: { hedges: 0, attempts: 1, waitedMs: 0 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]]]);
  }));

  test('HG-12: two first increments in one instant: the first to complete wins', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d5"a" f6', 'd2"b" f2.5'], first);
    expectCall(gateway).toAnswer('5500ms (r|)', { content: 'b' });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'won')).toEqual([['b/1', null, true], ['a/1', 'hedge_cancelled', false]]);
  }));

  test('HG-12: two completions in one instant: the primary wins', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d5"a" f6', 'd2"b" f3'], first)).toAnswer('6s (r|)', { content: 'a', stats: { hedgeWon: false } });
  }));

  test('HG-16: the hedge stalls too: no third request, and each watchdog acts for itself', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a1" d2"a2"', 'd1"b1" d14"b2" f14.5', 'd1 f2'], stalls);
    expectCall(gateway).toAnswer('21500ms (r|)', { content: 'b1b2', stats: { stallMs: 13_000, stallCount: 1 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 17_000]], [[7000, 21_500]], []]);
    expect(rowsOf(gateway, 'source', 'errorClass')).toEqual([['a/1', 'transient'], ['b/1', null]]);
  }));

  test('HG-17: a trickle trips neither limit nor hedge, and the deadline ends it', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const words = Array.from({ length: 15 }, (_, at) => `d${3 + 4 * at}`).join(' ');
    const gateway = gatewayOf([words, 'd1 f2'], stalls);
    expectCall(gateway).toFail('60s #', { code: 'call_deadline' });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'ttftMs', 'increments', 'stallMs', 'latencyMs')).toEqual([['deadline', 3000, 15, null, 60_000]]);
    expect(requestsOf(gateway)).toEqual([[[0, 60_000]], []]);
  }));
});
