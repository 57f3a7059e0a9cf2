import { describe, expect, test } from '@jest/globals';
import type { ChatDelta } from '../../lib/model/delta.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { script } from '../support/script.js';
import { requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const says = (atS: number, delta: ChatDelta): ScriptStep => ({ atMs: atS * 1000, type: 'delta', delta });
const usage = (atS: number, completionTokens: number, reasoningTokens: number | null = null): ScriptStep =>
  says(atS, { type: 'usage', usage: { promptTokens: 5, completionTokens, totalTokens: 5 + completionTokens, reasoningTokens, cachedTokens: null } });

describe('what counts as output', () => {
  test('O1: content, reasoning, refusal and tool arguments each are an increment and keep a stream alive', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['r1"hm" n15"no" g29"{}" d43"x" f57']);
    expectCall(gateway).toAnswer('57s (r|)', { increments: 4, ttftMs: 1000, maxInterTokenMs: 14_000, reasoning: 'hm', refusal: 'no', content: 'x', stats: { stallMs: 42_000, stallCount: 3 } });
    flush();
  }));

  test('O1: a frame that brings several is one increment', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1"a" &r1"b" &g1"{}" d2"c" f3']);
    expectCall(gateway).toAnswer('3s (r|)', { increments: 2, content: 'ac', reasoning: 'b', maxInterTokenMs: 1000 });
  }));

  test('O2: what is no output counts nothing and moves no figure', wholeCalls(({ gatewayOf, expectCall }) => {
    const facts = says(0.1, { type: 'facts', model: 'm-1', providerRequestId: 'req-1' });
    const logprobs = says(4, { type: 'logprobs', logprobs: { content: [] } });
    const gateway = gatewayOf([{ scripts: [[facts, ...script('e0.2 u0.3 d1"a" e2 u3'), logprobs, ...script('d6"b" f7')]] }]);
    expectCall(gateway).toAnswer('7s (r|)', { increments: 2, ttftMs: 1000, maxInterTokenMs: 5000, model: 'm-1', providerRequestId: 'req-1', stats: { stallMs: 5000, stallCount: 1, generationMs: 2000 } });
  }));

  test('O2: what is no output neither stops nor restarts a timer', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['e1 u2 e3 e4 e9', 'd1"b" e2 u3 e5 e10 e15'], { hedgeAfterMs: 5000, maxAttempts: 1 });
    expectCall(gateway).toFail('21s #', { code: 'all_sources_exhausted', reason: 'retry_exhausted' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 10_000]], [[5000, 21_000]]]);
  }));
});

describe('figures of a call', () => {
  test('M1, M3: the example of the rules', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d0.5"a" d0.9"b" d3.9"c" d4"d" f4.1'], { stallThresholdMs: 1000 });
    expectCall(gateway).toAnswer('4100ms (r|)', {
      content: 'abcd',
      ttftMs: 500,
      maxInterTokenMs: 3000,
      latencyMs: 4100,
      callMs: 4100,
      stats: { generationMs: 1100, stallMs: 3000, stallCount: 1, hedges: 0, hedgeWon: false, attempts: 1, waitedMs: 0 },
    });
  }));

  test('M1: a gap of exactly the threshold is none', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1 d2 d3.001 f4'], { stallThresholdMs: 1000 })).toAnswer('4s (r|)', { maxInterTokenMs: 1001, stats: { stallMs: 1001, stallCount: 1 } });
    expectCall(gatewayOf(['d1 d2 d3 f4'], { stallThresholdMs: 1000 })).toAnswer('4s (r|)', { maxInterTokenMs: 1000, stats: { stallMs: 0, stallCount: 0 } });
  }));

  test('M2: one increment cannot be measured: null, and nothing is subtracted', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d5 f9']);
    expectCall(gateway).toAnswer('9s (r|)', { ttftMs: 5000, maxInterTokenMs: null, increments: 1, stats: { stallMs: null, stallCount: null, generationMs: 9000 } });
    flush();
    expect(rowsOf(gateway, 'stallMs', 'stallCount', 'maxInterTokenMs', 'ttftMs', 'latencyMs')).toEqual([[null, null, null, 5000, 9000]]);
  }));

  test('M2: a request that is not streamed has a wall time and nothing else', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d5"a" &g5"{}" d9"b" f9']);
    expectCall(gateway, { request: { stream: false } }).toAnswer('9s (r|)', { content: 'ab', ttftMs: null, maxInterTokenMs: null, increments: null, latencyMs: 9000, stats: { stallMs: null, stallCount: null, generationMs: 9000 } });
    flush();
    expect(rowsOf(gateway, 'streamed', 'stallMs', 'stallCount', 'ttftMs', 'increments', 'latencyMs')).toEqual([[false, null, null, null, null, 9000]]);
  }));

  test('M2: an answer in one piece to a stream request has figures as one that was not streamed', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: [[says(4, { type: 'facts', whole: true }), ...script('d4"a" r4"b" f4')]] }]);
    expectCall(gateway).toAnswer('4s (r|)', { content: 'a', ttftMs: null, maxInterTokenMs: null, stats: { stallMs: null, stallCount: null, generationMs: 4000 } });
  }));

  const endings = {
    'the watchdog': { words: 'd1 d2 d7', policy: {}, call: {}, endMs: 22_000, gaps: [[0, 1000], [1000, 1000], [2000, 5000], [7000, 15_000]] },
    'an error': { words: 'd1 d2 d7 T8', policy: {}, call: {}, endMs: 8000, gaps: [[0, 1000], [1000, 1000], [2000, 5000]] },
    'the deadline': { words: 'd1 d2 d7', policy: { callDeadlineMs: 8000 }, call: {}, endMs: 8000, gaps: [[0, 1000], [1000, 1000], [2000, 5000]] },
    'the caller': { words: 'd1 d2 d7', policy: {}, call: { leaveMs: 8000 }, endMs: 8000, gaps: [[0, 1000], [1000, 1000], [2000, 5000]] },
  };
  for (const [who, { words, policy, call, endMs, gaps }] of Object.entries(endings)) {
    test(`M2: an attempt that ${who} ends has no stall figures, but its record gaps, first wait and increments`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf([words], { maxAttempts: 1, ...policy });
      expectCall(gateway, call);
      flush();
      expect(rowsOf(gateway, 'stallMs', 'stallCount', 'maxInterTokenMs', 'ttftMs', 'increments', 'latencyMs', 'recordGaps')).toEqual([[null, null, null, 1000, 3, endMs, gaps]]);
    }));
  }

  test('M3: times become whole milliseconds in one place, so that wall = generation + stall', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d0.5004 d2.101 d3.7016 f3.9009'], { stallThresholdMs: 1000 });
    // Gaps of 1600.6 each: the sum is cut, not each of them.
    expectCall(gateway).toAnswer('3900.9ms (r|)', { ttftMs: 500, maxInterTokenMs: 1600, latencyMs: 3900, stats: { stallMs: 3201, stallCount: 2, generationMs: 699 } });
    flush();
    expect(rowsOf(gateway, 'latencyMs', 'stallMs', 'ttftMs')).toEqual([[3900, 3201, 500]]);
  }));

  test('M4: the wait for the first increment and the tail after the last are generation, not stall', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d6 d7 f20'])).toAnswer('20s (r|)', { stats: { generationMs: 20_000, stallMs: 0, stallCount: 0 } });
  }));

  test('M5: stats are those of the winner; a loser that had completed keeps its own in its row', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1"a" d4"a" f(content_filter)6', 'd1"b" d2"b" f5'], { hedgeStallAfterMs: 2000 });
    expectCall(gateway).toAnswer('8s (r|)', { content: 'bb', ttftMs: 1000, maxInterTokenMs: 1000, latencyMs: 5000, callMs: 8000, stats: { generationMs: 5000, stallMs: 0, stallCount: 0, hedges: 1, hedgeWon: true } });
    flush();
    expect(rowsOf(gateway, 'source', 'outcome', 'won', 'stallMs', 'stallCount', 'maxInterTokenMs', 'latencyMs', 'finishReason')).toEqual([
      ['a/1', 'ok', false, 3000, 1, 3000, 6000, 'content_filter'],
      ['b/1', 'ok', true, 0, 0, 1000, 5000, 'stop'],
    ]);
  }));

  test('M6: the threshold changes figures and nothing else', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const scripts = ['d1 d3 d9', { scripts: ['d1 T2', 'd1 d5 f6'] }];
    const gateways = [100, 60_000].map((stallThresholdMs) => gatewayOf(scripts, { stallThresholdMs, hedgeStallAfterMs: 4000 }));
    for (const gateway of gateways) expectCall(gateway);
    flush();
    const [low, high] = gateways.map((gateway) => gateway.rows.map((row) => ({ ...row, stallMs: 0, stallCount: 0, id: '', callId: '' })));
    expect(low).toEqual(high);
    expect(gateways.map((gateway) => rowsOf(gateway, 'stallMs').flat())).toEqual([[null, null, 4000, null], [null, null, 0, null]]);
  }));
});

describe('cases of metrics', () => {
  test('MT-01: framing is not a first increment', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['e0.1 u1(9,0) e2 d3"x" f4'])).toAnswer('4s (r|)', { ttftMs: 3000, latencyMs: 4000, increments: 1, stats: { stallMs: null, stallCount: null } });
  }));

  test('MT-02: the wait for a place, a failed attempt and the first increment are three numbers', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f4', 'T0.5'], maxConcurrency: 1 }, { scripts: ['d1 f4', 'd2 f3'], maxConcurrency: 1 }]);
    expectCall(gateway).toAnswer('4s (r|)');
    expectCall(gateway).toAnswer('4s (r|)');
    expectCall(gateway).toAnswer('8500ms (r|)', { ttftMs: 2000, latencyMs: 3000, callMs: 8500, source: 'b/1', stats: { waitedMs: 5000, attempts: 2 } });
    flush();
    expect(rowsOf(gateway, 'source', 'errorClass', 'ttftMs', 'latencyMs', 'waitedMs').slice(2)).toEqual([
      ['a/1', 'transient', null, 500, 4000],
      ['b/1', null, 2000, 3000, 5000],
    ]);
  }));

  test('MT-03: without a first increment there is no number', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const cancelled = gatewayOf(['e0.05 d1']);
    expectCall(cancelled, { leaveMs: 100 }).toSayNothing();
    const loser = gatewayOf(['e1', 'd1 f2'], { hedgeAfterMs: 3000 });
    expectCall(loser).toAnswer('5s (r|)');
    const late = gatewayOf(['e1'], { maxAttempts: 1 });
    expectCall(late).toFail('10s #', { reason: 'retry_exhausted' });
    const failed = gatewayOf(['T0.2'], { maxAttempts: 1 });
    expectCall(failed).toFail('200ms #', { reason: 'retry_exhausted' });
    flush();
    const withoutResult = [cancelled, loser, late, failed].flatMap((gateway) => rowsOf(gateway, 'errorClass', 'ttftMs', 'latencyMs')).filter(([errorClass]) => errorClass !== null);
    expect(withoutResult).toEqual([
      ['caller_cancelled', null, 100],
      ['hedge_cancelled', null, 5000],
      ['transient', null, 10_000],
      ['transient', null, 200],
    ]);
  }));

  test('MT-04: a chunk is not a token: increments and tokens are counted apart', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: [[...script('e0.2 d1"ten tokens" d2"ten tokens" d3"ten tokens" F3'), usage(3, 30), ...script('D3')]] }]);
    expectCall(gateway).toAnswer('3s (r|)', { increments: 3, usage: { promptTokens: 5, completionTokens: 30 }, stats: { generationMs: 3000 } });
  }));

  test('MT-08: tokens of reasoning are kept as they were reported', wholeCalls(({ gatewayOf, expectCall }) => {
    const thinking = script('r1 r2 r3 r4 r5 r6 r7 r8 d9 d10 F10');
    expectCall(gatewayOf([{ scripts: [[...thinking, usage(10, 100, 80), ...script('D10')]] }])).toAnswer('10s (r|)', { usage: { completionTokens: 100, reasoningTokens: 80 }, stats: { generationMs: 10_000 } });
    expectCall(gatewayOf([{ scripts: [[...script('d9 d10 F10'), usage(10, 100, 100), ...script('D10')]] }])).toAnswer('10s (r|)', { usage: { completionTokens: 100, reasoningTokens: 100 }, reasoning: '' });
  }));

  const late = { promptTokens: 7, completionTokens: 3 };
  const lateUsage: Record<string, { words: string; diagram: string; fields: object }> = {
    'a: usage after the finish is waited for': { words: 'd1 F2 u2.5(7,3) D2.5', diagram: '2500ms (r|)', fields: { usage: late, latencyMs: 2500 } },
    'b: no usage is null, not zero': { words: 'd1 F2 D2', diagram: '2s (r|)', fields: { usage: null } },
    'c: a stream left open after its finish is complete one second later': { words: 'd1 F2', diagram: '3s (r|)', fields: { usage: null, finishReason: 'stop', latencyMs: 3000 } },
    'd: running totals: the last counts': { words: 'd1 u1(7,1) d2 u2(7,3) F2 D2', diagram: '2s (r|)', fields: { usage: late } },
  };
  for (const [name, { words, diagram, fields }] of Object.entries(lateUsage)) {
    test(`MT-09 ${name}`, wholeCalls(({ gatewayOf, expectCall }) => {
      expectCall(gatewayOf([words], { stallThresholdMs: 400 })).toAnswer(diagram, { ...fields, stats: { hedges: 0 } });
    }));
  }

  test('MT-09: the wait between finish and usage is no stall', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1 d1.1 F2 u2.9 D2.9'], { stallThresholdMs: 200 })).toAnswer('2900ms (r|)', { stats: { stallMs: 0, stallCount: 0, generationMs: 2900 } });
  }));
});
