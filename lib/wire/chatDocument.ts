import { asRecord, parseJson } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

const trailingMarker = /\s*data:\s*\[done\]\s*$/i;

/** The answer in one piece, out of a wrapping and without a stream's end marker; `undefined` when there is none, or several. */
export function chatDocument(text: string): JsonRecord | undefined {
  const value = parseJson(text) ?? parseJson(text.replace(trailingMarker, ''));
  const outer = asRecord(Array.isArray(value) && value.length === 1 ? value[0] : value);
  if (outer === undefined || Array.isArray(outer['choices'])) return outer;
  const inner = asRecord(outer['data']) ?? asRecord(outer['response']) ?? asRecord(outer['result']);
  return Array.isArray(inner?.['choices']) ? inner : outer;
}
