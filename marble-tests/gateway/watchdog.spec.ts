import { describe, expect, test } from '@jest/globals';
import { concatMap, from, map, timer, using } from 'rxjs';
import { TransientError } from '../../lib/model/errors.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { replaceStream } from '../support/replaceStream.js';
import { script } from '../support/script.js';
import { requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const once = { maxAttempts: 1 };
const gaveUp = { code: 'all_sources_exhausted', reason: 'retry_exhausted' };
const everySecond = (word: string, fromS: number, toS: number): string => Array.from({ length: toS - fromS + 1 }, (_, at) => `${word}${fromS + at}`).join(' ');

describe('the liveness timeout', () => {
  test('W1: ends an attempt whose first increment is late', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d10.001'], ttftS: 10 }], once);
    expectCall(gateway).toFail('10s #', { ...gaveUp, cause: { code: 'transient', source: 'a/1', cause: { code: 'stream_liveness_timeout', limit: 'first', limitMs: 10_000, waitedMs: 10_000 } } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]]]);
  }));

  test('W1: ends an attempt that is silent between increments', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d3 d18.001'], interTokenS: 15 }], once);
    expectCall(gateway).toFail('18s #', { cause: { cause: { limit: 'between', limitMs: 15_000, waitedMs: 15_000 }, partial: { increments: 2, chars: 2 } } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 18_000]]]);
  }));

  test('W1: ends an attempt that lasts too long, however lively it is', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: [everySecond('d', 1, 40)], timeoutS: 30 }], once);
    expectCall(gateway).toFail('30s #', { cause: { cause: { limit: 'total', limitMs: 30_000, waitedMs: 30_000 } } });
    flush();
    expect(rowsOf(gateway, 'increments', 'errorClass')).toEqual([[30, 'transient']]);
  }));

  test('W1: without a limit of its own a pause may take as long as the attempt', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['d1 d39 f39.5'], interTokenS: 'none', timeoutS: 40 }], once)).toAnswer('39500ms (r|)');
    expectCall(gatewayOf([{ scripts: ['d1 d39'], interTokenS: 'none', timeoutS: 40 }], once)).toFail('40s #', { cause: { cause: { limit: 'total' } } });
  }));

  test('W1: a request that is not streamed has the limit of the whole attempt alone', wholeCalls(({ gatewayOf, expectCall }) => {
    const request = { stream: false };
    expectCall(gatewayOf([{ scripts: ['d29 f29'], timeoutS: 30 }], once), { request }).toAnswer('29s (r|)');
    expectCall(gatewayOf([{ scripts: ['d31 f31'], timeoutS: 30 }], once), { request }).toFail('30s #', { cause: { cause: { limit: 'total' } } });
  }));

  test('W2: a kill is a transient failure in its row, which feeds the breaker', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1', 'd1 f2'] }]);
    expectCall(gateway).toAnswer('19s (r|)', { stats: { attempts: 2, waitedMs: 1000 } });
    flush();
    expect(rowsOf(gateway, 'outcome', 'errorClass', 'won', 'latencyMs')).toEqual([['error', 'transient', false, 16_000], ['ok', null, true, 2000]]);
  }));

  test('W3: works the same while hedging is on', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const scripts = [{ scripts: ['d1 d2'], interTokenS: 4 }];
    const [plain, hedged] = [gatewayOf(scripts, once), gatewayOf(scripts, { ...once, hedgeAfterMs: 500, hedgeStallAfterMs: 3000 })];
    expectCall(plain).toFail('6s #', gaveUp);
    expectCall(hedged).toFail('6s #', gaveUp);
    flush();
    expect(rowsOf(hedged, 'errorClass', 'latencyMs')).toEqual(rowsOf(plain, 'errorClass', 'latencyMs'));
  }));

  test('W4: limits start in the turn in which the request is sent, not while the call waits', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d12 f20', 'd9.5 f9.6'], maxConcurrency: 1 }]);
    expectCall(gateway).toAnswer('20s (r|)');
    expectCall(gateway, { atMs: 1000 }).toAnswer('29600ms (r|)', { ttftMs: 9500, stats: { waitedMs: 19_000 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 20_000], [20_000, 29_600]]]);
  }));

  test('W4: where the deadline comes first it ends the attempt, as a row that is nobody`s fault', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1'], { callDeadlineMs: 15_000 });
    expectCall(gateway).toFail('15s #', { code: 'call_deadline', attempts: 1 });
    flush();
    expect(rowsOf(gateway, 'outcome', 'errorClass', 'latencyMs')).toEqual([['error', 'deadline', 15_000]]);
  }));
});

describe('what comes at the same instant', () => {
  test('T4: an increment at the very instant of a limit wins, from a source that schedules as it goes', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['d10 d25 d40 f55'], ttftS: 10, interTokenS: 15 }], once)).toAnswer('55s (r|)', { increments: 3 });
  }));

  test('T4: an answer that is complete at the very instant of the whole limit, or of the deadline, wins', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf([{ scripts: ['d1 f12'], timeoutS: 12 }], once)).toAnswer('12s (r|)');
    expectCall(gatewayOf(['d1 f12'], { ...once, callDeadlineMs: 12_000 })).toAnswer('12s (r|)');
  }));

  test('T4: a backup that is complete at the very instant of the deadline wins', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1', 'd1 f6'], { hedgeStallAfterMs: 5000, callDeadlineMs: 12_000 })).toAnswer('12s (r|)', { source: 'b/1' });
  }));

  test('T4: the deadline goes before the watchdog, so that the row is neutral', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1'], interTokenS: 14 }], { callDeadlineMs: 15_000 });
    expectCall(gateway).toFail('15s #', { code: 'call_deadline' });
    flush();
    expect(rowsOf(gateway, 'errorClass')).toEqual([['deadline']]);
  }));

  test('T4: the watchdog goes before the hedge signal, so that the failure is an ordinary one', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1'], interTokenS: 5 }, 'd1 f2'], { hedgeStallAfterMs: 5000 });
    expectCall(gateway).toAnswer('9s (r|)', { source: 'b/1', stats: { hedges: 0, attempts: 2 } });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 6000]], [[7000, 9000]]]);
  }));

  test('T4: an increment at the very instant of the hedge signal wins', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d5 d9 d13 f17', 'd0.1 f0.2'], { hedgeAfterMs: 5000, hedgeStallAfterMs: 4000 })).toAnswer('17s (r|)', { source: 'a/1', stats: { hedges: 0 } });
  }));

  test('T4: holds for any source that makes each timer when the one before has fired', wholeCalls(({ gatewayOf, expectCall, scheduler }) => {
    const gateway = gatewayOf([{ scripts: [''], interTokenS: 3 }], { ...once, hedgeStallAfterMs: 3000 });
    const paced = from(['a', 'b', 'c']).pipe(concatMap((text) => timer(3000, scheduler).pipe(map(() => ({ type: 'content' as const, text })))));
    replaceStream(gateway.sources[0], (scripted) => (request, context) => using(() => scripted(request, context).subscribe(), () => paced));
    expectCall(gateway).toAnswer('9s (r|)', { content: 'abc', stats: { hedges: 0 } });
  }));
});

describe('cases of stalled streams', () => {
  test('WD-01: silence after the first increment', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"x"'], { ...once, callDeadlineMs: 60_000 });
    expectCall(gateway).toFail('16s #', gaveUp);
    flush();
    expect(rowsOf(gateway, 'errorClass', 'ttftMs', 'stallMs', 'latencyMs', 'recordGaps')).toEqual([['transient', 1000, null, 16_000, [[0, 1000], [1000, 15_000]]]]);
    expect(requestsOf(gateway)).toEqual([[[0, 16_000]]]);
  }));

  test('WD-02: a peer that never answers; the next source is asked', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['', 'd1"ok" f1.2'], { callDeadlineMs: 60_000 });
    expectCall(gateway).toAnswer('12200ms (r|)', { content: 'ok', ttftMs: 1000, callMs: 12_200 });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs', 'latencyMs')).toEqual([['a/1', 'transient', null, 10_000], ['b/1', null, 1000, 1200]]);
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]], [[11_000, 12_200]]]);
  }));

  test('WD-04: a long stream that keeps coming is left alone', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const words = Array.from({ length: 30 }, (_, at) => `d${5 + at * 10}`).join(' ');
    const gateway = gatewayOf([`${words} f296`]);
    expectCall(gateway).toAnswer('296s (r|)', { increments: 30, ttftMs: 5000, latencyMs: 296_000, stats: { stallMs: 290_000, stallCount: 29, generationMs: 6000 } });
    flush();
    expect(gateway.rows).toHaveLength(1);
  }));

  test('WD-05: an increment exactly at the limit, and one a millisecond later', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d0.5 d15.5 f16'], once)).toAnswer('16s (r|)', { ttftMs: 500, latencyMs: 16_000, stats: { stallMs: 15_000, stallCount: 1, generationMs: 1000 } });
    expectCall(gatewayOf(['d0.5 d15.501 f16'], once)).toFail('15500ms #', gaveUp);
  }));

  test('WD-06: an error event ends the attempt at once, with its own cause, though the socket stays open', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const capacity: ScriptStep = { atMs: 2000, type: 'error', error: new TransientError('no capacity', { cause: { code: 'capacity' }, providerRequestId: 'req-7' }) };
    const gateway = gatewayOf([{ scripts: [[...script('d1"x"'), capacity]] }], once);
    expectCall(gateway).toFail('2s #', { ...gaveUp, providerRequestId: 'req-7', cause: { code: 'transient', message: 'no capacity', cause: { code: 'capacity' } } });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'ttftMs', 'latencyMs')).toEqual([['transient', 1000, 2000]]);
  }));

  test('WD-09: a broken frame fails the attempt and the whole answer comes from another source', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a" T2', 'd1"ab" f2']);
    expectCall(gateway).toAnswer('5s (r|)', { content: 'ab', source: 'b/1' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 2000]], [[3000, 5000]]]);
  }));
});

describe('cases of signs of life', () => {
  test('LV-01: what is no output does not count as a first increment', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([everySecond('e', 1, 30), 'd1"ok" f1.2']);
    expectCall(gateway).toAnswer('12200ms (r|)', { content: 'ok' });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs')).toEqual([['a/1', 'transient', null], ['b/1', null, 1000]]);
    expect(requestsOf(gateway)[0]).toEqual([[0, 10_000]]);
  }));

  for (const [name, word] of [['empty frames', 'e'], ['usage snapshots', 'u']] as const) {
    test(`LV-02: ${name} do not keep a frozen generation alive`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf([`d1"x" ${everySecond(word, 2, 40)}`], once);
      expectCall(gateway).toFail('16s #', gaveUp);
      flush();
      expect(rowsOf(gateway, 'ttftMs', 'stallMs', 'latencyMs')).toEqual([[1000, null, 16_000]]);
    }));
  }

  test('LV-03: nor in the middle of a long think', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1"x" e6 e11 e16 e21 e26 e31 e36 d41"y" f42'], { ...once, callDeadlineMs: 60_000 })).toFail('16s #', gaveUp);
  }));

  test('LV-05: reasoning without an answer is an answer', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['r1"hm" r2"ok" f3', 'd1 f2']);
    expectCall(gateway).toAnswer('3s (r|)', { content: '', reasoning: 'hmok', finishReason: 'stop', source: 'a/1' });
    flush();
    expect(gateway.rows).toHaveLength(1);
  }));

  test('LV-05: reasoning that is cut off is a failure, and nothing of it stays', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['r1"hm" T2', 'd1"x" f2']);
    expectCall(gateway).toAnswer('5s (r|)', { content: 'x', reasoning: '', source: 'b/1' });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass')).toEqual([['a/1', 'transient'], ['b/1', null]]);
  }));
});
