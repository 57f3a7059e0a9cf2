import { isRecord } from './kind.js';
import type { Kind, Reading } from './kind.js';

// Undici refuses the first five when the request is made, and sets or computes the others itself.
const reservedHeaders = new Set(['connection', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade', 'content-length', 'host', 'te', 'trailer']);

/** Headers sent with every request, as a JSON object of texts. */
export const headers: Kind<Readonly<Record<string, string>>> = {
  secret: true,
  fromText: parsedJson,
  read: (value) => {
    if (!isRecord(value)) return { problem: 'must be a JSON object of header names and texts, such as {"x-team":"blue"}' };
    const problem = headersProblem(Object.entries(value));
    return problem === undefined ? { value: { ...value } as Record<string, string> } : { problem };
  },
};

/** Fields added to every request body, as a JSON object. */
export const jsonObject: Kind<Readonly<Record<string, unknown>>> = {
  secret: true,
  fromText: parsedJson,
  read: (value) => (isRecord(value) ? copyOf(value) : { problem: 'must be a JSON object, such as {"top_k":20}' }),
};

// The parser's message is dropped, since it quotes the text, in which a key may stand.
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function headersProblem(entries: readonly (readonly [string, unknown])[]): string | undefined {
  const seen = new Set<string>();
  for (const [name, text] of entries) {
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) return 'has a header name with a character that is not allowed in one';
    if (seen.has(lower)) return `has the header ${name} twice: names are compared without regard to case`;
    if (reservedHeaders.has(lower) || lower === '__proto__') return `must not set the header ${name}`;
    if (typeof text !== 'string') return `must give the header ${name} as text`;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) return `has a line end or a character that no header can carry in the header ${name}`;
    seen.add(lower);
  }
  return undefined;
}

function copyOf(value: Record<string, unknown>): Reading<Record<string, unknown>> {
  const fields = new Set<string>();
  try {
    const copy = JSON.parse(JSON.stringify(value), (field, inner: unknown) => {
      fields.add(field);
      return inner;
    }) as Record<string, unknown>;
    return fields.has('__proto__') ? { problem: 'must not have a field named __proto__' } : { value: copy };
  } catch {
    return { problem: 'must be something that can be written as JSON' };
  }
}
