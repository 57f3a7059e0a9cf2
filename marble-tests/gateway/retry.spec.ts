import { describe, expect, test } from '@jest/globals';
import { RequestError, SourceError, TransientError } from '../../lib/model/errors.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { script } from '../support/script.js';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const fails = (atS: number, error: unknown): ScriptStep => ({ atMs: atS * 1000, type: 'error', error });
const starts = (requests: (readonly [number, number | null])[]): number[] => requests.map(([startedMs]) => startedMs);

describe('transient failures', () => {
  test('R2: burn the budget, with exponential waits and a cap', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.1'], { maxAttempts: 5, backoffMs: 1000, backoffMaxMs: 3000 });
    expectCall(gateway).toFail('9500ms #', { code: 'all_sources_exhausted', reason: 'retry_exhausted', attempts: 5, source: 'a/1', cause: { code: 'transient' } });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 1100, 3200, 6300, 9400]);
    expect(eventsOf(gateway, 'retry-scheduled').map(({ delayMs }) => delayMs)).toEqual([1000, 2000, 3000, 3000]);
  }));

  test('R2: the wait has full jitter', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.1'], { maxAttempts: 3, random: () => 0.25 });
    expectCall(gateway).toFail('1050ms #', { reason: 'retry_exhausted' });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 350, 950]);
  }));

  test('R2: goes to the source that this call has tried least, then to the preferred one', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.5', 'T0.5', 'T0.5'], { maxAttempts: 5, backoffMs: 100, backoffMaxMs: 100 });
    expectCall(gateway).toFail('2900ms #', { attempts: 5 });
    expectCall(gateway, { atMs: 10_000 }).toFail('12900ms #', { attempts: 5 });
    flush();
    expect(rowsOf(gateway, 'source').flat()).toEqual(['a/1', 'b/1', 'c/1', 'a/1', 'b/1', 'a/1', 'b/1', 'c/1', 'a/1', 'b/1']);
  }));

  test('R2: a Retry-After on a 5xx is the least wait, for that source alone', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const alone = gatewayOf([{ scripts: ['T0.5(ra=7)', 'd1 f2'] }]);
    const notAlone = gatewayOf([{ scripts: ['T0.5(ra=7)', 'd1 f2'] }, { scripts: ['T0.5', 'd1 f2'] }]);
    const shorter = gatewayOf([{ scripts: ['T0.5(ra=0.2)', 'd1 f2'] }]);
    expectCall(alone).toAnswer('9500ms (r|)', { stats: { waitedMs: 7000 } });
    // B from 1.5; at 2 s the own backoff is 2 s, and A wants peace until 7.5.
    expectCall(notAlone).toAnswer('6s (r|)', { source: 'b/1', stats: { attempts: 3 } });
    expectCall(shorter).toAnswer('3500ms (r|)', { stats: { waitedMs: 1000 } });
    flush();
    expect(requestsOf(notAlone).map(starts)).toEqual([[0], [1500, 4000]]);
  }));

  test('R2: asked to wait longer than a minute, the source is out; with no other the call ends at once', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['T0.5(ra=61)', 'd1 f2'] }])).toFail('500ms #', { code: 'all_sources_exhausted', reason: 'no_runnable_source', retryAfterS: 61 });
    expectCall(gatewayOf([{ scripts: ['T0.5(ra=61)'] }, 'd1 f2'])).toAnswer('3500ms (r|)', { source: 'b/1' });
    expectCall(gatewayOf([{ scripts: ['T0.5(ra=60)', 'd1 f2'] }])).toAnswer('62500ms (r|)', { source: 'a/1' });
  }));

  test('R6: a round counts once, however many attempts it held', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['T6', 'T1'], { maxAttempts: 2, hedgeAfterMs: 3000 })).toFail('13s #', { reason: 'retry_exhausted', attempts: 4 });
  }));
});

describe('429', () => {
  test('R3: burns no budget; the own pause grows with the 429s in a row', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5', 'L0.5', 'L0.5', 'L0.5', 'd1 f2'] }], { maxAttempts: 1 });
    expectCall(gateway).toAnswer('19s (r|)', { stats: { attempts: 5, waitedMs: 15_000 } });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 1500, 4000, 8500, 17_000]);
    expect(rowsOf(gateway, 'errorClass', 'httpStatus')[0]).toEqual(['rate_limited', 429]);
  }));

  test('R3: a failure of another class ends the row of 429s', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5', 'L0.5', 'T0.5', 'L0.5', 'd1 f2'] }]);
    expectCall(gateway);
    flush();
    expect(eventsOf(gateway, 'source-parked').map(({ forMs }) => forMs)).toEqual([1000, 2000, 1000]);
  }));

  test('R3: the own pause is never under half of the backoff, whatever the jitter', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5', 'L0.5', 'd1 f2'] }], { random: () => 0 });
    expectCall(gateway);
    flush();
    expect(eventsOf(gateway, 'source-parked').map(({ forMs }) => forMs)).toEqual([500, 500]);
  }));

  test('R3: parks the source for the longer of Retry-After and own pause', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const [long, short] = [gatewayOf([{ scripts: ['L0.5(ra=10)', 'd1 f2'] }]), gatewayOf([{ scripts: ['L0.5(ra=0.3)', 'd1 f2'] }])];
    expectCall(long).toAnswer('12500ms (r|)');
    expectCall(short).toAnswer('3500ms (r|)');
    flush();
    expect([long, short].map((gateway) => eventsOf(gateway, 'source-parked').map(({ forMs }) => forMs))).toEqual([[10_000], [1000]]);
  }));

  test('R3: jitter on a Retry-After only adds, a fifth at most, and never so much that the deadline ends the wait', wholeCalls(({ gatewayOf, expectCall }) => {
    const asks = [{ scripts: ['L0.5(ra=10)', 'd1 f1'] }];
    expectCall(gatewayOf(asks, { random: () => 0.5 })).toAnswer('12500ms (r|)');
    expectCall(gatewayOf(asks, { random: () => 0 })).toAnswer('13500ms (r|)');
    expectCall(gatewayOf(asks, { random: () => 0, callDeadlineMs: 12_000 })).toAnswer('11500ms (r|)');
    expectCall(gatewayOf([{ scripts: ['T0.5(ra=10)', 'd1 f1'] }], { random: () => 0 })).toAnswer('13500ms (r|)');
  }));

  test('R3: the call goes on at once at another source, and waits for the earliest only when there is none', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5(ra=20)'] }, { scripts: ['L0.5(ra=8)', 'd1 f2'] }]);
    expectCall(gateway).toAnswer('11s (r|)', { source: 'b/1', stats: { waitedMs: 8000, attempts: 3 } });
    flush();
    expect(requestsOf(gateway).map(starts)).toEqual([[0], [500, 9000]]);
  }));

  test('R3: parking is shared by the calls of the scope', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5(ra=20)', 'd1 f2'] }, 'd1 f2']);
    expectCall(gateway).toAnswer('2500ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 5000 }).toAnswer('7s (r|)', { source: 'b/1', stats: { attempts: 1, waitedMs: 0 } });
    expectCall(gateway, { atMs: 21_000 }).toAnswer('23s (r|)', { source: 'a/1' });
    flush();
    expect(requestsOf(gateway).map(starts)).toEqual([[0, 21_000], [500, 5000]]);
  }));

  test('R3: asked to wait longer than a minute there is no sleep, and the source is out for the call', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=61)', 'd1 f2'] }])).toFail('500ms #', { reason: 'no_runnable_source', httpStatus: 429, retryAfterS: 61, cause: { code: 'rate_limited' } });
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=61)'] }, 'd1 f2'])).toAnswer('2500ms (r|)', { source: 'b/1' });
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=60)', 'd1 f2'] }])).toAnswer('62500ms (r|)', { source: 'a/1' });
  }));
});

describe('a source that is out by its own 429', () => {
  test('R3: is not only parked: it is not asked again when its pause is over', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['L0.5(ra=61)', 'd1 f2'], maxConcurrency: 1 }, { scripts: ['d1 f100', 'd1 f2'], maxConcurrency: 1, interTokenS: 200 }]);
    expectCall(gateway).toAnswer('102100ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 100 }).toAnswer('100100ms (r|)', { source: 'b/1' });
  }));
});

describe('source and request failures', () => {
  test('R1, R4: a source failure puts that source out, without wait and without burning budget', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['S0.5', 'd1 f2'] }, { scripts: ['T0.5', 'd1 f2'] }], { maxAttempts: 2 });
    expectCall(gateway).toAnswer('4s (r|)', { source: 'b/1', stats: { attempts: 3, waitedMs: 1000 } });
    flush();
    expect(requestsOf(gateway).map(starts)).toEqual([[0], [500, 2000]]);
  }));

  test('R4: it is out for this call alone', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['S0.5', 'd1 f2'] }, 'd1 f2']);
    expectCall(gateway).toAnswer('2500ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 1000 }).toAnswer('3s (r|)', { source: 'a/1' });
  }));

  test('R4: with every source out the call ends at once', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['S0.5', 'S0.7']);
    expectCall(gateway).toFail('1200ms #', { code: 'all_sources_exhausted', reason: 'no_runnable_source', attempts: 2, source: 'b/1', cause: { code: 'source', source: 'b/1' } });
    flush();
    expect(eventsOf(gateway, 'call-waiting')).toEqual([]);
  }));

  test('R4: a request that is wrong everywhere is thrown at once, unchanged', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const wrong = new RequestError('the context is too long', { httpStatus: 400, providerRequestId: 'req-9' });
    const gateway = gatewayOf([{ scripts: [[fails(0.2, wrong)]] }, 'd1 f2']);
    expectCall(gateway).toFail('200ms #', { name: 'RequestError', code: 'request', message: 'the context is too long', httpStatus: 400, providerRequestId: 'req-9', source: 'a/1', attempts: 1 });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'httpStatus')).toEqual([['request', 400]]);
  }));

  test('R1: what a source throws that is none of the four classes is transient', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [[fails(0.2, new RangeError('oops'))], 'd1 f2'] }]);
    expectCall(gateway).toAnswer('3200ms (r|)');
    flush();
    expect(rowsOf(gateway, 'errorClass', 'errorMessage')[0]).toEqual(['transient', 'the source failed: oops']);
  }));

  test('R7: an error of the call tells what its last failure told, and carries it', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const down = new TransientError('down for maintenance', { httpStatus: 503, providerRequestId: 'req-3', retryAfterS: 2 });
    const gateway = gatewayOf(['T0.5', { scripts: [[...script('d0.2"ab"'), fails(0.5, down)]] }], { maxAttempts: 2 });
    expectCall(gateway).toFail('2s #', {
      code: 'all_sources_exhausted',
      source: 'b/1',
      httpStatus: 503,
      providerRequestId: 'req-3',
      retryAfterS: 2,
      attempts: 2,
      partial: { increments: 1, chars: 2 },
      cause: { name: 'TransientError', code: 'transient', message: 'down for maintenance', source: 'b/1', attempts: 2, partial: { increments: 1, chars: 2 } },
    });
    flush();
    expect(rowsOf(gateway, 'callId')[0]).toEqual([(down as { callId?: string }).callId]);
  }));
});

describe('cases of retry', () => {
  test('RT-02: an empty frame is not output', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['e0.2 T0.5', 'e0.2 d1"x" f1.5']);
    expectCall(gateway).toAnswer('3s (r|)', { content: 'x', callMs: 3000 });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs')).toEqual([['a/1', 'transient', null], ['b/1', null, 1000]]);
  }));

  test('RT-03: exhausted quota that comes late in the stream puts the source out; no wait before another', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['e0.1 S0.2', 'd1"x" f1.5']);
    expectCall(gateway).toAnswer('1700ms (r|)', { content: 'x' });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass')).toEqual([['a/1', 'source'], ['b/1', null]]);
  }));

  test('RT-03: if the other fails too the error has its cause', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['e0.1 S0.2', { scripts: [[fails(0.1, new SourceError('key revoked'))]] }])).toFail('300ms #', { reason: 'no_runnable_source', cause: { message: 'key revoked' } });
  }));

  test('RT-05: nothing below retries: three attempts are three requests', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.01'], { maxAttempts: 3, backoffMs: 50 });
    expectCall(gateway).toFail('180ms #', { reason: 'retry_exhausted' });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 60, 170]);
    expect(gateway.rows).toHaveLength(3);
  }));

  test('RT-05, RT-08: 429 for ever burns no attempt and is bounded by the stall window', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['L0.1'], { maxAttempts: 3, stallWindowMs: 20_000 });
    // Waits of 1, 2, 4, 8 s make 15; after the next one, of 16 s, it is 31.
    expectCall(gateway).toFail('31500ms #', { reason: 'stalled', httpStatus: 429, attempts: 5 });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 1100, 3200, 7300, 15_400]);
  }));

  test('RT-07: our own timeout is not the caller`s abort', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const left = gatewayOf(['', 'd1"x" f1.2']);
    const stopped = gatewayOf(['', 'd1"x" f1.2']);
    const tie = gatewayOf(['', 'd1"x" f1.2']);
    expectCall(left).toAnswer('12200ms (r|)', { content: 'x' });
    expectCall(stopped, { abortMs: 5000, reason: 'stop' }).toFail('5s #', 'stop');
    expectCall(tie, { abortMs: 10_000, reason: 'stop' }).toFail('10s #', 'stop');
    flush();
    expect(rowsOf(stopped, 'source', 'errorClass', 'latencyMs')).toEqual([['a/1', 'caller_cancelled', 5000]]);
    expect(rowsOf(tie, 'source', 'errorClass', 'latencyMs')).toEqual([['a/1', 'caller_cancelled', 10_000]]);
  }));

  test('RT-09: a deterministic refusal is not retried', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const refusal = new RequestError('max_tokens too large', { httpStatus: 422 });
    const gateway = gatewayOf([{ scripts: [[fails(0.2, refusal)]] }, 'd1 f2']);
    expectCall(gateway).toFail('200ms #', { code: 'request', message: 'max_tokens too large' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 200]], []]);
  }));

  test('RT-10: half a tool call never reaches the caller', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const tool = (atS: number, args: string): ScriptStep => ({ atMs: atS * 1000, type: 'delta', delta: { type: 'tool-call', index: 0, id: 'call_1', name: 'open', arguments: args } });
    const gateway = gatewayOf([{ scripts: [[tool(1, '{"path":"a'), ...script('T2')]] }, { scripts: [[tool(1, '{"path":"ab"}'), ...script('f(tool_calls)2')]] }]);
    expectCall(gateway).toAnswer('5s (r|)', { finishReason: 'tool_calls', toolCalls: [{ id: 'call_1', name: 'open', arguments: '{"path":"ab"}' }] });
    flush();
    expect(gateway.rows).toHaveLength(2);
  }));
});

describe('cases of backoff', () => {
  // The forms of the header are read elsewhere; here what the call does with what they say.
  const asked: Record<string, number> = { '0': 1000, '1.5': 1500, '5': 5000, '7': 7000 };
  for (const [retryAfter, waitedMs] of Object.entries(asked)) {
    test(`BO-02: a Retry-After of ${retryAfter} on a 429 waits ${waitedMs} ms`, wholeCalls(({ gatewayOf, expectCall }) => {
      expectCall(gatewayOf([{ scripts: [`L0.5(ra=${retryAfter})`, 'd1 f2'] }])).toAnswer(`${2500 + waitedMs}ms (r|)`, { stats: { waitedMs } });
    }));
  }

  test('BO-02: a Retry-After over a minute puts the source out', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['L0.5(ra=9000000000)', 'd1 f2'] }])).toFail('500ms #', { reason: 'no_runnable_source' });
  }));

  test('BO-04: not everybody wakes at once, nobody too early', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const first = Array.from({ length: 20 }, () => 'L0.1(ra=10)');
    const wakes = [1, 1, 2].map((seed) => {
      const gateway = gatewayOf([{ scripts: [...first, 'd1"x" f1.2'] }], { maxAttempts: 2, random: seeded(seed) });
      for (let at = 0; at < 20; at++) expectCall(gateway);
      flush();
      expect(gateway.rows.map(({ outcome }) => outcome).sort()).toEqual([...Array.from({ length: 20 }, () => 'error'), ...Array.from({ length: 20 }, () => 'ok')]);
      const startedMs = starts(requestsOf(gateway)[0]!);
      return startedMs.slice(20).map((ms) => ms - startedMs[0]!);
    });
    const [one, again, other] = wakes;
    expect(Math.min(...one!)).toBeGreaterThanOrEqual(10_100);
    expect(Math.max(...one!)).toBeLessThanOrEqual(12_100);
    expect(new Set(one).size).toBeGreaterThanOrEqual(10);
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  }));

  test('BO-05: a wait has a ceiling', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['T0.1'], { maxAttempts: 6, backoffMaxMs: 8000 });
    expectCall(gateway).toFail('23600ms #', { reason: 'retry_exhausted' });
    flush();
    expect(starts(requestsOf(gateway)[0]!)).toEqual([0, 1100, 3200, 7300, 15_400, 23_500]);
  }));

  test('BO-06: a wait that cannot fit before the deadline is not begun', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.1(ra=10)'] }], { callDeadlineMs: 5000 });
    expectCall(gateway).toFail('100ms #', { code: 'call_deadline', retryAfterS: 10, attempts: 1, cause: { code: 'transient', retryAfterS: 10 } });
    flush();
    expect(gateway.rows).toHaveLength(1);
  }));

  test('BO-06: one that fits is, and what is left bounds the next attempt', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.1(ra=3)', ''] }], { callDeadlineMs: 5000 });
    expectCall(gateway).toFail('5s #', { code: 'call_deadline', attempts: 2 });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 100], [3100, 5000]]]);
    expect(rowsOf(gateway, 'errorClass', 'latencyMs')[1]).toEqual(['deadline', 1900]);
  }));

  test('R5: a wait for the own backoff that would end past the deadline is not begun; another source is tried at once', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['T4.5'], { callDeadlineMs: 5000 })).toFail('4500ms #', { code: 'call_deadline', cause: { code: 'transient' } });
    expectCall(gatewayOf(['T4.5', 'd0.2 f0.4'], { callDeadlineMs: 5000 })).toAnswer('4900ms (r|)', { source: 'b/1' });
  }));

  test('R5: a parked source that comes free too late is not waited for', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['L0.5(ra=20)'], { callDeadlineMs: 10_000 })).toFail('500ms #', { code: 'call_deadline', httpStatus: 429, retryAfterS: 20, cause: { code: 'rate_limited' } });
  }));

  test('BO-10: a second, longer pause extends the first, a later shorter one does not shorten it', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L0.1(ra=1)', 'L0.35(ra=60)', 'L0.5(ra=2)', 'd1 f2'] }, 'd0.2 f0.4']);
    for (let at = 0; at < 3; at++) expectCall(gateway);
    expectCall(gateway, { atMs: 2000 }).toAnswer('2400ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 59_000 }).toAnswer('59400ms (r|)', { source: 'b/1' });
    expectCall(gateway, { atMs: 61_000 }).toAnswer('63s (r|)', { source: 'a/1' });
    flush();
  }));
});

/** Numbers in [0, 1) that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
