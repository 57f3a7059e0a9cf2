import { expect, test } from '@jest/globals';
import { from, toArray } from 'rxjs';
import { toChatCompletion, toChatCompletionChunks } from '../../lib/index.js';
import type { ChatCompletionChunk, ChatDelta, StreamItem, Usage } from '../../lib/index.js';
import { responseWith } from './responseWith.js';

const usage: Usage = { promptTokens: 10, completionTokens: 8, totalTokens: null, reasoningTokens: 3, cachedTokens: null };
const told = { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18, completion_tokens_details: { reasoning_tokens: 3 } };
const response = responseWith({ content: 'Hello', reasoning: 'hm', usage, finishReason: 'odd' });

test('an answer becomes a chat.completion; its finish reason stays what it is', () => {
  expect(toChatCompletion(response)).toEqual({
    id: 'chatcmpl-c',
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', reasoning_content: 'hm', refusal: null }, logprobs: null, finish_reason: 'odd' }],
    usage: told,
  });
});

test('token counts of which one is not known are left out, since the types want numbers', () => {
  expect(toChatCompletion({ ...response, usage: { ...usage, completionTokens: null } })).not.toHaveProperty('usage');
});

function chunksOf(deltas: readonly ChatDelta[], includeUsage = false): Partial<ChatCompletionChunk>[] {
  const items: StreamItem[] = [{ type: 'start', callId: 'c', source: 'a/1', model: 'm', attempts: 1, hedges: 0 }, ...deltas, { type: 'end', response }];
  let all: ChatCompletionChunk[] = [];
  from(items).pipe(toChatCompletionChunks({ includeUsage }), toArray()).subscribe((chunks) => (all = chunks));
  expect(new Set(all.map(({ id, object }) => `${id} ${object}`))).toEqual(new Set(['chatcmpl-c chat.completion.chunk']));
  return all.map(({ choices, usage: tokens, model }) => ({ model, choices, ...(tokens === undefined ? {} : { usage: tokens }) }));
}

const choice = (delta: object, finish: string | null = null): object[] => [{ index: 0, delta, logprobs: null, finish_reason: finish }];

test('each delta becomes a chunk at once; role, call id and name are told once', () => {
  const chunks = chunksOf([
    { type: 'content', text: 'Hel' },
    { type: 'facts', model: 'real' },
    { type: 'tool-call', index: 0, name: 'look', arguments: '{' },
    { type: 'tool-call', index: 0, name: 'look', arguments: '}' },
    { type: 'usage', usage },
    { type: 'finish', reason: 'odd' },
  ]);
  expect(chunks).toEqual([
    { model: 'm', choices: choice({ role: 'assistant', content: 'Hel' }) },
    { model: 'real', choices: choice({ tool_calls: [{ index: 0, id: 'call_c_0', type: 'function', function: { name: 'look', arguments: '{' } }] }) },
    { model: 'real', choices: choice({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }) },
    { model: 'm', choices: choice({}, 'odd') },
  ]);
});

test('the tokens come in a chunk of their own where they are asked for', () => {
  expect(chunksOf([{ type: 'content', text: 'a' }], true)).toEqual([
    { model: 'm', choices: choice({ role: 'assistant', content: 'a' }), usage: null },
    { model: 'm', choices: choice({}, 'odd'), usage: null },
    { model: 'm', choices: [], usage: told },
  ]);
});

test('every subscription has chunks of its own', () => {
  const items: StreamItem[] = [{ type: 'content', text: 'a' }];
  const chunk$ = from(items).pipe(toChatCompletionChunks());
  const roles: unknown[] = [];
  for (let time = 0; time < 2; time += 1) chunk$.subscribe(({ choices }) => roles.push(choices[0]?.delta.role));
  expect(roles).toEqual(['assistant', 'assistant']);
});
