import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HtmlValidate } from 'html-validate';
import { ofLanguage, root } from './blocks.js';
import { isExternal, reachableFrom, readSite, targetOf } from './builtSite.js';
import type { BuiltPage } from './builtSite.js';
import { runProcess } from './runProcess.js';

const folder = mkdtempSync(join(tmpdir(), 'polygateway-site-'));
let pages: ReadonlyMap<string, BuiltPage>;

const all = (): readonly BuiltPage[] => [...pages.values()].filter(({ path }) => path.endsWith('.html'));
const ours = (): readonly BuiltPage[] => all().filter(({ path }) => !path.startsWith('api/'));

beforeAll(async () => {
  const end = await runProcess([join(root, 'docs/site/build.mjs'), '--out', folder], { cwd: folder, timeoutMs: 240_000 });
  expect(end).toEqual({ code: 0, stdout: '', stderr: '' });
  pages = readSite(folder);
}, 250_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the site, built by one script without a complaint of typedoc', () => {
  test('every link and every fragment leads somewhere', () => {
    const broken = all().flatMap((page) => page.links.filter((href) => !isExternal(href) && !leadsSomewhere(page, href)).map((href) => `${page.path}: ${href}`));
    expect(broken).toEqual([]);
  });

  test('no page has an id twice', () => {
    expect(all().flatMap(({ path, ids }) => ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${path}: ${id}`))).toEqual([]);
  });

  test('every page is reached from the first one', () => {
    const reached = reachableFrom('index.html', pages);
    // typedoc's navigation is made by its script; each module's page lists what is in it.
    expect(all().map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
    expect(ours().length).toBeGreaterThan(14);
    expect(all().length).toBeGreaterThan(100);
  });

  test('every guide is valid HTML, and its language, title and description are said', async () => {
    const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules: { 'valid-id': ['error', { relaxed: true }] } });
    for (const { path, html } of ours()) {
      // Blocks of code are thousands of coloured spans, which take minutes to look at.
      const { results } = await validator.validateString(html.replaceAll(/(?<=<pre[^>]*>)[^]*?(?=<\/pre>)/g, ''));
      expect(results.flatMap(({ messages }) => messages.map(({ ruleId, line, message }) => `${path}:${line} ${ruleId}: ${message}`))).toEqual([]);
      expect(html).toMatch(/<html lang="en">[\s\S]*<title>[^<]{5,}<\/title>\n<meta name="description" content="[^"]+">/);
    }
  }, 60_000);

  test('nothing is loaded from elsewhere, so that it works from a disk', () => {
    const loaded = ours().flatMap(({ path, html }) => [...html.matchAll(/<(?:script|img|iframe|link)\b[^>]*>/g)].filter(([tag]) => tag !== '<link rel="stylesheet" href="site.css">').map(([tag]) => `${path}: ${tag}`));
    expect(loaded).toEqual([]);
    expect(all().flatMap(({ path, html }) => [...html.matchAll(/(?:src|<link[^>]* href)="(?:https?:)?\/\/[^"]*"/g)].map(([tag]) => `${path}: ${tag}`))).toEqual([]);
    expect(readFileSync(join(folder, 'site.css'), 'utf8')).not.toMatch(/url\(|@import/);
  });

  test('what leads elsewhere is https', () => {
    const external = [...new Set(ours().flatMap(({ links }) => links.filter(isExternal)))];
    expect(external.filter((href) => !isWellFormed(href))).toEqual([]);
  });

  test('recipes are shown whole, each with its test', () => {
    const { html } = pages.get('recipes.html')!;
    const shown = [...html.matchAll(/<div class="recipe" id="[^"]+"><p><strong>[^<]+<\/strong> <code>([^<]+)<\/code><\/p>\n<pre[\s\S]*?<\/pre>\n(<details>)?/g)].map(([, path = '', details]) => ({ path, hasTest: details !== undefined }));
    expect(shown.map(({ path }) => path).sort()).toEqual(examples());
    expect(shown.filter(({ path, hasTest }) => path.endsWith('.ts') && hasTest !== existsSync(join(root, path.replace(/\.ts$/, '.spec.ts'))))).toEqual([]);
  });

  test('the reference holds what is exported, with its diagrams', () => {
    const silence = pages.get('api/functions/polygateway_operators.silence.html')!;
    expect(silence.html).toContain('--a-b-----------c------|');
    expect(pages.has('api/functions/polygateway.createGateway.html')).toBe(true);
    expect(pages.has('api/functions/polygateway_testing.marbles.html')).toBe(true);
    for (const runner of ['jest', 'vitest']) expect(pages.get(`api/modules/polygateway_testing_${runner}.html`)!.html).toContain('href="../interfaces/polygateway_testing.GatewayMatchers.html"');
    expect(all().filter(({ html }) => html.includes('__namedParameters')).map(({ path }) => path)).toEqual([]);
  });

  test('the first page of the reference says what each entry is for', () => {
    const entries = [...pages.get('api/index.html')!.html.matchAll(/<li><a href="modules\/[^"]+">(polygateway[^<]*)<\/a>: [A-Z][^<]{20,}<\/li>/g)].map(([, name]) => name);
    expect(entries).toEqual(['polygateway', 'polygateway/operators', 'polygateway/testing', 'polygateway/testing/jest', 'polygateway/testing/vitest']);
  });

  test('a block that is a file has its name above it, once', () => {
    const named = ofLanguage('ts').filter(({ file }) => !file.startsWith('line-'));
    for (const { guide, file } of named) {
      const { html } = pages.get(guide.replace('docs/', '').replace('.md', '.html'))!;
      expect([guide, file, html.split(new RegExp(`<p(?: class="file")?><code>${file}</code></p>\n<pre`)).length - 1]).toEqual([guide, file, 1]);
    }
    expect(named.length).toBeGreaterThan(0);
  });
});

/** Every file of the examples that a reader could copy. */
function examples(): readonly string[] {
  const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' }).map((name) => `examples/${name}`);
  return files.filter((name) => /\.(ts|js|html)$/.test(name) && !/\.(spec|d)\.ts$/.test(name)).sort();
}

function leadsSomewhere(page: BuiltPage, href: string): boolean {
  const { file, fragment } = targetOf(page, href);
  if (!existsSync(join(folder, file))) return false;
  return fragment === '' || (pages.get(file)?.ids.includes(fragment) ?? false);
}

function isWellFormed(href: string): boolean {
  return URL.canParse(href) && new URL(href).protocol === 'https:';
}
