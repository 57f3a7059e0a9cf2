import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { lexer } from 'marked';
import type { Token, Tokens } from 'marked';
import { slugs } from '../../docs/site/slugs.mjs';
import { guides, root } from './blocks.js';

/** Where a token keeps others: as text, as a list, as a table. */
interface Nest {
  readonly tokens?: readonly Token[];
  readonly items?: readonly Token[];
  readonly header?: readonly Tokens.TableCell[];
  readonly rows?: readonly (readonly Tokens.TableCell[])[];
}

/** Every token of a text, in its order. */
function* tokensOf(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    const { tokens: inner = [], items = [], header = [], rows = [] } = token as Nest;
    yield* tokensOf([...inner, ...items, ...[...header, ...rows.flat()].flatMap((cell) => cell.tokens)]);
  }
}

const tokens = new Map(guides.map(({ path, text }) => [path, [...tokensOf(lexer(text))]] as const));
const links = [...tokens].flatMap(([path, all]) => all.filter((token): token is Tokens.Link => token.type === 'link').map(({ href }) => ({ path, href })));

describe('links of README.md and docs/*.md, as GitHub reads them', () => {
  test('lead to a file of the repository, and to a heading that it has', () => {
    expect(links.filter(({ path, href }) => !/^[a-z]+:/.test(href) && !exists(path, href))).toEqual([]);
    expect(links.length).toBeGreaterThan(40);
  });

  test('that lead elsewhere are https', () => {
    expect(links.filter(({ href }) => /^[a-z]+:/.test(href) && !/^https:\/\/[\w.-]+\.\w+(\/|$)/.test(href))).toEqual([]);
  });

  test.each([
    ['Net time', 'net-time'],
    ['stream$ and stream', 'stream-and-stream'],
    ['Hedging, and its price', 'hedging-and-its-price'],
    ['What is assumed, and when it is wrong', 'what-is-assumed-and-when-it-is-wrong'],
    ['OpenTelemetry: gen_ai & more', 'opentelemetry-gen_ai--more'],
  ])('an anchor is what GitHub makes of %s', (heading, anchor) => {
    expect(slugs()(heading)).toBe(anchor);
  });

  test('a second heading of the same words has a number', () => {
    const slug = slugs();
    expect([slug('Rows'), slug('Rows'), slug('Rows')]).toEqual(['rows', 'rows-1', 'rows-2']);
  });
});

function exists(from: string, href: string): boolean {
  const [path = '', fragment] = href.split('#');
  const target = path === '' ? from : posix.normalize(posix.join(posix.dirname(from), path));
  if (!existsSync(join(root, target))) return false;
  return fragment === undefined || anchorsIn(target).has(fragment);
}

function anchorsIn(path: string): ReadonlySet<string> {
  const slug = slugs();
  const all = tokens.get(path) ?? [...tokensOf(lexer(readFileSync(join(root, path), 'utf8')))];
  return new Set(all.filter((token): token is Tokens.Heading => token.type === 'heading').map(({ tokens: words }) => slug(wordsOf(words))));
}

function wordsOf(tokens: readonly Token[] = []): string {
  return tokens.map((token) => wordsOf((token as Nest).tokens) || ('text' in token ? String(token.text) : '')).join('');
}
