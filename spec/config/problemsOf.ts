import { ConfigError } from '../../lib/model/errors.js';

/** The problems of the ConfigError that `act` throws; none if it throws nothing. Other errors pass. */
export function problemsOf(act: () => unknown): readonly string[] {
  try {
    act();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** A scope with one source that lacks nothing. */
export const oneSource = { LLM__A__1__BASE_URL: 'https://a.example/v1', LLM__A__1__MODEL: 'm' };
