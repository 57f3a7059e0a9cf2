// Builds the site from README.md, docs/*.md, CHANGELOG.md, examples/ and the docstrings: node docs/site/build.mjs [--out FOLDER] [--no-api]
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildApi } from './api.mjs';
import { fileOf, groups, pageOf } from './guides.mjs';
import { codeBlock, escaped } from './highlight.mjs';
import { renderMarkdown } from './markdown.mjs';
import { renderPage } from './page.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values: options } = parseArgs({ options: { out: { type: 'string', default: join(root, 'site') }, 'no-api': { type: 'boolean', default: false } } });
const read = (path) => readFileSync(join(root, path), 'utf8');

/** Files of the repository that documents link to and that are no pages: copied, as text. */
const linkedFiles = new Map();
const broken = [];
const recipes = new Set([...read('docs/recipes.md').matchAll(/^\[[^\]]*\]\(\.\.\/(examples\/[^)#]+)\)$/gm)].map(([, path]) => path));
const anchorOf = (example) => example.replaceAll(/[^\w]+/g, '-').toLowerCase();

/** Where a link of a document leads on the site. */
function linkFrom(document) {
  return (href) => {
    if (/^(https?:|mailto:|#)/.test(href)) return href;
    const [path, fragment] = href.split('#');
    const target = posix.normalize(posix.join(posix.dirname(document), path));
    const guide = [...groups.flatMap(({ guides }) => guides), 'changelog'].find((one) => fileOf(one) === target);
    if (guide !== undefined) return `${pageOf(guide)}${fragment === undefined ? '' : `#${fragment}`}`;
    if (recipes.has(target)) return `recipes.html#${anchorOf(target)}`;
    if (!existsSync(join(root, target))) broken.push(`${document}: there is no ${target}`);
    const copy = `files/${target.replace(/^\./, '')}.txt`;
    linkedFiles.set(target, copy);
    return copy;
  };
}

/** A paragraph that is a link to an example and nothing else shows it whole, and its test on demand. */
function recipeFrom(document) {
  return (href, title) => {
    const path = posix.join(posix.dirname(document), href);
    if (!recipes.has(path)) return undefined;
    const language = extname(path).slice(1);
    const spec = path.replace(/\.ts$/, '.spec.ts');
    const test = spec !== path && existsSync(join(root, spec)) ? `<details><summary>Its test, <code>${spec}</code></summary>\n${codeBlock(read(spec), 'ts')}</details>\n` : '';
    return `<div class="recipe" id="${anchorOf(path)}"><p><strong>${escaped(title)}</strong> <code>${path}</code></p>\n${codeBlock(read(path), language)}${test}</div>\n`;
  };
}

function writePages() {
  const documents = new Map([...groups.flatMap(({ guides }) => guides), 'changelog'].map((guide) => {
    const path = fileOf(guide);
    return [guide, { guide, ...renderMarkdown(read(path), { linkTo: linkFrom(path), recipeOf: recipeFrom(path) }) }];
  }));
  const described = groups.map(({ title, guides }) => ({ title, guides: guides.map((guide) => documents.get(guide)) }));
  const reference = { title: 'Reference', guides: [{ title: 'API', href: 'api/index.html' }, documents.get('changelog')] };
  const { version } = JSON.parse(read('package.json'));
  const inOrder = [...documents.values()];
  inOrder.forEach((document, at) => {
    const page = renderPage({ ...document, groups: [...described, reference], before: inOrder[at - 1], after: inOrder[at + 1], version });
    write(pageOf(document.guide), page);
  });
}

function write(path, text) {
  mkdirSync(dirname(join(options.out, path)), { recursive: true });
  writeFileSync(join(options.out, path), text);
}

const known = new Set(groups.flatMap(({ guides }) => guides.map(fileOf)));
const missing = [...known].filter((path) => !existsSync(join(root, path)));
if (missing.length > 0) throw new Error(`docs/site/guides.mjs names guides that are not there: ${missing.join(', ')}`);
const unlisted = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && !known.has(`docs/${name}`));
if (unlisted.length > 0) throw new Error(`docs/site/guides.mjs does not say where these belong: ${unlisted.join(', ')}`);

rmSync(options.out, { recursive: true, force: true });
writePages();
if (broken.length > 0) throw new Error(`links that lead nowhere:\n${[...new Set(broken)].join('\n')}`);
for (const [file, copy] of linkedFiles) write(copy, read(file));
copyFileSync(new URL('site.css', import.meta.url), join(options.out, 'site.css'));
if (!options['no-api']) await buildApi({ root, out: join(options.out, 'api') });
