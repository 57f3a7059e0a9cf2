import { expect, test } from '@jest/globals';
import { map } from 'rxjs';
import { marbles } from '../../lib/testing/index.js';

const request = { messages: [{ role: 'user', content: 'hi' }] };

test('H3: a real gateway in virtual time hedges a silent stream, and remembers calls, hedges and rows', marbles(({ testGateway, expectObservable, afterwards }) => {
  const gateway = testGateway({ sources: { slow: '-a 60s b|', fast: '--x|' }, settings: { hedgeStallAfterS: 20 } });
  expectObservable(gateway.chat$(request).pipe(map(({ content }) => content))).toBe('- 20s ---(x|)');
  afterwards(() => {
    expect(gateway.calls).toMatchObject([{ startedMs: 0, endedMs: 20_004, outcome: 'ok', source: 'fast', attempts: 2, hedges: 1 }]);
    expect(gateway.hedges).toEqual([{ callId: gateway.calls[0]?.callId, atMs: 20_001, trigger: 'stall', from: 'slow', to: 'fast', outcome: 'won', gate: null }]);
    expect(gateway.rows).toMatchObject([{ source: 'slow', errorClass: 'hedge_cancelled' }, { source: 'fast', won: true, errorClass: null }]);
    expect(gateway.sources.slow.subscriptions).toEqual([{ subscribedFrame: 0, unsubscribedFrame: 20_004 }]);
  });
}));
