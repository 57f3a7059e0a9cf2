import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';
import { root } from './blocks.js';
import type { Block } from './blocks.js';

/** A folder like that of an application which has installed the package: the blocks as they stand, and without types. */
export interface ReaderFolder {
  readonly path: string;
  readonly typescriptOf: (block: Block) => string;
  readonly javascriptOf: (block: Block) => string;
  readonly remove: () => void;
}

export async function readerFolder(blocks: readonly Block[]): Promise<ReaderFolder> {
  const path = mkdtempSync(join(tmpdir(), 'polygateway-docs-'));
  const typescriptOf = (block: Block): string => join(path, 'ts', folderOf(block), block.file);
  const javascriptOf = (block: Block): string => join(path, 'js', folderOf(block), block.file.replace(/ts$/, isCommonJs(block) ? 'cjs' : 'js'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }');
  installInto(path);
  for (const block of blocks) {
    write(typescriptOf(block), block.code);
    write(javascriptOf(block), isCommonJs(block) ? block.code : (await transform(block.code, { loader: 'ts', target: 'es2022' })).code);
  }
  return { path, typescriptOf, javascriptOf, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function isCommonJs({ code }: Block): boolean {
  return /\brequire\(/.test(code);
}

function folderOf({ guide }: Block): string {
  return guide.replace(/^docs\//, '').replace(/\.md$/, '').toLowerCase();
}

/** Links what a reader could have installed; what the checkout has for its own work is not among it. */
function installInto(path: string): void {
  mkdirSync(join(path, 'node_modules'));
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const tops = new Set([...Object.keys({ ...dependencies, ...devDependencies }).map((name) => name.split('/')[0]!), '@types']);
  for (const name of readdirSync(join(root, 'node_modules'))) if (tops.has(name)) symlinkSync(join(root, 'node_modules', name), join(path, 'node_modules', name), 'junction');
  symlinkSync(root, join(path, 'node_modules', 'polygateway'), 'junction');
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
