import { readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Parser } from 'htmlparser2';

/** What a page has to do with others: where it leads, and what can be linked to in it. */
export interface BuiltPage {
  readonly path: string;
  readonly html: string;
  readonly links: readonly string[];
  readonly ids: readonly string[];
}

/** Every page of a built site, and every drawing that pages take parts of, by its path. */
export function readSite(folder: string): ReadonlyMap<string, BuiltPage> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(html|svg)$/.test(entry.name))
    .map((entry) => posix.relative(folder, join(entry.parentPath, entry.name)));
  return new Map(paths.map((path) => [path, readPage(path, readFileSync(join(folder, path), 'utf8'))]));
}

function readPage(path: string, html: string): BuiltPage {
  const links: string[] = [];
  const ids: string[] = [];
  const parser = new Parser({
    onopentag(_, { href, src, id }) {
      if (href !== undefined) links.push(href);
      if (src !== undefined) links.push(src);
      if (id !== undefined) ids.push(id);
    },
  });
  parser.end(html);
  return { path, html, links, ids };
}

export const isExternal = (href: string): boolean => /^[a-z][a-z+.-]*:/.test(href);

/** The file and the anchor that a link of a page leads to. */
export function targetOf({ path }: Pick<BuiltPage, 'path'>, href: string): { readonly file: string; readonly fragment: string } {
  const [to = '', fragment = ''] = href.split('#');
  return { file: to === '' ? path : posix.join(posix.dirname(path), decodeURI(to)), fragment: decodeURIComponent(fragment) };
}

/** The pages that a reader gets to from the first one. */
export function reachableFrom(first: string, pages: ReadonlyMap<string, BuiltPage>): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [first];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const page = pages.get(path);
    if (page === undefined || seen.has(path)) continue;
    seen.add(path);
    open.push(...page.links.filter((href) => !isExternal(href)).map((href) => targetOf(page, href).file));
  }
  return seen;
}
