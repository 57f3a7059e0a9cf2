import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { VirtualTimeScheduler, filter, map } from 'rxjs';
import { RateLimitedError, SourceError, TransientError } from '../../lib/index.js';
import type { ChatDelta } from '../../lib/index.js';
import { like, marbles, scriptedSource } from '../../lib/testing/index.js';
import type { ScriptValue } from '../../lib/testing/index.js';

const request = { messages: [{ role: 'user', content: 'hi' }] };
const context = { attemptId: '1' };
const valid = { messages: request.messages, stream: true } as unknown as Parameters<ReturnType<typeof scriptedSource>['stream']>[0];
const content = (text: string): ChatDelta => ({ type: 'content', text });
const stop: ChatDelta = { type: 'finish', reason: 'stop' };

describe('scriptedSource', () => {
  test('letters are texts, deltas, frames and errors at their times; an end says stop before it', marbles(({ scriptedSource: source, expectObservable, expectSubscriptions }) => {
    const call: ChatDelta = { type: 'tool-call', index: 0, name: 'f', arguments: '{}' };
    const scripted = source('-a-f 20s (bc)-|', { values: { a: 'Hel', f: [{ type: 'reasoning', text: 'hm' }, call] } });
    expectObservable(scripted.stream(valid, context)).toBe('-a-(fg) 19997ms (bc)-(s|)', {
      a: content('Hel'), f: { type: 'reasoning', text: 'hm' }, g: { ...call, sameFrame: true }, b: content('b'), c: content('c'), s: stop,
    });
    expectSubscriptions(scripted.subscriptions).toBe('       ^--- 20s -----!');
  }));

  test('an end is not said twice, # and an Error fail, a script without an end hangs', marbles(({ scriptedSource: source, expectObservable }) => {
    const length: ChatDelta = { type: 'finish', reason: 'length' };
    expectObservable(source('-al|', { values: { l: length } }).stream(valid, context)).toBe('-al|', { a: content('a'), l: length });
    expectObservable(source('-a#').stream(valid, context)).toBe('-a#', { a: content('a') }, new TransientError('the script failed (#)'));
    expectObservable(source('-e', { values: { e: new RangeError('mine') } }).stream(valid, context)).toBe('-#', {}, new RangeError('mine'));
    expectObservable(source('-a 20s').stream(valid, context)).toBe('-a', { a: content('a') });
  }));

  test('each request plays the next script, the last one again and again, and is remembered', marbles(({ testGateway, expectObservable, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { only: ['-a|', '--b|'] } });
    const answers$ = gateway.chat$(request).pipe(map((response) => response.content));
    expectObservable(answers$).toBe('--(a|)');
    expectObservable(answers$, '    ----------^').toBe('-------------(b|)');
    expectObservable(answers$, '    --------------------^').toBe('-----------------------(b|)');
    expectSockets(gateway, { only: ['^-!', '----------^--!', '--------------------^--!'] });
    afterwards(() => expect(gateway.sources.only.requests[0]).toMatchObject({ startedMs: 0, closedMs: 2, request: { messages: request.messages } }));
  }));

  test('one character is a millisecond on any scheduler, also outside of a marble test', () => {
    const scheduler = new VirtualTimeScheduler();
    const scripted = scriptedSource('--a 5ms b|', { scheduler });
    scripted.stream(valid, context).subscribe();
    scheduler.flush();
    expect(scripted.requests).toMatchObject([{ startedMs: 0, closedMs: 9 }]);
  });

  test('W1: its limits are those of an HTTP source unless others are given', marbles(({ testGateway, scriptedSource: source, expectCalls }) => {
    const silent = testGateway({ sources: { only: '-' }, settings: { maxAttempts: 1 } });
    silent.chat$(request).subscribe({ error: () => undefined });
    expectCalls(silent, [{ endedMs: 120_000, code: 'all_sources_exhausted' }]);
    const impatient = testGateway({ sources: [source('-', { limits: { ttftTimeoutMs: 5 } })], settings: { maxAttempts: 1 } });
    impatient.chat$(request).subscribe({ error: () => undefined });
    expectCalls(impatient, [{ endedMs: 5 }]);
  }));

  test('R1, R3: what a script fails with has its class: a 429 parks its source for as long as it asks, and burns no attempt', marbles(({ testGateway, expectObservable, expectSockets, expectRows }) => {
    const gateway = testGateway({ sources: { only: ['-l', '-a|'] }, values: { l: new RateLimitedError('slow down', { retryAfterS: 7 }) }, settings: { maxAttempts: 1 } });
    expectObservable(gateway.chat$(request)).toBe('- 7s --(r|)', { r: like({ content: 'a', stats: { attempts: 2, waitedMs: 7000 } }) });
    expectSockets(gateway, { only: ['^!', '- 7s ^-!'] });
    expectRows(gateway, [{ errorClass: 'rate_limited', retryAfterMs: 7000 }, { errorClass: null, won: true }]);
  }));

  test('R7: one error for several sources tells of each which source it was', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { a: '#', b: '-#' }, error: new SourceError('no key') });
    expectObservable(gateway.chat$(request)).toBe('-#', undefined, like({ code: 'all_sources_exhausted', cause: { code: 'source', message: 'no key', source: 'b' } }));
  }));

  test('any script of deltas is passed on by stream$ with the same deltas at the same times', () => {
    const delta: fc.Arbitrary<ChatDelta> = fc.oneof(
      fc.record({ type: fc.constantFrom('content' as const, 'reasoning' as const, 'refusal' as const), text: fc.string({ minLength: 1, maxLength: 3 }) }),
      fc.record({ type: fc.constant('tool-call' as const), index: fc.nat(2), id: fc.constant('i'), name: fc.constant('f'), arguments: fc.string({ minLength: 1, maxLength: 3 }) }),
    );
    const signs = fc.array(fc.record({ wait: fc.oneof(fc.nat(5).map((ms) => '-'.repeat(ms)), fc.nat(90_000).map((ms) => ` ${ms}ms `)), frame: fc.array(delta, { minLength: 1, maxLength: 3 }) }), { minLength: 1, maxLength: 6 });
    fc.assert(fc.property(signs, (steps) => marbles(({ testGateway, expectObservable }) => {
      const letterOf = (nth: number): string => String.fromCharCode(97 + nth);
      const values: Record<string, ScriptValue> = Object.fromEntries(steps.map(({ frame }, nth) => [letterOf(nth), frame]));
      const script = `${steps.map(({ wait }, nth) => `${wait}${letterOf(nth)}`).join('')}|`;
      const gateway = testGateway({ sources: [scriptedSource(script, { values, limits: {} })] });
      const deltas$ = gateway.stream$(request).pipe(filter((item) => item.type !== 'start' && item.type !== 'end'));
      expectObservable<unknown>(deltas$).toEqual(scriptedSource(script, { values, limits: {} }).stream(valid, context));
      // The first delta of each frame once more, by times that RxJS has read from the diagram and not this kit.
      expectObservable(deltas$.pipe(filter((item) => item.type !== 'finish' && !('sameFrame' in item)))).toBe(script, Object.fromEntries(steps.map(({ frame }, nth) => [letterOf(nth), frame[0]])));
    })()), { numRuns: 60 });
  });
});
