import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let tarball: string;
let files: readonly string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-tarball-'));
  tarball = execFileSync(process.execPath, [join(root, 'spec/package/packBuild.mjs'), folder], { encoding: 'utf8' }).trim();
  execFileSync('tar', ['xzf', tarball, '-C', folder]);
  files = readdirSync(join(folder, 'package'), { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, 'package', name)).isFile());
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(folder, 'package', file), 'utf8');
const manifest = (): Manifest => JSON.parse(read('package.json')) as Manifest;
const code = (): readonly string[] => files.filter((file) => /^dist\/.*(\.js|\.d\.ts)$/.test(file) && file !== 'dist/lab/page/browser.js');

interface Manifest {
  readonly exports: unknown;
  readonly imports: unknown;
  readonly bin: unknown;
  readonly sideEffects: readonly string[];
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
}

/** Every path in a part of package.json, however deep. */
function pathsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  return Object.values(part as object).flatMap(pathsIn);
}

/** What a module names in `from '…'`, `import '…'` and `import('…')`, outside its comments. */
function specifiersIn(file: string): string[] {
  const text = read(file).replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*['"]([\w@./:#-]+)['"]/g)].map(([, name = '']) => name);
}

describe('the tarball', () => {
  test('holds the build, the pages, the recipes and nothing else, and little of it', () => {
    expect([...new Set(files.map((file) => file.split('/')[0]))].sort()).toEqual(['.env.example', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'dist', 'docs', 'examples', 'package.json']);
    expect([...new Set(files.filter((file) => file.startsWith('dist/')).map((file) => extname(file)))].sort()).toEqual(['.css', '.js', '.ts']);
    expect(files.filter((file) => !file.startsWith('examples/') && /\.(spec|test)\.|\.map$|(?<!\.d)\.ts$|(^|\/)(spec|bench|node_modules|site)\//.test(file))).toEqual([]);
    expect(files.filter((file) => /^examples\/(?!README\.md$)/.test(file) && !/(?<!\.d)\.(ts|js|html)$/.test(file))).toEqual([]);
    expect(files.length).toBeLessThan(860);
    expect(statSync(tarball).size).toBeLessThan(680 * 1024);
  });

  test('has every file that package.json names', () => {
    const { exports, imports, bin, sideEffects } = manifest();
    const named = pathsIn({ exports, imports, bin, sideEffects }).map((path) => normalize(path));
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
    expect(read('dist/cli/main.js')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('has every module and declaration that another one names, but no declaration that nobody can reach', () => {
    const besides = code().flatMap((file) => specifiersIn(file).filter((name) => name.startsWith('.')).map((name) => join(dirname(file), file.endsWith('.d.ts') ? name.replace(/\.js$/, '.d.ts') : name)));
    expect([...new Set(besides)].filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => /^dist\/(cli|lab)\/.*\.d\.ts$/.test(file))).toEqual([]);
  });

  test('imports nothing but what it declares, and Node', () => {
    const { dependencies, peerDependencies } = manifest();
    const used = new Set(code().flatMap(specifiersIn).filter((name) => !/^[.#]|^node:/.test(name)).map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name));
    expect([...used].filter((name) => !(name in dependencies) && !(name in peerDependencies))).toEqual([]);
    expect(Object.keys(dependencies).filter((name) => !used.has(name))).toEqual([]);
  });

  test('declares its types without those of an optional peer, where it is not imported for that peer', () => {
    const optional = /^(ioredis|pg|better-sqlite3|@opentelemetry\/api|vitest|@jest\/globals|node:.*)$/;
    const asking = files.filter((file) => file.endsWith('.d.ts') && specifiersIn(file).some((name) => optional.test(name)) && reachable().has(file));
    expect(asking).toEqual([]);
  });

  test('holds no key, and no path of the machine that built it', () => {
    const secret = /sk-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY|ghp_[A-Za-z0-9]{30,}/;
    const paths = [root, `${homedir()}/`, tmpdir() + '/'].filter((path) => path.length > 5);
    expect(files.filter((file) => secret.test(read(file)) || paths.some((path) => read(file).includes(path)))).toEqual([]);
  });

  test('has whatever its pages link to', () => {
    const pages = files.filter((file) => file.endsWith('.md'));
    const links = pages.flatMap((page) => [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => ({ page, link: normalize(join(dirname(page), link)) })));
    expect(links.filter(({ link }) => !existsSync(join(folder, 'package', link)))).toEqual([]);
    expect(links.length).toBeGreaterThan(60);
  });

  test('shows the same first example in README and in the page that is run as written', () => {
    const first = /^```ts\n([^]*?)^```/m.exec(read('README.md'))?.[1]?.replaceAll(/^\/\/ prints .*\n/gm, '');
    expect(/^`first\.js`\n\n```js\n([^]*?)^```/m.exec(read('docs/getting-started.md'))?.[1]).toBe(first);
  });

  test('keeps the notices of what is bundled into the page of a report', () => {
    expect(read('dist/lab/page/notices.js')).toMatch(/Observable, Inc\.[^]*Mike Bostock[^]*GeographicLib/);
    expect(read('LICENSE')).toMatch(/^MIT License/);
  });
});

/** The declarations behind what can be imported, but for those of the test runners, whose users have them. */
function reachable(): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !files.includes(file)) return;
    seen.add(file);
    for (const name of specifiersIn(file)) if (name.startsWith('.')) visit(join(dirname(file), name.replace(/\.js$/, '.d.ts')));
  };
  for (const entry of ['index', 'operators/index', 'testing/index']) visit(`dist/${entry}.d.ts`);
  return seen;
}
