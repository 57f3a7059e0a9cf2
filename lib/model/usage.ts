/** Tokens as the provider reported them; a number that was not reported, or cannot be true, is `null`. */
export interface Usage {
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  reasoningTokens: number | null;
  cachedTokens: number | null;
}
