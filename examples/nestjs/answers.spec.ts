import { describe, expect, test } from '@jest/globals';
import type { MessageEvent } from '@nestjs/common';
import { marbles } from 'polygateway/testing';
import { Answers } from './answers.js';

const messages: Record<string, MessageEvent> = {
  s: { type: 'start', data: { source: 'llm' } },
  a: { type: 'text', data: { text: 'a' } },
  b: { type: 'text', data: { text: 'b' } },
  f: { type: 'figures', data: { source: 'llm', generationMs: 9, stallMs: 0, hedges: 0 } },
};

describe('Answers, a service of Nest', () => {
  test('makes events of an answer, and asks the question', marbles(({ testGateway, expectObservable, afterwards }) => {
    const gateway = testGateway({ sources: { llm: '--a-----b|' } });
    const left = '                                 9s !';
    const expected = '                             --(sa)--b(f|)';

    expectObservable(new Answers(gateway).about('Why?'), left).toBe(expected, messages);
    afterwards(() => expect(gateway.sources.llm.requests[0]?.request.messages).toEqual([{ role: 'user', content: 'Why?' }]));
  }));

  test('a client that leaves closes the source', marbles(({ testGateway, expectObservable, expectSubscriptions }) => {
    const gateway = testGateway({ sources: { llm: '--a 5s b|' } });
    const left = '                                 -------!';
    const socket = '                               ^------!';
    const expected = '                             --(sa)';

    expectObservable(new Answers(gateway).about('Why?'), left).toBe(expected, messages);
    expectSubscriptions(gateway.sources.llm.subscriptions).toBe(socket);
  }));
});
