import { describe, expect, test } from '@jest/globals';
import { TransientError } from '../../lib/model/errors.js';
import { marbles } from '../support/marbles.js';
import { hello, virtualGateway } from '../support/virtualGateway.js';
import { eventsOf, requestsOf, wholeCalls } from '../support/wholeCalls.js';

describe('waiting', () => {
  test('R3: a source that another call has parked for more than 60 s is not waited for', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['L1(ra=900)']);
    expectCall(gateway).toFail('1s #', { code: 'all_sources_exhausted', reason: 'no_runnable_source' });
    expectCall(gateway, { atMs: 2000 }).toFail('2s #', { code: 'all_sources_exhausted', reason: 'no_runnable_source', retryAfterS: 899 });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 1000]]]);
  }));

  test('R3: one that is parked for 60 s is', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf([{ scripts: ['L1(ra=60)', 'd1 f2'] }]);
    expectCall(gateway, { leaveMs: 1500 }).toSayNothing();
    expectCall(gateway, { atMs: 2000 }).toAnswer('63s (r|)', {});
  }));

  test('every wait of a call is told once', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['L1(ra=5)', 'L1(ra=5)', 'd1 f2'] }]);
    expectCall(gateway).toAnswer('14s (r|)', {});
    flush();
    expect(eventsOf(gateway, 'call-waiting').map(({ atMs }) => atMs)).toEqual([1000, 7000]);
  }));

  test('R5: near the deadline nobody is asked again who has just failed, whichever branch of the round it was', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([{ scripts: ['d1 T8'] }, { scripts: ['d1 T2.5'] }], { hedgeStallAfterMs: 5000, backoffMs: 4000, callDeadlineMs: 9000 });
    expectCall(gateway).toFail('8500ms #', { code: 'call_deadline' });
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 8000]], [[6000, 8500]]]);
  }));

  test('RX-02: refused calls that are made anew in `error` a thousand times do not recurse', marbles(({ scheduler, flush }) => {
    const gateway = virtualGateway([{ scripts: ['d1 f2'], maxConcurrency: 1 }], scheduler, { backpressure: 'fail_fast' });
    let refused = 0;
    const ask = (): void => void gateway.chat$(hello).subscribe({ error: (error: unknown) => { refused += 1; if (refused < 1000) ask(); else expect(error).toMatchObject({ code: 'all_sources_exhausted' }); } });
    gateway.chat$(hello).subscribe();
    ask();
    flush();
    expect(refused).toBe(1000);
    expect(gateway.stats()).toMatchObject({ calls: 0, attempts: 0, permits: { 'a/1': 0 } });
  }));

  test('H4: where the deadline ends the wait for both end markers, the primary is delivered', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1"a" d9"b" F9.2', 'd1"c" F3.4'], { hedgeStallAfterMs: 5000, callDeadlineMs: 10_000 });
    expectCall(gateway).toAnswer('10s (r|)', { content: 'ab', source: 'a/1' });
  }));

  test('R7: a source that throws one error object in every call tells each call its own facts', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const shared = new TransientError('always the same');
    const gateway = gatewayOf([{ scripts: [[{ atMs: 1000, type: 'error', error: shared }]] }], { maxAttempts: 2 });
    expectCall(gateway).toFail('3s #', { attempts: 2, cause: { attempts: 2 } });
    expectCall(gateway, { atMs: 10_000 }).toFail('13s #', { attempts: 2, cause: { attempts: 2 } });
    flush();
    const [, second] = eventsOf(gateway, 'call-started');
    expect(shared.callId).toBe(second?.callId);
  }));
});
