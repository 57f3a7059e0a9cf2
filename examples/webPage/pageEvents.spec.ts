import { describe, expect, test } from '@jest/globals';
import { TransientError } from 'polygateway';
import { marbles } from 'polygateway/testing';
import { pageEvents } from './pageEvents.js';
import type { PageEvent } from './pageEvents.js';

const request = { messages: [{ role: 'user', content: 'hi' }] };

const s: PageEvent = { type: 'start', source: 'llm' };
const a: PageEvent = { type: 'text', text: 'a' };
const b: PageEvent = { type: 'text', text: 'b' };
const p: PageEvent = { type: 'silence', silentMs: 1000 };
const q: PageEvent = { type: 'silence', silentMs: 2000 };

describe('pageEvents', () => {
  test('passes text on at once, tells silence while it lasts, before the first word too, and ends with the figures', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '1500ms           a             2500ms            b--|' } });
    const left = '                               9s !';
    const expected = '                             1s p 499ms (sa) 996ms p 999ms q 500ms b--(f|)';
    const figures: PageEvent = { type: 'figures', source: 'llm', generationMs: 1503, stallMs: 2501, hedges: 0 };

    expectObservable(gateway.stream$(request).pipe(pageEvents()), left).toBe(expected, { s, a, b, p, q, f: figures });
    afterwards(() => expect(gateway.calls).toMatchObject([{ outcome: 'ok' }]));
  }));

  test('makes a failure the last event, also in the middle of an answer', marbles(({ testGateway, expectObservable }) => {
    const gateway = testGateway({ sources: { llm: '-a---#' }, error: new TransientError('the key sk-1 is on fire') });
    const left = '                                  9s !';
    const expected = '                              -(sa)(x|)';

    expectObservable(gateway.stream$(request).pipe(pageEvents()), left).toBe(expected, { s, a, x: { type: 'failure', code: 'stream_interrupted' } });
  }));

  test('a page that leaves closes the socket', marbles(({ testGateway, expectObservable, expectSubscriptions }) => {
    const gateway = testGateway({ sources: { llm: '-a 5s b|' } });
    const left = '                                -----!';
    const socket = '                              ^----!';
    const expected = '                            -(sa)';

    expectObservable(gateway.stream$(request).pipe(pageEvents()), left).toBe(expected, { s, a });
    expectSubscriptions(gateway.sources.llm.subscriptions).toBe(socket);
  }));
});
