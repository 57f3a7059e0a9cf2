import { describe, expect, test } from '@jest/globals';
import type { ChatDelta } from '../../lib/model/delta.js';
import { createFold } from '../../lib/model/fold.js';

const mebi = 1024 * 1024;

describe('the answer as far as it has come', () => {
  const endless: Record<string, () => ChatDelta> = {
    text: () => ({ type: 'content', text: 'x'.repeat(mebi) }),
    arguments: () => ({ type: 'tool-call', index: 0, arguments: 'x'.repeat(mebi) }),
    probabilities: () => ({ type: 'logprobs', logprobs: { content: [{ token: 'x'.repeat(mebi) }] } }),
    'details of reasoning': () => ({ type: 'message-extra', fields: { reasoning_details: ['x'.repeat(mebi)] } }),
  };
  test.each(Object.entries(endless))('is an error over 64 Mi characters of %s, never cut in silence', (_what, next) => {
    const fold = createFold('a');
    for (let at = 0; at < 63; at += 1) fold.add(next());
    expect(() => { fold.add(next()); fold.add(next()); }).toThrow(expect.objectContaining({ code: 'transient', message: 'the answer is larger than 67108864 characters' }));
    expect(fold.partial().chars).toBeLessThanOrEqual(65 * mebi);
  });

  test('has no holes where a source of one\'s own counts its tool calls from 1', () => {
    const fold = createFold('a');
    fold.add({ type: 'tool-call', index: 1, id: 'c1', name: 'weather', arguments: '{}' });
    expect(fold.answer().toolCalls).toEqual([{ id: 'c1', name: 'weather', arguments: '{}' }]);
    expect(fold.answer().message.tool_calls).toEqual([{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }]);
  });

  test('costs no more where such a source counts from far away, in the order of its numbers', () => {
    const fold = createFold('a');
    const startedMs = performance.now();
    fold.add({ type: 'tool-call', index: 400_000_000, id: 'c2', name: 'g', arguments: 'x', custom: true });
    fold.add({ type: 'tool-call', index: 7, name: 'f', arguments: '{}' });
    expect(fold.answer().toolCalls).toEqual([{ id: 'call_a_7', name: 'f', arguments: '{}' }, { id: 'c2', name: 'g', arguments: 'x', custom: true }]);
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });
});
