export type JsonRecord = Record<string, unknown>;

/** The value as an object with fields; arrays and everything else are not one. */
export function asRecord(value: unknown): JsonRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
}

/** The value as a text; whatever is no text is an empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a list; whatever is no list is an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : none;
}

const none: readonly unknown[] = [];

/** The JSON document in a text; `undefined` (which JSON cannot say) when it holds none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
