import { isRecord } from './kind.js';
import { withoutQuotes } from './textKinds.js';

/** The keys and header values in settings of any state, so that they can be kept out of every message. */
export function secretsIn(settings: unknown): string[] {
  if (!isRecord(settings) || !Array.isArray(settings['sources'])) return [];
  return settings['sources'].filter(isRecord).flatMap(({ apiKey, headers }) => secretsOf([apiKey, ...(isRecord(headers) ? Object.values(headers) : [])]));
}

/** The texts among the values, as they are and as they are when trimmed. */
export function secretsOf(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string').flatMap((text) => [text, text.trim(), withoutQuotes(text).text]);
}
