import { describe, expect, test } from '@jest/globals';
import { marbles } from 'polygateway/testing';
import { Answers } from './answers.js';

describe('Answers, a service of Nest', () => {
  test('makes events of an answer, and asks the question', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '--a-----b|' } });
    const expected = '                             --(sa)--b(f|)';

    expectObservable(new Answers(gateway).about('Why?')).toBe(expected, {
      s: { type: 'start', data: { source: 'llm' } },
      a: { type: 'text', data: { text: 'a' } },
      b: { type: 'text', data: { text: 'b' } },
      f: { type: 'figures', data: { source: 'llm', generationMs: 9, stallMs: 0, hedges: 0 } },
    });
    afterwards(() => expect(gateway.sources.llm.requests[0]?.request.messages).toEqual([{ role: 'user', content: 'Why?' }]));
  }));

  test('a client that leaves closes the source', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '--a 5s b|' } });
    expectObservable(new Answers(gateway).about('Why?'), '----!');
    afterwards(() => expect(gateway.sources.llm.requests).toMatchObject([{ startedMs: 0, closedMs: 4 }]));
  }));
});
