import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { Subject, finalize, repeat, retry, share, switchMap, take, timeout } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import { expectAtRest, heldBy } from '../support/atRest.js';
import type { Held } from '../support/atRest.js';
import { replaceStream } from '../support/replaceStream.js';
import { hello } from '../support/virtualGateway.js';
import type { SourceSpec, VirtualGateway } from '../support/virtualGateway.js';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';

const one = (...scripts: string[]): SourceSpec => ({ scripts, maxConcurrency: 1 });

describe('a caller who leaves', () => {
  const phases: Record<string, { specs: (string | SourceSpec)[]; policy?: object; leaveMs: number; classes: (string | null)[] }> = {
    'while the first increment is awaited': { specs: ['d5 f6'], leaveMs: 3000, classes: ['caller_cancelled'] },
    'in mid-stream': { specs: ['d1 d2 d9 f10'], leaveMs: 3000, classes: ['caller_cancelled'] },
    'while the end marker is awaited': { specs: ['d1 F2.5'], leaveMs: 3000, classes: ['caller_cancelled'] },
    'while two attempts run': { specs: ['d1', 'd1'], policy: { hedgeStallAfterMs: 1000 }, leaveMs: 4000, classes: ['caller_cancelled', 'caller_cancelled'] },
    'while a refusal waits for the other attempt': { specs: ['d1 f(content_filter)3', 'd1'], policy: { hedgeStallAfterMs: 1000 }, leaveMs: 4000, classes: [null, 'caller_cancelled'] },
    'during a backoff': { specs: ['T2.5'], leaveMs: 3000, classes: ['transient'] },
    'while every source is parked': { specs: ['L0.5(ra=30)', 'L0.5(ra=40)'], leaveMs: 3000, classes: ['rate_limited', 'rate_limited'] },
  };
  for (const [when, { specs, policy, leaveMs, classes }] of Object.entries(phases)) {
    test(`X1: ${when}: everything stops in the same turn`, wholeCalls(({ gatewayOf, expectCall, flush, scheduler }) => {
      const [left, aborted] = [gatewayOf(specs, policy), gatewayOf(specs, policy)];
      expectCall(left, { leaveMs }).toSayNothing();
      expectCall(aborted, { abortMs: leaveMs, reason: 'enough' }).toFail(`${leaveMs}ms #`, 'enough');
      flush();
      for (const gateway of [left, aborted]) {
        expect(new Set(rowsOf(gateway, 'errorClass').flat())).toEqual(new Set(classes));
        expect(gateway.rows).toHaveLength(classes.length);
        expect(eventsOf(gateway, 'call-ended').map(({ outcome, callMs }) => [outcome, callMs])).toEqual([['cancelled', leaveMs]]);
      }
      // Nothing was left to happen later.
      expect(scheduler.now()).toBe(leaveMs);
    }));
  }

  test('X1: while it waits for a place: it leaves the line at once', wholeCalls(({ gatewayOf, expectCall, at }) => {
    const gateway = gatewayOf([one('d1 f9')]);
    expectCall(gateway).toAnswer('9s (r|)');
    expectCall(gateway, { leaveMs: 3000 }).toSayNothing();
    expectCall(gateway, { abortMs: 3000, reason: 'enough' }).toFail('3s #', 'enough');
    at(2000, () => expect(gateway.stats().waiters).toBe(2));
    at(3001, () => expect(gateway.stats().waiters).toBe(0));
  }));

  test('T4, X1: an abort in the very instant of the answer wins if it comes first, and the other way round', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    expectCall(gatewayOf(['d1 f3']), { abortMs: 3000, reason: 'enough' }).toFail('3s #', 'enough');
    flush();
    const late = new AbortController();
    const told: unknown[] = [];
    gatewayOf(['d1 f3']).chat$(hello, { signal: late.signal }).subscribe({ next: () => late.abort('too late'), error: (error: unknown) => told.push(error), complete: () => told.push('complete') });
    flush();
    expect(told).toEqual(['complete']);
  }));
});

describe('what is free when a call ends', () => {
  for (const [which, words] of Object.entries({ 'an answer': 'd1 f3', 'an error': 'd1 T3' })) {
    test(`X2: everything, before ${which} is delivered`, wholeCalls(({ gatewayOf, scheduler, flush }) => {
      const gateway = gatewayOf([one(words)], { maxAttempts: 1, callDeadlineMs: 60_000, hedgeAfterMs: 9000, hedgeStallAfterMs: 9000 });
      const seen: Held[] = [];
      const look = (): void => void seen.push(heldBy([gateway], scheduler));
      gateway.chat$(hello).subscribe({ next: look, error: look, complete: look });
      flush();
      expect(seen.length).toBeGreaterThan(0);
      seen.forEach(expectAtRest);
    }));
  }

  test('X2: and before a losing attempt`s winner is delivered', wholeCalls(({ gatewayOf, scheduler, flush }) => {
    const gateway = gatewayOf([one('d1'), one('d1 f3')], { hedgeStallAfterMs: 1000 });
    const seen: Held[] = [];
    gateway.chat$(hello).subscribe({ next: () => seen.push(heldBy([gateway], scheduler)) });
    flush();
    expect(seen).toHaveLength(1);
    seen.forEach(expectAtRest);
  }));

  test('RX-02: a call started in the handler of another finds its place free', wholeCalls(({ gatewayOf, flush }) => {
    const answering = gatewayOf([one('d1 f3')], { pollEveryMs: 60_000 });
    const failing = gatewayOf([one('T3', 'd1 f3')], { pollEveryMs: 60_000, maxAttempts: 1 });
    const callOn = (gateway: VirtualGateway, observer: Partial<Observer<unknown>> = {}): void => void gateway.chat$(hello).subscribe(observer);
    callOn(answering, { complete: () => callOn(answering, { next: () => callOn(answering) }) });
    callOn(failing, { error: () => callOn(failing) });
    flush();
    expect(requestsOf(answering)).toEqual([[[0, 3000], [3000, 6000], [6000, 9000]]]);
    expect(requestsOf(failing)).toEqual([[[0, 3000], [3000, 6000]]]);
  }));

  test('RX-02: a chain of a thousand', wholeCalls(({ gatewayOf, flush, scheduler }) => {
    const gateway = gatewayOf([one('d0.1 f0.2')]);
    let left = 1000;
    const again = (): void => {
      left -= 1;
      if (left > 0) gateway.chat$(hello).subscribe({ complete: again });
    };
    gateway.chat$(hello).subscribe({ complete: again });
    flush();
    expect(gateway.sources[0]?.requests).toHaveLength(1000);
    expect(scheduler.now()).toBe(200_000);
  }));

  test('RX-03: finalize finds all given back, whatever the end', wholeCalls(({ gatewayOf, flush, scheduler }) => {
    const gateway = gatewayOf([one('d1 f2', 'T2', 'd1 f2', 'd1 f2', 'd1 f2', 'd1 f2')], { maxAttempts: 1 });
    const seen: (readonly [string, Held])[] = [];
    const own = new Set<unknown>();
    const watched = (name: string): Observable<unknown> => gateway.chat$(hello).pipe(finalize(() => seen.push([name, heldBy([gateway], scheduler, own)])));
    const plan = (atMs: number, act: () => void): void => void own.add(scheduler.schedule(act, atMs));
    const ignore = { error: () => undefined };

    plan(0, () => watched('complete').subscribe(ignore));
    plan(10_000, () => watched('error').subscribe(ignore));
    plan(20_000, () => {
      const subscription = watched('unsubscribe').subscribe(ignore);
      plan(1500, () => subscription.unsubscribe());
    });
    plan(30_000, () => watched('take').pipe(take(1)).subscribe(ignore));
    plan(40_000, () => {
      const switches = new Subject<string>();
      switches.pipe(switchMap(watched)).subscribe(ignore);
      switches.next('replaced');
      plan(1500, () => switches.next('replacing'));
    });
    flush();
    expect(seen.map(([name]) => name)).toEqual(['complete', 'error', 'unsubscribe', 'take', 'replaced', 'replacing']);
    seen.forEach(([, held]) => expectAtRest(held));
  }));
});

describe('a cold Observable', () => {
  test('X3, RX-01: nothing happens before it is subscribed, each subscription is a call, a shared one is one', wholeCalls(({ gatewayOf, at, flush }) => {
    const gateway = gatewayOf(['d1 f2']);
    const call$ = gateway.chat$(hello);
    at(4999, () => expect(gateway.events).toEqual([]));
    const shared$ = call$.pipe(share());
    at(5000, () => {
      call$.subscribe();
      const second = call$.subscribe();
      at(6500, () => second.unsubscribe());
    });
    at(20_000, () => {
      shared$.subscribe();
      shared$.subscribe();
    });
    flush();
    expect(requestsOf(gateway)).toEqual([[[5000, 7000], [5000, 6500], [20_000, 22_000]]]);
    expect(new Set(rowsOf(gateway, 'callId').flat()).size).toBe(3);
  }));

  test('X3: emits one response and completes, or errors with an error of this library', wholeCalls(({ gatewayOf, expectCall }) => {
    expectCall(gatewayOf(['d1 f2'])).toAnswer('2s (r|)');
    expectCall(gatewayOf(['S1'])).toFail('1s #', { name: 'AllSourcesExhausted', retryable: true });
  }));

  test('X3: the request is copied when chat$ is called', wholeCalls(({ gatewayOf, flush }) => {
    const gateway = gatewayOf(['d1 f2']);
    const sent: unknown[] = [];
    replaceStream(gateway.sources[0], (scripted) => (request, context) => {
      sent.push(request);
      return scripted(request, context);
    });
    const messages = [{ role: 'user', content: 'first' }];
    const call$ = gateway.chat$({ messages, tags: { job: '7' } });
    messages[0]!.content = 'second';
    call$.subscribe();
    flush();
    expect(sent).toEqual([{ messages: [{ role: 'user', content: 'first' }], tags: { job: '7' }, stream: true }]);
    expect(rowsOf(gateway, 'tags')).toEqual([[{ job: '7' }]]);
  }));

  test('X3: a request that cannot be right is refused, and nothing is sent', wholeCalls(({ gatewayOf, expectCall }) => {
    const gateway = gatewayOf(['d1 f2']);
    expectCall(gateway, { request: { messages: [] } }).toFail('#', { code: 'request' });
    expectCall(gateway, { request: { n: 2 } }).toFail('#', { code: 'request' });
  }));

  test('X3: an abort errors with the signal`s own reason, unchanged', wholeCalls(({ gatewayOf, flush, at }) => {
    const gateway = gatewayOf(['d1 f9']);
    const reason = { because: 'the user closed the page' };
    const controller = new AbortController();
    const told: unknown[] = [];
    gateway.chat$(hello, { signal: controller.signal }).subscribe({ error: (error: unknown) => told.push(error) });
    at(3000, () => controller.abort(reason));
    flush();
    expect(told).toHaveLength(1);
    expect(told[0]).toBe(reason);
  }));

  test('RX-05: retry, repeat and timeout of the caller start after the former call is gone', wholeCalls(({ gatewayOf, flush }) => {
    const failing = gatewayOf([one('d0.1"x" T0.2')], { maxAttempts: 1 });
    failing.chat$(hello).pipe(retry(2)).subscribe({ error: () => undefined });
    const repeated = gatewayOf([one('d0.1 f0.2')]);
    repeated.chat$(hello).pipe(repeat(2)).subscribe();
    const slow = gatewayOf([one('d0.1 f0.2')]);
    slow.chat$(hello).pipe(timeout(150), retry(1)).subscribe({ error: () => undefined });
    flush();
    expect(requestsOf(failing)).toEqual([[[0, 200], [200, 400], [400, 600]]]);
    expect(new Set(rowsOf(failing, 'callId').flat()).size).toBe(3);
    expect(requestsOf(repeated)).toEqual([[[0, 200], [200, 400]]]);
    expect(requestsOf(slow)).toEqual([[[0, 150], [150, 300]]]);
    expect(rowsOf(slow, 'errorClass').flat()).toEqual(['caller_cancelled', 'caller_cancelled']);
  }));
});

describe('cases of cancellation', () => {
  test('CN-01: leaving in mid-stream closes the request and writes what had come', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const words = Array.from({ length: 200 }, (_, at) => `d${(at + 1) / 10}`).join(' ');
    const gateway = gatewayOf([`${words} f20`]);
    expectCall(gateway, { leaveMs: 1050 }).toSayNothing();
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 1050]]]);
    expect(rowsOf(gateway, 'errorClass', 'ttftMs', 'increments', 'latencyMs')).toEqual([['caller_cancelled', 100, 10, 1050]]);
  }));

  test('CN-02 a: a signal that is aborted already: an error in the same turn, no request, no row', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 f2']);
    expectCall(gateway, { atMs: 1000, abortMs: 500, reason: 'before' }).toFail('1s #', 'before');
    flush();
    expect(requestsOf(gateway)).toEqual([[]]);
  }));

  test('CN-02 b: subscribed and left in the same turn: no request, no row', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([one('d1 f2')]);
    expectCall(gateway, { atMs: 1000, leaveMs: 1000 }).toSayNothing();
    flush();
    expect(requestsOf(gateway)).toEqual([[]]);
    expect(eventsOf(gateway, 'attempt-started')).toEqual([]);
  }));

  test('CN-02 c: left while waiting for a place: no request, no row', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf([one('d1 f9')]);
    expectCall(gateway).toAnswer('9s (r|)');
    expectCall(gateway, { atMs: 1000, leaveMs: 2000 }).toSayNothing();
    flush();
    expect(requestsOf(gateway)).toEqual([[[0, 9000]]]);
  }));

  test('CN-02 e: left after the request was sent, before anything came: a row without a first increment', wholeCalls(({ gatewayOf, expectCall, flush }) => {
    const gateway = gatewayOf(['d1 f9']);
    expectCall(gateway, { leaveMs: 1 }).toSayNothing();
    flush();
    expect(rowsOf(gateway, 'errorClass', 'ttftMs', 'increments', 'latencyMs')).toEqual([['caller_cancelled', null, 0, 1]]);
  }));

  test('CN-03: a long-lived signal keeps no listener, and one at most while calls run', wholeCalls(({ gatewayOf, flush, at }) => {
    const kinds = [gatewayOf(['d0.1 f0.2']), gatewayOf([{ scripts: ['T0.1', 'd0.1 f0.2'] }]), gatewayOf(['d0.1', 'd0.1 f0.2'], { hedgeStallAfterMs: 1000 }), gatewayOf(['S0.1'])];
    const controller = new AbortController();
    const listeners = (): number => getEventListeners(controller.signal, 'abort').length;
    let ended = 0;
    for (let call = 0; call < 200; call++) {
      at(call * 10_000, () => {
        const gateway = kinds[call % 4]!;
        const end = (): void => {
          ended += 1;
          expect(listeners()).toBe(0);
        };
        gateway.chat$(hello, { signal: controller.signal }).subscribe({ next: end, error: end });
        expect(listeners()).toBe(1);
      });
    }
    flush();
    expect(ended).toBe(200);
    controller.abort();
  }));

  test('CN-03: fifty calls on one signal add one listener, and one abort ends them all', wholeCalls(({ gatewayOf, flush, at }) => {
    const gateway = gatewayOf(['d1']);
    const controller = new AbortController();
    const told: unknown[] = [];
    for (let call = 0; call < 50; call++) gateway.chat$(hello, { signal: controller.signal }).subscribe({ error: (error: unknown) => told.push(error) });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    at(2000, () => controller.abort('all'));
    flush();
    expect(told).toEqual(Array.from({ length: 50 }, () => 'all'));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  }));
});

describe('a gateway that is closed', () => {
  test('X1: ends its calls with an error of its own, and starts none', wholeCalls(({ gatewayOf, expectCall, at, flush }) => {
    const gateway = gatewayOf([one('d1')]);
    expectCall(gateway).toFail('3s #', { code: 'closed', attempts: 1 });
    expectCall(gateway).toFail('3s #', { code: 'closed', attempts: 0 });
    expectCall(gateway, { atMs: 4000 }).toFail('4s #', { code: 'closed' });
    at(3000, () => gateway.close());
    flush();
    expect(rowsOf(gateway, 'errorClass', 'errorMessage')).toEqual([['caller_cancelled', 'the gateway was closed']]);
  }));
});
