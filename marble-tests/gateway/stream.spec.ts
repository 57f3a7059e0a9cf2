import { describe, expect, test } from '@jest/globals';
import { map, take, tap } from 'rxjs';
import { expectAtRest, heldBy } from '../support/atRest.js';
import { hello } from '../support/virtualGateway.js';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const once = { maxAttempts: 1 };
const start = (source: string, counts: object = {}): object => ({ type: 'start', source, ...counts });
const said = (text: string): object => ({ type: 'content', text });
const end = (response: object = {}): object => ({ type: 'end', response });

describe('what is passed on', () => {
  test('H12: the start with the first increment, deltas as they come, the whole answer at the end', wholeCalls(({ gatewayOf, expectStream }) => {
    expectStream(gatewayOf(['d1"a" d2"b" u2.5(7,3) f3'])).toSay('1s (sa) 996ms b 499ms u 499ms (fe|)', {
      s: start('a/1', { model: 'scripted', attempts: 1, hedges: 0 }),
      a: said('a'),
      b: said('b'),
      u: { type: 'usage', usage: { promptTokens: 7 } },
      f: { type: 'finish', reason: 'stop' },
      e: end({ content: 'ab', source: 'a/1', ttftMs: 1000, latencyMs: 3000, callMs: 3000, increments: 2, stats: { stallMs: 0, attempts: 1, hedges: 0, waitedMs: 0 } }),
    });
  }));

  test('H12, O2: nothing before the first increment; what came before it follows the start', wholeCalls(({ gatewayOf, expectStream }) => {
    expectStream(gatewayOf(['e1 u2(7,3) d5"a" f6'])).toSay('5s (sxua) 994ms (fe|)', {
      s: start('a/1'), x: said(''), u: { type: 'usage' }, a: said('a'), f: { type: 'finish' }, e: end({ ttftMs: 5000 }),
    });
  }));

  test('O1: reasoning, refusal and tool calls commit as text does, and a frame that brings several comes whole', wholeCalls(({ gatewayOf, expectStream }) => {
    expectStream(gatewayOf(['r1"think" &d1"a" g2"{}" f(tool_calls)3'])).toSay('1s (sra) 995ms g 999ms (fe|)', {
      s: start('a/1'),
      r: { type: 'reasoning', text: 'think' },
      a: { ...said('a'), sameFrame: true },
      g: { type: 'tool-call', arguments: '{}' },
      f: { type: 'finish', reason: 'tool_calls' },
      e: end({ reasoning: 'think', content: 'a', increments: 2, finishReason: 'tool_calls' }),
    });
  }));

  test('H15: the end waits one second for usage and end marker, and trouble after the finish reason is ignored', wholeCalls(({ gatewayOf, expectStream }) => {
    const items = { s: start('a/1'), a: said('x'), f: { type: 'finish' }, e: end({ finishReason: 'stop' }) };
    expectStream(gatewayOf(['d1 F2'])).toSay('1s (sa) 996ms f 999ms (e|)', items);
    expectStream(gatewayOf(['d1 F2 T2.5'])).toSay('1s (sa) 996ms f 499ms (e|)', items);
  }));

  test('stream: false is refused before anything is sent', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf(['d1 f2']);
    expectStream(gateway, { request: { stream: false } }).toSay('#', {}, { name: 'RequestError', code: 'request' });
    flush();
    expect(requestsOf(gateway)).toEqual([[]]);
  }));
});

describe('before the first increment', () => {
  test('H12, R2: a failure is tried again, and nothing of it is seen', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf([{ scripts: ['e0.5 T1', 'd1"b" f2'] }]);
    // 1 s until the failure, 1 s of backoff, 1 s until the first increment.
    expectStream(gateway).toSay('3s (sb) 996ms (fe|)', { s: start('a/1', { attempts: 2 }), b: said('b'), f: { type: 'finish' }, e: end({ content: 'b', stats: { attempts: 2, waitedMs: 1000 } }) });
    flush();
    expect(rowsOf(gateway, 'round', 'errorClass', 'won')).toEqual([[1, 'transient', false], [2, null, true]]);
  }));

  test('H12, R3, R4: a source that is out, or wants peace, is left for another at once', wholeCalls(({ gatewayOf, expectStream }) => {
    const items = { s: start('b/1', { attempts: 2 }), b: said('b'), f: { type: 'finish' }, e: end() };
    expectStream(gatewayOf(['S1', 'd1"b" f2'])).toSay('2s (sb) 996ms (fe|)', items);
    expectStream(gatewayOf(['L1(ra=30)', 'd1"b" f2'])).toSay('2s (sb) 996ms (fe|)', items);
  }));

  test('R2, R4: what ends the call there is what ends chat$', wholeCalls(({ gatewayOf, expectStream }) => {
    const partial = { increments: 0, chars: 0 };
    expectStream(gatewayOf(['T1'], once)).toSay('1s #', {}, { code: 'all_sources_exhausted', reason: 'retry_exhausted', partial });
    expectStream(gatewayOf(['Q1'])).toSay('1s #', {}, { code: 'request', httpStatus: 400 });
    expectStream(gatewayOf(['D1'], once)).toSay('1s #', {}, { code: 'all_sources_exhausted', cause: { code: 'transient' } });
    expectStream(gatewayOf(['d9'], { callDeadlineMs: 3000 })).toSay('3s #', {}, { code: 'call_deadline' });
  }));

  test('H12: its silence is hedged, and the first to speak is passed on', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf(['d9 f10', 'd1"b" d3"c" f4'], { hedgeAfterMs: 5000 });
    expectStream(gateway).toSay('6s (sb) 1996ms c 999ms (fe|)', {
      s: start('b/1', { attempts: 2, hedges: 1 }), b: said('b'), c: said('c'), f: { type: 'finish' }, e: end({ content: 'bc', stats: { hedges: 1, hedgeWon: true, attempts: 2 } }),
    });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 6000]], [[5000, 9000]]]);
    expect(rowsOf(gateway, 'role', 'errorClass', 'won', 'stallMs')).toEqual([['primary', 'hedge_cancelled', false, null], ['backup', null, true, 0]]);
  }));

  test('H4 of words: at the same instant the primary speaks, and the backup is closed', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    for (const [specs, source] of [[['d6"a" f7', 'd1"b" f2'], 'a/1'], [['d6.001"a" f7', 'd1"b" f1.999'], 'b/1']] as const) {
      const gateway = gatewayOf([...specs], { hedgeAfterMs: 5000 });
      expectStream(gateway).toSay(source === 'a/1' ? '6s (sw) 996ms (fe|)' : '6s (sw) 995ms (fe|)', { s: start(source, { attempts: 2, hedges: 1 }), w: said(source[0]!), f: { type: 'finish' }, e: end() });
      flush();
      expect(rowsOf(gateway, 'errorClass').flat().filter((failed) => failed === 'hedge_cancelled')).toHaveLength(1);
    }
  }));

  test('H6: one branch fails while the other is silent: the round waits for it', wholeCalls(({ gatewayOf, expectStream }) => {
    const items = { w: said('w'), f: { type: 'finish' }, e: end() };
    expectStream(gatewayOf(['T6', 'd3"w" f4'], { hedgeAfterMs: 5000 })).toSay('8s (sw) 996ms (fe|)', { ...items, s: start('b/1') });
    expectStream(gatewayOf(['d8"w" f9', 'T1'], { hedgeAfterMs: 5000 })).toSay('8s (sw) 996ms (fe|)', { ...items, s: start('a/1', { attempts: 2, hedges: 1 }) });
  }));

  test('H7: both fail: one failure that counts once', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T6', 'd1"w" f2'] }, 'T2'], { hedgeAfterMs: 5000, maxAttempts: 2 });
    expectStream(gateway).toSay('9s (sw) 996ms (fe|)', { s: start('a/1', { attempts: 3, hedges: 1 }), w: said('w'), f: { type: 'finish' }, e: end() });
    flush();
    expect(rowsOf(gateway, 'round', 'errorClass')).toEqual([[1, 'transient'], [1, 'transient'], [2, null]]);
  }));

  test('H3: a refused backup: the primary goes on as if hedging were off', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf(['d9"a" f10'], { hedgeAfterMs: 5000 });
    expectStream(gateway).toSay('9s (sa) 996ms (fe|)', { s: start('a/1', { attempts: 1, hedges: 0 }), a: said('a'), f: { type: 'finish' }, e: end() });
    flush();
    expect(eventsOf(gateway, 'hedge-refused')).toHaveLength(1);
  }));

  test('H2, H12: the stall key has no effect, alone or beside the other', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    for (const hedgeAfterMs of [null, 5000]) {
      const gateway = gatewayOf(['d1"a" d9"b" f10', 'd1 f2'], { hedgeAfterMs, hedgeStallAfterMs: 3000 });
      expectStream(gateway).toSay('1s (sa) 7996ms b 999ms (fe|)', { s: start('a/1'), a: said('a'), b: said('b'), f: { type: 'finish' }, e: end({ stats: { stallMs: 8000, hedges: 0 } }) });
      flush();
      expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
    }
  }));
});

describe('once it has begun', () => {
  const begun = { s: start('a/1'), a: said('abc') };

  test('H12, P1: a failure is an error that says how much was passed on, and nothing is asked again', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const gateway = gatewayOf(['d1"abc" d2"de" T3', 'd1 f2']);
    expectStream(gateway).toSay('1s (sa) 996ms b 999ms #', { ...begun, b: said('de') }, {
      name: 'StreamInterrupted', code: 'stream_interrupted', retryable: true, source: 'a/1', attempts: 1, partial: { increments: 2, chars: 5 }, cause: { code: 'transient', message: 'it broke' },
    });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 3000]], []]);
    expect(rowsOf(gateway, 'errorClass', 'increments', 'won')).toEqual([['transient', 2, false]]);
    expect(eventsOf(gateway, 'call-ended').map(({ outcome, code }) => [outcome, code])).toEqual([['failed', 'stream_interrupted']]);
  }));

  test('W1, H12: so is a silence that lasts too long, of whatever class the failure', wholeCalls(({ gatewayOf, expectStream }) => {
    const partial = { increments: 1, chars: 3 };
    expectStream(gatewayOf(['d1"abc"', 'd1 f2'])).toSay('1s (sa) 14996ms #', begun, { code: 'stream_interrupted', partial, cause: { code: 'transient', cause: { limit: 'between' } } });
    expectStream(gatewayOf(['d1"abc" L2(ra=9)', 'd1 f2'])).toSay('1s (sa) 996ms #', begun, { code: 'stream_interrupted', partial, retryAfterS: 9 });
    expectStream(gatewayOf(['d1"abc" S2', 'd1 f2'])).toSay('1s (sa) 996ms #', begun, { code: 'stream_interrupted', partial, cause: { code: 'source' } });
    expectStream(gatewayOf(['d1"abc" Q2', 'd1 f2'])).toSay('1s (sa) 996ms #', begun, { code: 'request', partial });
  }));

  test('R5: at the deadline the error says how much was passed on; after the finish reason the answer is delivered', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const cut = gatewayOf(['d1"abc" d9 f10'], { callDeadlineMs: 3000 });
    expectStream(cut).toSay('1s (sa) 1996ms #', begun, { code: 'call_deadline', partial: { increments: 1, chars: 3 }, source: 'a/1' });
    const whole = gatewayOf(['d1"abc" F2.5'], { callDeadlineMs: 3000 });
    expectStream(whole).toSay('1s (sa) 1496ms f 499ms (e|)', { ...begun, f: { type: 'finish' }, e: end({ content: 'abc' }) });
    flush();
    expect([...rowsOf(cut, 'errorClass', 'won'), ...rowsOf(whole, 'errorClass', 'won')]).toEqual([['deadline', false], [null, true]]);
  }));

  test('H12, T4: at the deadline the end of an answer alone, whose words were not yet passed on, is nobody\'s answer', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    // Its words and its finish come in the instant of the deadline, in which a backup waits one turn more to speak.
    const gateway = gatewayOf(['d9 f10', 'd1"b" F1'], { hedgeAfterMs: 5000, callDeadlineMs: 6000 });
    expectStream(gateway).toSay('6s #', {}, { code: 'call_deadline' });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'won')).toEqual([['deadline', false], ['deadline', false]]);
  }));

  test('X1: whoever leaves or aborts closes everything in the same turn, also the winner of a hedge', wholeCalls(({ gatewayOf, expectStream, flush }) => {
    const [left, aborted] = [gatewayOf(['d1"abc" d9 f10']), gatewayOf(['d1"abc" d9 f10'])];
    const hedged = gatewayOf(['d9', 'd1"b" d9 f10'], { hedgeAfterMs: 1000 });
    expectStream(left, { leaveMs: 3000 }).toSay('1s (sa)', begun);
    expectStream(aborted, { abortMs: 3000, reason: { why: 'enough' } }).toSay('1s (sa) 1996ms #', begun, { why: 'enough' });
    expectStream(hedged, { leaveMs: 3000 }).toSay('2s (sb)', { s: start('b/1'), b: said('b') });
    flush();
    for (const gateway of [left, aborted]) expect(rowsOf(gateway, 'errorClass', 'increments', 'latencyMs')).toEqual([['caller_cancelled', 1, 3000]]);
    expect(rowsOf(hedged, 'role', 'errorClass', 'latencyMs')).toEqual([['primary', 'hedge_cancelled', 2000], ['backup', 'caller_cancelled', 2000]]);
  }));

  test('X1, OT-01: take(1), and an operator that throws, cancel the source', wholeCalls(({ gatewayOf, scheduler, flush }) => {
    for (const cut of [take(1), map(() => { throw new Error('mine'); }), tap({ next: () => { throw new Error('mine'); } })]) {
      const gateway = gatewayOf(['d1 d2 f3']);
      const held: unknown[] = [];
      gateway.stream$(hello).pipe(cut).subscribe({ error: () => held.push(heldBy([gateway], scheduler)), complete: () => held.push(heldBy([gateway], scheduler)) });
      flush();
      expect(held).toHaveLength(1);
      expect(rowsOf(gateway, 'errorClass', 'increments', 'latencyMs')).toEqual([['caller_cancelled', 1, 1000]]);
      expect(eventsOf(gateway, 'call-ended').map(({ outcome }) => outcome)).toEqual(['cancelled']);
      expectAtRest(heldBy([gateway], scheduler));
    }
  }));

  test('the gateway closes: the stream fails with how much was passed on', wholeCalls(({ gatewayOf, expectStream, at }) => {
    const gateway = gatewayOf(['d1"abc" d9 f10']);
    expectStream(gateway).toSay('1s (sa) 1996ms #', begun, { code: 'closed', partial: { increments: 1, chars: 3 } });
    at(3000, () => gateway.close());
  }));

  test('X3: each subscription is a call of its own, and the request is copied', wholeCalls(({ gatewayOf, scheduler, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1"a" f2', 'd1"b" f2'] }]);
    const stream$ = gateway.stream$(hello);
    const ids = new Set<unknown>();
    stream$.subscribe({ next: (item) => ids.add('callId' in item ? item.callId : undefined) });
    flush();
    stream$.subscribe({ next: (item) => ids.add('callId' in item ? item.callId : undefined) });
    flush();
    expect(ids.size).toBe(3);
    expectAtRest(heldBy([gateway], scheduler));
  }));
});
