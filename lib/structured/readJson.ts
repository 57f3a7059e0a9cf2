import { messageOf } from '../model/errors.js';

export type JsonReading = { readonly type: 'value'; readonly value: unknown } | { readonly type: 'problem'; readonly message: string };

/** Reads a part of a text; places count from the beginning of the text. */
export function readJson(text: string, start = 0, end = text.length): JsonReading {
  const from = text.startsWith(byteOrderMark, start) ? start + 1 : start;
  try {
    return { type: 'value', value: JSON.parse(text.slice(from, end)) as unknown };
  } catch (error) {
    // The message itself quotes the text, which has no place in an error; the engine's own words come after it.
    const at = /JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(messageOf(error))?.[1];
    return { type: 'problem', message: at === undefined ? 'not JSON' : `not JSON from character ${from + Number(at) + 1} on` };
  }
}

const byteOrderMark = '\uFEFF';

/** The same for an answer, in which the JSON may stand between fences, and other text around them. */
export function readJsonAnswer(text: string): JsonReading {
  const whole = readJson(text);
  const start = whole.type === 'value' ? -1 : text.indexOf(fence);
  if (start === -1) return whole;
  const inside = start + (/^```(?:(?!true|false|null)[a-z][\w+-]*(?=[\s{["]))?/i.exec(text.slice(start))?.[0] ?? fence).length;
  const next = text.indexOf(fence, inside);
  if (next === -1) return readJson(text, inside);
  const first = readJson(text, inside, next);
  // A text within the JSON may hold fences too.
  return first.type === 'value' ? first : readJson(text, inside, text.lastIndexOf(fence));
}

const fence = '```';
