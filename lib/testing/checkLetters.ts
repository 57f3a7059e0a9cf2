import type { ChatDelta } from '../model/delta.js';
import { kindOf } from './difference/kindOf.js';
import type { ScriptValues } from './script.js';
import { showValue } from './difference/showValue.js';

const deltaTypes: Readonly<Record<ChatDelta['type'], true>> = {
  content: true, reasoning: true, refusal: true, 'tool-call': true, usage: true, finish: true, logprobs: true, 'message-extra': true, facts: true,
};

/**
 * Throws where something is explained that can be no letter, or by what no source says, which an answer would lack without a word. A
 * letter that no script of this test has is no fault: tests share their letters.
 */
export function checkLetters(values: ScriptValues): void {
  for (const [letter, value] of Object.entries(values)) {
    if (Array.from(letter).length !== 1) throw new Error(`\`values\` explains "${letter}". A letter is one character.`);
    if ('|#-() '.includes(letter)) throw new Error(`\`values\` explains "${letter}". This sign has a meaning of its own: take a letter.`);
    if (!isSaid(value)) throw new Error(`\`values\` explains "${letter}" by ${showValue(value)}, which no source says. Write a text, a delta such as { type: 'content', text: 'Hello' }, a list of them, or an Error.`);
  }
}

function isSaid(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isDelta);
  return typeof value === 'string' || kindOf(value) === 'error' || isDelta(value);
}

function isDelta(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && Object.hasOwn(deltaTypes, String(value.type));
}
