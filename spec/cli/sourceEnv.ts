/** A key that must never be seen. */
export const secret = 'sk-test-4f3a9b1c7d2e8f60';

/** The environment of a scope with these sources. */
export function sourceEnv(urls: Readonly<Record<string, string>>, more: Record<string, string> = {}): Record<string, string> {
  const sources = Object.entries(urls).flatMap(([provider, url]) => [
    [`LLM__${provider.toUpperCase()}__1__BASE_URL`, url],
    [`LLM__${provider.toUpperCase()}__1__MODEL`, 'sim'],
    [`LLM__${provider.toUpperCase()}__1__API_KEY`, secret],
  ]);
  return { ...Object.fromEntries(sources), ...more } as Record<string, string>;
}
