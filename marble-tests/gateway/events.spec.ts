import { describe, expect, test } from '@jest/globals';
import type { GatewayEvent } from '../../lib/model/events.js';
import type { VirtualGateway } from '../support/virtualGateway.js';
import { wholeCalls } from '../support/wholeCalls.js';

/** The events without their times, in short: type, attempt, source and what else is asked for. */
function told(gateway: VirtualGateway, type: GatewayEvent['type'], ...fields: string[]): unknown[] {
  const calls = [...new Set(gateway.events.flatMap((event) => ('callId' in event ? [event.callId] : [])))];
  const short = (value: unknown): unknown => calls.reduce<unknown>((text, id, at) => (typeof text === 'string' ? text.replace(id, `call${at + 1}`) : text), value);
  return gateway.events.filter((event) => event.type === type).map((event) => ['atMs', 'callId', ...fields].map((field) => short((event as unknown as Record<string, unknown>)[field])));
}

describe('events$: whatever a call causes has its callId, whatever an attempt causes attemptId and source, everything its time', () => {
  test('of a call that is hedged and won by the backup', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1', 'd1 f2'], { hedgeStallAfterMs: 3000 });
    expectCall(gateway, { request: { model: 'm' } }).toAnswer('6s (r|)');
    flush();
    expect(gateway.events.map(({ type }) => type)).toEqual([
      'call-started', 'attempt-started', 'silence-noticed', 'attempt-started', 'attempt-ended', 'attempt-ended', 'round-decided', 'call-ended',
    ]);
    expect(told(gateway, 'call-started', 'scope', 'operation', 'model', 'streamed')).toEqual([[0, 'call1', 'LLM', 'chat', 'm', true]]);
    expect(told(gateway, 'attempt-started', 'attemptId', 'source', 'role', 'trigger', 'round', 'provider', 'model', 'waitedMs')).toEqual([
      [0, 'call1', 'call1-1', 'a/1', 'primary', null, 1, 'a', 'm', 0],
      [4000, 'call1', 'call1-2', 'b/1', 'backup', 'stall', 1, 'b', 'm', 0],
    ]);
    expect(told(gateway, 'silence-noticed', 'attemptId', 'source', 'trigger', 'silentMs')).toEqual([[4000, 'call1', 'call1-1', 'a/1', 'stall', 3000]]);
    expect(told(gateway, 'attempt-ended', 'attemptId', 'source')).toEqual([[6000, 'call1', 'call1-2', 'b/1'], [6000, 'call1', 'call1-1', 'a/1']]);
    expect(told(gateway, 'call-ended', 'outcome', 'code', 'callMs', 'source', 'attempts', 'hedges', 'waitedMs')).toEqual([[6000, 'call1', 'ok', null, 6000, 'b/1', 2, 1, 0]]);
  }));

  test('of refusals: by which gate a hedge was refused, and what a call waits for', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const full = gatewayOf(['d1 d9 f10', { scripts: ['d1 f2'], maxConcurrency: 0 }], { hedgeStallAfterMs: 3000 });
    const alone = gatewayOf(['d1 d9 f10'], { hedgeStallAfterMs: 3000 });
    const capped = gatewayOf(['d1 d9 f10', 'd1 d30 f31'], { hedgeStallAfterMs: 3000, hedgeMaxRatio: 0.1 });
    const spent = gatewayOf([{ scripts: ['d1 f2'], rpm: 1 }], { backpressure: 'wait' });
    expectCall(full).toAnswer('10s (r|)');
    expectCall(alone).toAnswer('10s (r|)');
    expectCall(capped).toAnswer('10s (r|)');
    expectCall(capped, { atMs: 20_000 }).toAnswer('30s (r|)');
    expectCall(spent).toAnswer('2s (r|)');
    expectCall(spent, { atMs: 3000 }).toAnswer('62s (r|)');
    flush();
    expect(told(full, 'hedge-refused', 'attemptId', 'source', 'gate')).toEqual([[4000, 'call1', 'call1-1', 'a/1', 'concurrency']]);
    expect(told(alone, 'hedge-refused', 'attemptId', 'source', 'gate')).toEqual([[4000, 'call1', 'call1-1', 'a/1', 'none-left']]);
    expect(told(capped, 'hedge-refused', 'attemptId', 'source', 'gate')).toEqual([[24_000, 'call2', 'call2-1', 'a/1', 'hedge-cap']]);
    expect(told(spent, 'call-waiting', 'gate', 'retryAfterMs')).toEqual([[3000, 'call2', 'requests', 57_000]]);
    expect(told(spent, 'call-ended', 'waitedMs')).toEqual([[2000, 'call1', 0], [62_000, 'call2', 57_000]]);
  }));

  test('of governors: a breaker, a pace and a pause name the attempt that caused them', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const breaker = { failures: 1, cooldownMs: 10_000, cooldownMaxMs: 10_000 };
    const broken = gatewayOf([{ scripts: ['T0.1', 'd0.1 f0.2'] }], { breaker, backoffMs: 100 });
    const limited = gatewayOf([{ scripts: ['L0.1(ra=5)', 'd0.1 f0.2'] }]);
    expectCall(broken).toAnswer('10300ms (r|)');
    expectCall(limited).toAnswer('5300ms (r|)');
    flush();
    expect(told(broken, 'breaker-changed', 'attemptId', 'source', 'from', 'to')).toEqual([
      [100, 'call1', 'call1-1', 'a/1', 'closed', 'open'],
      [10_100, 'call1', 'call1-2', 'a/1', 'open', 'half-open'],
      [10_200, 'call1', 'call1-2', 'a/1', 'half-open', 'closed'],
    ]);
    expect(told(broken, 'retry-scheduled', 'round', 'source', 'failureClass', 'delayMs')).toEqual([[100, 'call1', 1, 'a/1', 'transient', 100]]);
    expect(told(broken, 'pace-changed', 'attemptId', 'source', 'concurrency')).toEqual([[10_200, 'call1', 'call1-2', 'a/1', 1]]);
    expect(told(limited, 'source-parked', 'attemptId', 'source', 'forMs')).toEqual([[100, 'call1', 'call1-1', 'a/1', 5000]]);
  }));

  test('no event is without the names that its kind has', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T9', 'T1', 'L1(ra=3)', 'd1 f2'] }, { scripts: ['T3', 'd1'], maxConcurrency: 1 }], { hedgeStallAfterMs: 3000, breaker: { failures: 2 } });
    for (const atMs of [0, 500, 40_000]) expectCall(gateway, { atMs });
    expectCall(gateway, { atMs: 41_000, leaveMs: 41_500 });
    flush();
    const ofAttempt = ['attempt-started', 'silence-noticed', 'hedge-refused', 'attempt-ended', 'attempt-unsent', 'source-parked', 'breaker-changed', 'pace-changed'];
    for (const event of gateway.events) {
      expect(event).toMatchObject({ atMs: expect.any(Number), callId: expect.any(String) });
      if (ofAttempt.includes(event.type)) expect(event).toMatchObject({ attemptId: expect.stringMatching(/-\d+$/), source: expect.stringMatching(/^[ab]\/1$/) });
    }
    expect(new Set(gateway.events.map(({ type }) => type)).size).toBeGreaterThan(8);
  }));
});

describe('stats()', () => {
  test('shows every attempt in flight with its silence, and none that has ended', wholeCalls(({ gatewayOf, expectCall, at, flush }) => {
    const gateway = gatewayOf(['d1 d2', 'd2 f3'], { hedgeStallAfterMs: 4000 });
    expectCall(gateway).toAnswer('9s (r|)');
    const streams: unknown[] = [];
    const look = (): unknown => streams.push(gateway.stats().streams.map(({ source, role, round, openMs, silentMs, increments }) => [source, role, round, openMs, silentMs, increments]));
    for (const ms of [500, 1500, 7000, 8500, 9500]) at(ms, look);
    flush();
    expect(streams).toEqual([
      [['a/1', 'primary', 1, 500, 500, 0]],
      [['a/1', 'primary', 1, 1500, 500, 1]],
      [['a/1', 'primary', 1, 7000, 5000, 2], ['b/1', 'backup', 1, 1000, 1000, 0]],
      [['a/1', 'primary', 1, 8500, 6500, 2], ['b/1', 'backup', 1, 2500, 500, 1]],
      [],
    ]);
  }));
});
