/** Response headers, names in lower case. */
export type Headers = Readonly<Record<string, unknown>>;

/** A header's text, trimmed; of a repeated header the first. */
export function headerText(headers: Headers, name: string): string | undefined {
  const value: unknown = headers[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === 'number') return String(first);
  return typeof first === 'string' ? first.trim() : undefined;
}
