import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

export interface TextPart {
  type: 'content' | 'reasoning' | 'refusal';
  text: string;
}

/** The reasoning of a delta or message. Its several names hold copies of one text, so the first that has any counts. */
export function reasoningText(message: JsonRecord): string {
  const text = asText(message['reasoning_content']) || asText(message['reasoning']) || asText(message['thinking']);
  const details = asList(message['reasoning_details']);
  return text !== '' || details.length === 0 ? text : details.map(detailText).join('');
}

function detailText(detail: unknown): string {
  const fields = asRecord(detail);
  return asText(fields?.['text']) || asText(fields?.['summary']);
}

/** The fields that the provider wants to see again in the next turn, as it sent them; `undefined` when there are none. */
export function messageExtra(message: JsonRecord): JsonRecord | undefined {
  const reasoning = asText(message['reasoning_content']);
  const details = asList(message['reasoning_details']);
  if (reasoning === '' && details.length === 0) return undefined;
  return { ...(reasoning !== '' && { reasoning_content: reasoning }), ...(details.length > 0 && { reasoning_details: details }) };
}

/** The texts of a content that is a list of parts, in their order. */
export function contentParts(content: unknown): TextPart[] {
  return (Array.isArray(content) ? content : [content]).map(contentPart).filter(({ text }) => text !== '');
}

function contentPart(part: unknown): TextPart {
  if (typeof part === 'string') return { type: 'content', text: part };
  const fields = asRecord(part) ?? {};
  switch (fields['type']) {
    case 'thinking':
    case 'reasoning':
      return { type: 'reasoning', text: nestedText(fields['thinking'] ?? fields['reasoning'] ?? fields['text']) };
    case 'refusal':
      return { type: 'refusal', text: asText(fields['refusal']) };
    default:
      return { type: 'content', text: asText(fields['text']) };
  }
}

function nestedText(value: unknown): string {
  return typeof value === 'string' ? value : asList(value).map(detailText).join('');
}
