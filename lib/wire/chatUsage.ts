import type { Usage } from '../model/usage.js';
import { asRecord } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/**
 * The tokens that a report names, over those already known: a number that is missing or cannot be true erases nothing.
 * `null` while no report has named any.
 */
export function chatUsage(report: JsonRecord, known: Usage | null): Usage | null {
  const prompt = asRecord(report['prompt_tokens_details']) ?? asRecord(report['input_tokens_details']);
  const completion = asRecord(report['completion_tokens_details']) ?? asRecord(report['output_tokens_details']);
  const usage: Usage = {
    promptTokens: count(report['prompt_tokens'], report['input_tokens']) ?? known?.promptTokens ?? null,
    completionTokens: count(report['completion_tokens'], report['output_tokens']) ?? known?.completionTokens ?? null,
    totalTokens: count(report['total_tokens']) ?? known?.totalTokens ?? null,
    reasoningTokens: count(completion?.['reasoning_tokens'], report['reasoning_tokens']) ?? known?.reasoningTokens ?? null,
    cachedTokens:
      count(prompt?.['cached_tokens'], report['cached_tokens'], report['prompt_cache_hit_tokens']) ?? known?.cachedTokens ?? null,
  };
  return Object.values(usage).some((tokens) => tokens !== null) ? usage : null;
}

function count(...candidates: readonly unknown[]): number | undefined {
  return candidates.find((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}
