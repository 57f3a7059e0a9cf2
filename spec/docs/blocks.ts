import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A document that a reader sees: README.md, or a guide below docs/. */
export interface Guide {
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a guide, with the flags behind its language. */
export interface Block {
  readonly guide: string;
  readonly line: number;
  readonly language: string;
  readonly flags: ReadonlySet<string>;
  /** `file=…`: the name under which later blocks of the guide import it. */
  readonly file: string;
  /** `says='…'`: what the simulated upstream answers. */
  readonly says: string;
  readonly code: string;
}

export const guides: readonly Guide[] = ['README.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)].map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

export const blocks: readonly Block[] = guides.flatMap(blocksOf);

export const where = ({ guide, line }: Block): string => `${guide}:${line}`;

export const ofLanguage = (...languages: readonly string[]): readonly Block[] => blocks.filter(({ language }) => languages.includes(language));

/** The text of one guide. */
export function guide(path: string): string {
  const text = guides.find((one) => one.path === path)?.text;
  if (text === undefined) throw new Error(`there is no guide ${path}`);
  return text;
}

function blocksOf({ path, text }: Guide): readonly Block[] {
  return [...text.matchAll(/^```([^\s`]*)([^\n]*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: info = '', 3: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    const says = /says='([^']*)'/.exec(info)?.[1];
    const flags = new Set(info.replace(/says='[^']*'/, '').split(' ').filter((flag) => flag !== '' && !flag.includes('=')));
    const end = flags.has('test') ? 'spec.ts' : 'ts';
    const file = / file=(\S+)/.exec(info)?.[1] ?? `line-${line}.${end}`;
    return { guide: path, line, language, flags, file, says: says ?? 'Hello there', code };
  });
}
