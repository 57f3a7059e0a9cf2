import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { lexer } from 'marked';
import type { Token, Tokens } from 'marked';
import { slugs } from '../../docs/site/slugs.mjs';
import { guides, root } from './blocks.js';

type Heading = Tokens.Heading;
type Link = Tokens.Link;

/** Every token of a text, in its order. */
function* tokensOf(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    const { tokens: inner = [], items = [], header = [], rows = [] } = token as Partial<Tokens.List & Tokens.Table & Tokens.Link>;
    yield* tokensOf([...inner, ...items, ...[...header, ...rows.flat()].flatMap((cell) => cell.tokens)]);
  }
}

const documents = new Map(
  guides.map(({ path, text }) => {
    const tokens = [...tokensOf(lexer(text))];
    const slug = slugs();
    const anchors = tokens.filter((token): token is Heading => token.type === 'heading').map(({ tokens: words }) => slug(wordsOf(words)));
    return [path, { links: tokens.filter((token): token is Link => token.type === 'link').map(({ href }) => href), anchors: new Set(anchors) }] as const;
  }),
);

describe('links of README.md and docs/*.md, as GitHub reads them', () => {
  test('lead to a file of the repository, and to a heading that it has', () => {
    const broken = [...documents].flatMap(([path, { links }]) => links.filter((href) => !/^https?:/.test(href) && !exists(path, href)).map((href) => `${path}: ${href}`));
    expect(broken).toEqual([]);
  });

  test('that lead elsewhere are https', () => {
    expect([...documents].flatMap(([path, { links }]) => links.filter((href) => /^[a-z]+:/.test(href) && !/^https:\/\/[\w.-]+\.\w+(\/|$)/.test(href)).map((href) => `${path}: ${href}`))).toEqual([]);
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
  return fragment === undefined || (documents.get(target)?.anchors.has(fragment) ?? false);
}

function wordsOf(tokens: readonly Token[] = []): string {
  return tokens.map((token) => ('tokens' in token && token.tokens ? wordsOf(token.tokens) : 'text' in token ? String(token.text) : '')).join('');
}
