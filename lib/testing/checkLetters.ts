import { parseDiagram } from './parseDiagram.js';
import type { Script, ScriptLetters } from './script.js';

/** Throws where letters are explained that no script has: commonly a slip of the pen, after which a test says less than it seems to. */
export function checkLetters(scripts: readonly Script[], { values = {}, error }: ScriptLetters): void {
  const written = new Set(scripts.flatMap((script) => (typeof script === 'string' ? parseDiagram(script).signs.map(({ symbol }) => symbol) : [])));
  const unused = Object.keys(values).filter((letter) => !written.has(letter) || letter === '|' || letter === '#');
  if (unused.length > 0) throw new Error(`\`values\` explains ${unused.map((letter) => `"${letter}"`).join(', ')}, which ${where(scripts)}. ${remedyFor(unused)}`);
  if (error !== undefined && !written.has('#')) throw new Error(`\`error\` says what "#" stands for, which ${where(scripts)}. Write "#" where the source is to fail, or leave \`error\` out.`);
}

function where(scripts: readonly Script[]): string {
  const diagrams = scripts.filter((script) => typeof script === 'string');
  if (diagrams.length === 0) return 'only a script that is a diagram could have, and there is none';
  return diagrams.length === 1 ? `the script '${diagrams[0] ?? ''}' does not have` : `none of the ${diagrams.length} scripts has`;
}

function remedyFor(unused: readonly string[]): string {
  if (unused.some((letter) => Array.from(letter).length !== 1)) return 'A letter is one character.';
  if (unused.some((letter) => '|#-()'.includes(letter))) return 'This sign has a meaning of its own: take a letter.';
  return `Write ${unused.length === 1 ? 'it' : 'them'} into a script, or leave ${unused.length === 1 ? 'it' : 'them'} out.`;
}
