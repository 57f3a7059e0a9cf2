import { expect, test } from '@jest/globals';
import { share, toArray } from 'rxjs';
import { toChatCompletionChunks } from '../../lib/index.js';
import type { ChatDelta } from '../../lib/index.js';
import { marbles } from '../../lib/testing/index.js';

const call = (index: number, fields: object = {}): ChatDelta => ({ type: 'tool-call', index, name: 'f', arguments: '{}', ...fields });

test('a call without an id of its provider has the same one in the chunks and in the answer, also after a retry', marbles(({ testGateway, afterwards }) => {
  const gateway = testGateway({ sources: { a: ['-#', '-(xyz)-|'] }, values: { x: [call(1)], y: [call(3, { id: 'own' })], z: [call(9, { custom: true })] } });
  const item$ = gateway.stream$({ messages: [{ role: 'user', content: 'x' }] }).pipe(share());
  let inChunks: unknown[] = [];
  let inAnswer: unknown[] = [];
  let inMessage: unknown[] = [];
  item$.pipe(toChatCompletionChunks(), toArray()).subscribe((chunks) => {
    inChunks = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? [])).map(({ id }) => id);
  });
  item$.subscribe((item) => {
    if (item.type !== 'end') return;
    inAnswer = item.response.toolCalls.map(({ id }) => id);
    inMessage = item.response.message.tool_calls?.map(({ id }) => id) ?? [];
    expect(item.response.stats.attempts).toBe(2);
  });
  afterwards(() => {
    expect(inChunks).toEqual([expect.stringMatching(/^call_.+_1$/), 'own', expect.stringMatching(/^call_.+_9$/)]);
    expect([inAnswer, inMessage]).toEqual([inChunks, inChunks]);
  });
}));
