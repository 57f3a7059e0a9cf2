import type { ChatDelta } from '../model/delta.js';

/**
 * A letter's value: the tokens that a provider reports with its answer.
 *
 *     testGateway({ sources: { llm: '-a-u|' }, values: { u: usage(12, 30) } }, testScheduler);
 */
export function usage(promptTokens: number, completionTokens: number): Extract<ChatDelta, { type: 'usage' }> {
  return { type: 'usage', usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, reasoningTokens: null, cachedTokens: null } };
}
