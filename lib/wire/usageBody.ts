import type { Usage } from '../model/usage.js';

/** Tokens in OpenAI's names. */
export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens: number };
  completion_tokens_details?: { reasoning_tokens: number };
}

/** Tokens in OpenAI's names; what is not known is left out, since a zero would be taken for a figure. */
export function usageBody({ promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens }: Usage): Partial<CompletionUsage> {
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens;
  return {
    ...known('prompt_tokens', promptTokens),
    ...known('completion_tokens', completionTokens),
    ...known('total_tokens', totalTokens ?? sum),
    ...known('prompt_tokens_details', cachedTokens === null ? null : { cached_tokens: cachedTokens }),
    ...known('completion_tokens_details', reasoningTokens === null ? null : { reasoning_tokens: reasoningTokens }),
  };
}

/** The same for types that want every figure: nothing, unless each is known. */
export function wholeUsageBody(usage: Usage | null): { usage?: CompletionUsage } {
  const body = usage === null ? {} : usageBody(usage);
  return isWhole(body) ? { usage: body } : {};
}

function isWhole(body: Partial<CompletionUsage>): body is CompletionUsage {
  return body.prompt_tokens !== undefined && body.completion_tokens !== undefined && body.total_tokens !== undefined;
}

function known(name: keyof CompletionUsage, value: number | object | null): Partial<CompletionUsage> {
  return value === null ? {} : { [name]: value };
}
