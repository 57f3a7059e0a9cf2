import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom, tap } from 'rxjs';
import type { ChatResponse } from '../../lib/index.js';
import { asks, closeAll, connectionsTo, gatewayTo, nothingInFlight, until, upstream } from './scene.js';

const stallAfterS = 0.3;
// Silent for three times the threshold, then it would go on and end well.
const silentInMidStream = 'd@0.02"from " d@0.04"A " d@0.94"again" f@0.96 u(9,9)';
const prompt = 'd@0.02"from " d@0.06"the " d@0.08"backup" f@0.09 u(3,2)';

afterEach(closeAll);

describe('a stream that falls silent in the middle', () => {
  test('H3, H4: a backup starts and its text alone is the answer', async () => {
    const [a, b] = await Promise.all([upstream([silentInMidStream]), upstream([prompt])]);
    const { gateway, events } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS });

    const answer = await gateway.chat(asks('hello'));

    expect(answer).toMatchObject({ content: 'from the backup', source: 'b/1', usage: { promptTokens: 3, completionTokens: 2 }, increments: 3 });
    expect(answer.stats).toMatchObject({ hedges: 1, hedgeWon: true, attempts: 2, stallMs: 0, stallCount: 0 });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
    expect(b.requests[0]!.startedMs - a.requests[0]!.startedMs).toBeGreaterThan((0.04 + stallAfterS) * 1000 - 5);
    expect(events).toContainEqual(expect.objectContaining({ type: 'silence-noticed', source: 'a/1', trigger: 'stall', silentMs: stallAfterS * 1000 }));
    expect(gateway.stats()).toEqual({ ...nothingInFlight, breakers: { 'a/1': 'closed', 'b/1': 'closed' }, permits: { 'a/1': 0, 'b/1': 0 } });
  });

  test('H5: one row each; the cancelled one has no stall figures, yet keeps the wait that a replay needs', async () => {
    const [a, b] = await Promise.all([upstream([silentInMidStream]), upstream([prompt])]);
    const { gateway, rows } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS });

    const { callId } = await gateway.chat(asks('hello', { tags: { case: 'hedged' } }));

    expect(rows).toHaveLength(2);
    const [primary, backup] = ['a/1', 'b/1'].map((id) => rows.find(({ source }) => source === id)!);
    expect(primary).toMatchObject({ call_id: callId, role: 'primary', hedge_trigger: null, outcome: 'error', error_class: 'hedge_cancelled', won: 0, increments: 2, stall_ms: null, stall_count: null, max_inter_token_ms: null, tags: '{"case":"hedged"}' });
    expect(backup).toMatchObject({ call_id: callId, role: 'backup', hedge_trigger: 'stall', outcome: 'ok', error_class: null, won: 1, increments: 3, stall_ms: 0, stall_count: 0, total_tokens: 5 });
    const [, longest] = (JSON.parse(primary!.record_gaps) as [number, number][]).at(-1)!;
    expect(longest).toBeGreaterThanOrEqual(stallAfterS * 1000);
  });

  test('H5: the loser\'s connection is closed in the turn of the win, seen from the server within 50 ms', async () => {
    const [a, b] = await Promise.all([upstream([silentInMidStream]), upstream([prompt])]);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS });
    const deliveredMs: number[] = [];
    const call = (): Promise<ChatResponse> => firstValueFrom(gateway.chat$(asks('hello')).pipe(tap(() => deliveredMs.push(performance.now()))));

    for (let i = 0; i < 5; i += 1) await call();

    await until(() => a.requests.every(({ closedByClientMs }) => closedByClientMs !== null), 'every loser closed');
    const closedAfterMs = a.requests.map(({ closedByClientMs }, i) => closedByClientMs! - deliveredMs[i]!);
    // Any one may meet a busy machine; a lateness of our own would be in the quickest too.
    expect(Math.min(...closedAfterMs)).toBeLessThan(50);
    expect(a.requests.filter(({ finished }) => finished)).toEqual([]);
  });

  test('the winner\'s connection is kept for the next call, the loser\'s is not', async () => {
    const [a, b] = await Promise.all([upstream([silentInMidStream]), upstream([prompt])]);
    const toA = connectionsTo(a.port);
    const toB = connectionsTo(b.port);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS });

    for (let i = 0; i < 3; i += 1) {
      await gateway.chat(asks('hello'));
      await until(() => toA.open.size === 0, 'the loser closed');
    }

    expect([toA.made, toB.made]).toEqual([3, 1]);
    expect(toB.open.size).toBe(1);
    expect(b.requests.map(({ closedByClientMs }) => closedByClientMs)).toEqual([null, null, null]);
  });
});

describe('a stream that goes on in time', () => {
  test('H4, H5: the primary wins when it completes first; the backup is the one that is cancelled', async () => {
    const a = await upstream(['d@0.02"mine" d@0.45" alone" f@0.47']);
    const b = await upstream(['d@0.02"other" hang']);
    const { gateway, rows } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS });

    const answer = await gateway.chat(asks('hello'));

    expect(answer).toMatchObject({ content: 'mine alone', source: 'a/1', stats: { hedges: 1, hedgeWon: false, attempts: 2 } });
    await until(() => b.requests[0]!.closedByClientMs !== null, 'the backup closed');
    expect(rows.map(({ source, error_class, won }) => [source, error_class, won]).sort()).toEqual([
      ['a/1', null, 1],
      ['b/1', 'hedge_cancelled', 0],
    ]);
  });

  test('M5: a silence below the hedge threshold asks nobody else and is in the figures of the call', async () => {
    const a = await upstream(['d@0.02"one" d@0.27" two" f@0.29']);
    const b = await upstream([prompt]);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeStallAfterS: 1.5, stallThresholdMs: 100 });

    const { content, latencyMs, stats } = await gateway.chat(asks('hello'));

    expect([content, stats.hedges, stats.stallCount, b.requests.length]).toEqual(['one two', 0, 1, 0]);
    expect(stats.stallMs).toBeGreaterThan(150);
    expect(stats.generationMs + stats.stallMs!).toBe(latencyMs);
  });
});

test('H3: with nobody else to ask, the primary goes on as if hedging were off', async () => {
  const a = await upstream(['d@0.02"still " d@0.5"here" f@0.52']);
  const { gateway, rows, events } = gatewayTo([a.url], { hedgeStallAfterS: stallAfterS });

  expect(await gateway.chat(asks('hello'))).toMatchObject({ content: 'still here', stats: { hedges: 0, attempts: 1 } });
  expect([a.requests.length, rows.length]).toEqual([1, 1]);
  expect(events.filter(({ type }) => type === 'hedge-refused')).toHaveLength(1);
  expect(gateway.findings.map(({ rule }) => rule)).toEqual(['C5']);
});

test('H6, H7: the silent primary breaks while the backup runs: the backup still answers, and no retry was burnt', async () => {
  const a = await upstream(['d@0.02"half" rst@0.4']);
  const b = await upstream(['d@0.02"whole" f@0.3']);
  const { gateway, rows } = gatewayTo([a.url, b.url], { hedgeStallAfterS: stallAfterS, maxAttempts: 1 });

  const { content, stats } = await gateway.chat(asks('hello'));

  expect([content, stats.hedgeWon, stats.attempts]).toEqual(['whole', true, 2]);
  expect(rows.map(({ source, round, error_class }) => [source, round, error_class]).sort()).toEqual([
    ['a/1', 1, 'transient'],
    ['b/1', 1, null],
  ]);
});
