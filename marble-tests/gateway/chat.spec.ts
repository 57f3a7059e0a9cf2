import { describe, expect, test } from '@jest/globals';
import { catchError, map, of } from 'rxjs';
import type { AllSourcesExhausted } from '../../lib/index.js';
import { marbles } from '../support/marbles.js';
import { hello, virtualGateway } from '../support/virtualGateway.js';

describe('one call', () => {
  test('M1, M3: the figures of the example in the rules', marbles(({ scheduler, expectObservable, flush }) => {
    const gateway = virtualGateway(['d0.5"a" d0.9"b" d3.9"c" d4"d" f4.1'], scheduler, { stallThresholdMs: 1000 });

    expectObservable(gateway.chat$(hello).pipe(map(({ content, ttftMs, maxInterTokenMs, latencyMs, stats }) => ({ content, ttftMs, maxInterTokenMs, latencyMs, stats })))).toBe('4100ms (r|)', {
      r: {
        content: 'abcd',
        ttftMs: 500,
        maxInterTokenMs: 3000,
        latencyMs: 4100,
        stats: { generationMs: 1100, stallMs: 3000, stallCount: 1, hedges: 0, hedgeWon: false, attempts: 1, waitedMs: 0 },
      },
    });
    flush();
    expect(gateway.rows).toHaveLength(1);
    expect(gateway.stats()).toEqual({ calls: 0, attempts: 0, permits: { 'a/1': 0 }, waiters: 0, parked: {}, breakers: {} });
  }));

  test('H3, H4, H5: a backup starts after the silence, completes first and wins; the primary is cancelled', marbles(({ scheduler, expectObservable, flush }) => {
    const gateway = virtualGateway(['d1"a1" d2"a2"', 'd1"b1" d2"b2" f3'], scheduler, { hedgeStallAfterMs: 5000 });

    expectObservable(gateway.chat$(hello).pipe(map(({ content, source, stats }) => ({ content, source, stats })))).toBe('10s (r|)', {
      r: {
        content: 'b1b2',
        source: 'b/1',
        stats: { generationMs: 3000, stallMs: 0, stallCount: 0, hedges: 1, hedgeWon: true, attempts: 2, waitedMs: 0 },
      },
    });
    flush();
    expect(gateway.rows.map(({ source, role, outcome, errorClass, won, latencyMs, ttftMs, stallMs, hedgeTrigger }) => ({ source, role, outcome, errorClass, won, latencyMs, ttftMs, stallMs, hedgeTrigger }))).toEqual([
      { source: 'b/1', role: 'backup', outcome: 'ok', errorClass: null, won: true, latencyMs: 3000, ttftMs: 1000, stallMs: 0, hedgeTrigger: 'stall' },
      { source: 'a/1', role: 'primary', outcome: 'error', errorClass: 'hedge_cancelled', won: false, latencyMs: 10000, ttftMs: 1000, stallMs: null, hedgeTrigger: null },
    ]);
    expect(gateway.sources.map(({ requests }) => requests)).toEqual([[{ startedMs: 0, closedMs: 10000 }], [{ startedMs: 7000, closedMs: 10000 }]]);
    expect(gateway.stats()).toMatchObject({ calls: 0, attempts: 0, permits: { 'a/1': 0, 'b/1': 0 } });
  }));

  test('B6: the first attempt times out at 300 s with a window and a first-increment limit of 300 s, the second answers', marbles(({ scheduler, expectObservable, flush }) => {
    const gateway = virtualGateway([{ scripts: ['', 'd1"ok" f2'], ttftS: 300, timeoutS: 300 }], scheduler, { stallWindowMs: 300_000 });
    expectObservable(gateway.chat$(hello).pipe(map(({ content, stats }) => ({ content, waitedMs: stats.waitedMs })))).toBe('303s (r|)', { r: { content: 'ok', waitedMs: 1000 } });
    flush();
    expect(gateway.rows.map(({ errorClass, latencyMs }) => [errorClass, latencyMs])).toEqual([['transient', 300_000], [null, 2000]]);
  }));

  test('B3, B6: 429 for ever is given up within one wait of the window', marbles(({ scheduler, expectObservable }) => {
    const gateway = virtualGateway(['L0.1'], scheduler, { stallWindowMs: 20_000 });
    const reason$ = gateway.chat$(hello).pipe(map(() => 'answered'), catchError((error: AllSourcesExhausted) => of(error.reason)));
    expectObservable(reason$).toBe('31500ms (s|)', { s: 'stalled' });
  }));
});
