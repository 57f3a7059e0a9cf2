/** Tokens as the provider reported them; a number that was not reported, or cannot be true, is `null`. */
export interface Usage {
  promptTokens: number | null;
  completionTokens: number | null;
  totalTokens: number | null;
  reasoningTokens: number | null;
  cachedTokens: number | null;
}

/** The sum of two reports; a figure that one of them does not have is `null`. */
export function addUsage(a: Usage | null, b: Usage | null): Usage | null {
  if (a === null || b === null) return null;
  const sum = (figure: keyof Usage): number | null => {
    const [left, right] = [a[figure], b[figure]];
    return left === null || right === null ? null : left + right;
  };
  return {
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    totalTokens: sum('totalTokens'),
    reasoningTokens: sum('reasoningTokens'),
    cachedTokens: sum('cachedTokens'),
  };
}
