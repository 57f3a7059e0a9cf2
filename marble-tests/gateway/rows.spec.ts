import { describe, expect, test } from '@jest/globals';
import { NEVER } from 'rxjs';
import { replaceStream } from '../support/replaceStream.js';
import { eventsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const stalls = { hedgeStallAfterMs: 5000 };

describe('rows', () => {
  const ends: Record<string, { words: string; policy?: object; call?: object; row: [string, string | null] }> = {
    'an answer': { words: 'd1 f2', row: ['ok', null] },
    'a transient failure': { words: 'T1', policy: { maxAttempts: 1 }, row: ['error', 'transient'] },
    'a watchdog kill': { words: 'd1', policy: { maxAttempts: 1 }, row: ['error', 'transient'] },
    'an empty answer': { words: 'f1', policy: { maxAttempts: 1 }, row: ['error', 'transient'] },
    'a 429': { words: 'L1(ra=100)', row: ['error', 'rate_limited'] },
    'a source failure': { words: 'S1', row: ['error', 'source'] },
    'a wrong request': { words: 'Q1', row: ['error', 'request'] },
    'a caller who leaves': { words: 'd1', call: { leaveMs: 2000 }, row: ['error', 'caller_cancelled'] },
    'a caller who aborts': { words: 'd1', call: { abortMs: 2000, reason: 'stop' }, row: ['error', 'caller_cancelled'] },
    'the deadline': { words: 'd1', policy: { callDeadlineMs: 2000 }, row: ['error', 'deadline'] },
  };
  for (const [how, { words, policy, call, row }] of Object.entries(ends)) {
    test(`E1: ${how} leaves one row`, wholeCalls(({ gatewayOf, expectCall, flush }) => {
      const gateway = gatewayOf([words], policy);
      expectCall(gateway, call);
      flush();
      expect(rowsOf(gateway, 'outcome', 'errorClass')).toEqual([row]);
    }));
  }

  test('E1: a hedge loser leaves a row of its own, and one that had completed keeps `ok` without having won', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const running = gatewayOf(['d1', 'd1 f2'], stalls);
    const completed = gatewayOf(['d1 f(content_filter)7', 'd1 f4'], stalls);
    expectCall(running).toAnswer('8s (r|)');
    expectCall(completed).toAnswer('10s (r|)');
    flush();
    expect(rowsOf(running, 'source', 'outcome', 'errorClass', 'won')).toEqual([['b/1', 'ok', null, true], ['a/1', 'error', 'hedge_cancelled', false]]);
    expect(rowsOf(completed, 'source', 'outcome', 'errorClass', 'won')).toEqual([['a/1', 'ok', null, false], ['b/1', 'ok', null, true]]);
  }));

  test('E1: rows are handed over when their round is decided, not when the attempt ends, and before the answer', wholeCalls(({ gatewayOf, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 d2', 'd1 f2'] }, 'd1 T2'], stalls);
    let rowsAtAnswer = 0;
    gateway.chat$({ messages: [{ role: 'user', content: 'hello' }] }).subscribe({ next: () => { rowsAtAnswer = gateway.rows.length; } });
    flush();
    expect(eventsOf(gateway, 'attempt-ended').map(({ atMs, record }) => [atMs, record.source])).toEqual([[9000, 'b/1'], [17_000, 'a/1'], [20_000, 'a/1']]);
    expect(eventsOf(gateway, 'round-decided').map(({ atMs, round, records }) => [atMs, round, records.length])).toEqual([[17_000, 1, 2], [20_000, 2, 1]]);
    expect(rowsAtAnswer).toBe(3);
  }));

  test('E1: rows tell call, round, role and what started a backup; ids are unique', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.5', 'd1'] }, { scripts: ['d1 f2', 'd1 T2'] }], stalls);
    expectCall(gateway, { request: { tags: { job: '7' }, model: 'm-2' } }).toAnswer('3500ms (r|)', { model: 'm-2' });
    expectCall(gateway, { atMs: 30_000 });
    flush();
    const [first] = rowsOf(gateway, 'callId').flat();
    expect(rowsOf(gateway, 'scope', 'round', 'role', 'hedgeTrigger', 'source', 'provider', 'model', 'streamed', 'tags').slice(0, 4)).toEqual([
      ['LLM', 1, 'primary', null, 'a/1', 'a', 'm-2', true, { job: '7' }],
      ['LLM', 2, 'primary', null, 'b/1', 'b', 'm-2', true, { job: '7' }],
      ['LLM', 1, 'backup', 'stall', 'b/1', 'b', 'scripted', true, null],
      ['LLM', 1, 'primary', null, 'a/1', 'a', 'scripted', true, null],
    ]);
    expect(rowsOf(gateway, 'callId').flat().map((id) => id === first).slice(0, 4)).toEqual([true, true, false, false]);
    expect(new Set(rowsOf(gateway, 'id').flat()).size).toBe(gateway.rows.length);
  }));

  test('E1, B2: a row tells how long its call had waited when it started', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['T0.5', 'L0.5(ra=7)', 'd1 f2'] }]);
    expectCall(gateway).toAnswer('11s (r|)');
    flush();
    expect(rowsOf(gateway, 'waitedMs', 'retryAfterMs', 'httpStatus', 'startedMs', 'endedMs')).toEqual([
      [0, null, null, 0, 500],
      [1000, 7000, 429, 1500, 2000],
      [8000, null, null, 9000, 11_000],
    ]);
  }));

  test('E1: record gaps are the waits longer than all of their kind before them: the first one, and those after it, tail included', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d2 d3 d6 d8 d13 f14', 'd1 f2']);
    expectCall(gateway).toAnswer('14s (r|)');
    const tail = gatewayOf(['d1 d3 f9']);
    expectCall(tail).toAnswer('9s (r|)');
    const lateStart = gatewayOf(['d9 d10 d12 d13 f14']);
    expectCall(lateStart).toAnswer('14s (r|)');
    const nothing = gatewayOf(['T4'], { maxAttempts: 1 });
    expectCall(nothing);
    flush();
    expect(rowsOf(gateway, 'recordGaps')).toEqual([[[[0, 2000], [2000, 1000], [3000, 3000], [8000, 5000]]]]);
    expect(rowsOf(tail, 'recordGaps')).toEqual([[[[0, 1000], [1000, 2000], [3000, 6000]]]]);
    // A threshold of its own counts for the first wait, so it hides none of the others.
    expect(rowsOf(lateStart, 'recordGaps')).toEqual([[[[0, 9000], [9000, 1000], [10_000, 2000]]]]);
    expect(rowsOf(nothing, 'recordGaps')).toEqual([[[[0, 4000]]]]);
  }));

  test('E1: an attempt exists from the moment its source is subscribed, though that throws at once', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 f2'], { maxAttempts: 1 });
    replaceStream(gateway.sources[0], (scripted) => (request, context) => {
      scripted(request, context).subscribe().unsubscribe();
      throw new RangeError('not today');
    });
    expectCall(gateway).toFail('#', { reason: 'retry_exhausted', attempts: 1, cause: { message: 'the source failed: not today' } });
    flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs', 'recordGaps')).toEqual([['transient', 0, []]]);
  }));

  test('E1: what was let go before anything went out leaves no row and is no attempt', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 f9', ''], stalls);
    replaceStream(gateway.sources[1], () => (_request, { onUnsent }) => {
      onUnsent?.();
      return NEVER;
    });
    expectCall(gateway).toAnswer('9s (r|)', { stats: { attempts: 1 } });
    flush();
    expect(rowsOf(gateway, 'source')).toEqual([['a/1']]);
    expect(eventsOf(gateway, 'attempt-unsent')).toHaveLength(1);
  }));

  test('E1: rows of calls that run at the same time are not mixed up', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 f4', 'T2', 'd1 f2'] }, 'T1'], { maxAttempts: 3 });
    expectCall(gateway).toAnswer('4s (r|)', { stats: { attempts: 1 } });
    expectCall(gateway, { atMs: 500 });
    flush();
    const callIds = eventsOf(gateway, 'call-started').map(({ callId }) => callId);
    const rowsOfCall = (id: string): unknown[] => gateway.rows.filter(({ callId }) => callId === id).map(({ source, round }) => [source, round]);
    expect(callIds.map(rowsOfCall)).toEqual([[['a/1', 1]], [['a/1', 1], ['b/1', 2], ['a/1', 3]]]);
  }));
});
