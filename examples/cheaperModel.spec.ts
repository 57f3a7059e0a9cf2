import { describe, expect, test } from '@jest/globals';
import { RequestError } from 'polygateway';
import type { ChatRequest } from 'polygateway';
import { like, marbles, usage } from 'polygateway/testing';
import { chatOrCheaper, chatWithUnderstudy, cheaperOnceSpent } from './cheaperModel.js';

const request: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }] };
const answers = { g: like({ content: 'g' }), c: like({ content: 'c' }) };

describe('chatOrCheaper', () => {
  test('a good model that fails is fallen back from', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  --#      ' }, settings: { maxAttempts: 1 } });
    const cheap = testGateway({ sources: { cheap: '  ---c|  ' } });
    const patienceMs = time('                      ------|  ');
    const goodSocket = '                           ^-!      ';
    const cheapSocket = '                          --^---!  ';
    const expected = '                             ------(c|)';

    expectObservable(chatOrCheaper({ good, cheap }, request, { patienceMs })).toBe(expected, answers);
    expectSockets(good, { good: goodSocket });
    expectSockets(cheap, { cheap: cheapSocket });
  }));

  test('one whose deadline passes too', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  -g            ' }, settings: { callDeadlineS: 0.005 } });
    const cheap = testGateway({ sources: { cheap: '     ---c|     ' } });
    const patienceMs = time('                      ----------|     ');
    const goodSocket = '                           ^----!          ';
    const cheapSocket = '                          -----^---!      ';
    const expected = '                             ---------(c|)   ';

    expectObservable(chatOrCheaper({ good, cheap }, request, { patienceMs })).toBe(expected, answers);
    expectSockets(good, { good: goodSocket });
    expectSockets(cheap, { cheap: cheapSocket });
  }));

  test('one that takes longer than our patience is closed first', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  -g--------|   ' } });
    const cheap = testGateway({ sources: { cheap: '      ---c|    ' } });
    const patienceMs = time('                      ------|         ');
    const goodSocket = '                           ^-----!         ';
    const cheapSocket = '                          ------^---!     ';
    const expected = '                             ----------(c|)  ';

    expectObservable(chatOrCheaper({ good, cheap }, request, { patienceMs })).toBe(expected, answers);
    expectSockets(good, { good: goodSocket });
    expectSockets(cheap, { cheap: cheapSocket });
  }));

  test('a request that is wrong is wrong at the cheap model too: it is not asked', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  --#' }, error: new RequestError('the context is too long') });
    const cheap = testGateway({ sources: { cheap: '---c|' } });
    const patienceMs = time('                      ------|');
    const expected = '                             --#';

    expectObservable(chatOrCheaper({ good, cheap }, request, { patienceMs })).toBe(expected, answers, like({ code: 'request', message: 'the context is too long' }));
    expectSockets(cheap, { cheap: '' });
  }));

  test('who leaves closes the socket of the one that is asked', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  --#      ' }, settings: { maxAttempts: 1 } });
    const cheap = testGateway({ sources: { cheap: '  ---c|  ' } });
    const patienceMs = time('                      ------|  ');
    const left = '                                 ----!    ';
    const cheapSocket = '                          --^-!    ';

    expectObservable(chatOrCheaper({ good, cheap }, request, { patienceMs }), left).toBe('');
    expectSockets(cheap, { cheap: cheapSocket });
  }));
});

describe('chatWithUnderstudy', () => {
  test('the good model goes on, and wins where it is first', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  -g--------|   ' } });
    const cheap = testGateway({ sources: { cheap: '      --------c|' } });
    const patienceMs = time('                      ------|         ');
    const goodSocket = '                           ^---------!     ';
    const cheapSocket = '                          ------^---!     ';
    const expected = '                             ----------(g|)  ';

    expectObservable(chatWithUnderstudy({ good, cheap }, request, { patienceMs })).toBe(expected, answers);
    expectSockets(good, { good: goodSocket });
    expectSockets(cheap, { cheap: cheapSocket });
  }));

  test('where the cheap one is first, the good one is closed', marbles(({ testGateway, time, expectObservable, expectSockets }) => {
    const good = testGateway({ sources: { good: '  -g            ' } });
    const cheap = testGateway({ sources: { cheap: '      --c|     ' } });
    const patienceMs = time('                      ------|         ');
    const goodSocket = '                           ^--------!      ';
    const expected = '                             ---------(c|)   ';

    expectObservable(chatWithUnderstudy({ good, cheap }, request, { patienceMs })).toBe(expected, answers);
    expectSockets(good, { good: goodSocket });
  }));
});

describe('cheaperOnceSpent', () => {

  test('the good model until its tokens are spent, the cheap one then', marbles(({ testGateway, cold, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '--a-(u|)' }, values: { u: usage(20, 40) } });
    const request$ = cold('  (rrr|)         ', { r: request });
    const expected = '       ----g---g---(c|)';

    expectObservable(request$.pipe(cheaperOnceSpent(gateway, { good: 'good', cheap: 'cheap', tokens: 100 }))).toBe(expected, {
      g: like({ model: 'good' }), c: like({ model: 'cheap' }),
    });
    afterwards(() => expect(gateway.sources.llm.requests.map((sent) => sent.request.model)).toEqual(['good', 'good', 'cheap']));
  }));
});
