import type { Usage } from '../model/usage.js';
import { asRecord } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/**
 * The tokens that a report names, over those already known: a number that is missing or cannot be true erases nothing,
 * nor does a report of nothing but zeros. `null` for a report that tells nothing new.
 */
export function chatUsage(report: JsonRecord, known: Usage | null): Usage | null {
  const prompt = asRecord(report['prompt_tokens_details']) ?? asRecord(report['input_tokens_details']);
  const completion = asRecord(report['completion_tokens_details']) ?? asRecord(report['output_tokens_details']);
  const told: Usage = {
    promptTokens: count(report['prompt_tokens'], report['input_tokens']),
    completionTokens: count(report['completion_tokens'], report['output_tokens']),
    totalTokens: count(report['total_tokens']),
    reasoningTokens: count(completion?.['reasoning_tokens'], report['reasoning_tokens']),
    cachedTokens: count(prompt?.['cached_tokens'], report['cached_tokens'], report['prompt_cache_hit_tokens']),
  };
  const numbers = Object.values(told) as readonly (number | null)[];
  if (known === null) return numbers.some((tokens) => tokens !== null) ? told : null;
  return numbers.some((tokens) => tokens !== null && tokens > 0) ? over(told, known) : null;
}

function over(told: Usage, known: Usage): Usage {
  return {
    promptTokens: told.promptTokens ?? known.promptTokens,
    completionTokens: told.completionTokens ?? known.completionTokens,
    totalTokens: told.totalTokens ?? known.totalTokens,
    reasoningTokens: told.reasoningTokens ?? known.reasoningTokens,
    cachedTokens: told.cachedTokens ?? known.cachedTokens,
  };
}

function count(...candidates: readonly unknown[]): number | null {
  return candidates.find((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) ?? null;
}
