import type { Usage } from '../model/usage.js';

/** Tokens in OpenAI's names; what is not known is left out, since a zero would be taken for a figure. */
export function usageBody({ promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens }: Usage): Record<string, unknown> {
  const sum = promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens;
  return {
    ...known('prompt_tokens', promptTokens),
    ...known('completion_tokens', completionTokens),
    ...known('total_tokens', totalTokens ?? sum),
    ...known('prompt_tokens_details', cachedTokens === null ? null : { cached_tokens: cachedTokens }),
    ...known('completion_tokens_details', reasoningTokens === null ? null : { reasoning_tokens: reasoningTokens }),
  };
}

function known(name: string, value: number | object | null): Record<string, unknown> {
  return value === null ? {} : { [name]: value };
}
