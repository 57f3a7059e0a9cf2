import { messageOf } from '../model/errors.js';

export type JsonReading = { readonly type: 'value'; readonly value: unknown } | { readonly type: 'problem'; readonly message: string };

export function readJson(text: string): JsonReading {
  try {
    return { type: 'value', value: JSON.parse(text) as unknown };
  } catch (error) {
    // The message itself quotes the text, which has no place in an error.
    const at = /position (\d+)/.exec(messageOf(error))?.[1];
    return { type: 'problem', message: at === undefined ? 'not JSON' : `not JSON from character ${Number(at) + 1} on` };
  }
}

/** The same for an answer, in which the JSON may stand between fences, and other text around them. */
export function readJsonAnswer(text: string): JsonReading {
  const whole = readJson(text);
  const fenced = whole.type === 'value' ? undefined : insideFences(text);
  return fenced === undefined ? whole : readJson(fenced);
}

/** From the first fence to the last, or to the end: a text within the JSON may hold fences too. */
function insideFences(text: string): string | undefined {
  const start = text.indexOf('```');
  if (start === -1) return undefined;
  const end = text.lastIndexOf('```');
  return text.slice(start + 3, end === start ? undefined : end).replace(/^json\b/i, '');
}
