import { readFileSync } from 'node:fs';

const row = /^ \* {5}(\w+):( +[-\w^!|#()*]+)(?: {2,}.*)?$/gm;

/** The rows of the diagram in an operator's docstring, by label, with the spaces that hold their columns. */
export function diagramOf(operator: string): Record<string, string> {
  const text = readFileSync(new URL(`../../lib/operators/${operator}.ts`, import.meta.url), 'utf8');
  const docstring = text.split(`export function ${operator}`)[0]!.split('/**').at(-1)!;
  return Object.fromEntries([...docstring.matchAll(row)].map(([, label = '', marbles = '']) => [label, marbles]));
}
