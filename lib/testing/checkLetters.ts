import type { ScriptValues } from './script.js';

/** Throws where something is explained that can be no letter. One that no script of this test has is no fault: tests share their letters. */
export function checkLetters(values: ScriptValues): void {
  for (const letter of Object.keys(values)) {
    if (Array.from(letter).length !== 1) throw new Error(`\`values\` explains "${letter}". A letter is one character.`);
    if ('|#-() '.includes(letter)) throw new Error(`\`values\` explains "${letter}". This sign has a meaning of its own: take a letter.`);
  }
}
