import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root, where } from './blocks.js';
import type { Block } from './blocks.js';
import { isCommonJs } from './readerFolder.js';
import type { ReaderFolder } from './readerFolder.js';
import { runProcess } from './runProcess.js';
import type { ProcessEnd } from './runProcess.js';

export interface ProgramEnd extends ProcessEnd {
  readonly block: Block;
}

export interface ProgramOptions {
  readonly envOf: (block: Block) => Record<string, string>;
  readonly timeoutMs: number;
}

/** Runs blocks in one process of plain Node, each with an environment of its own, when the one before it has left nothing behind that would go on. */
export async function runPrograms(blocks: readonly Block[], folder: ReaderFolder, { envOf, timeoutMs }: ProgramOptions): Promise<readonly ProgramEnd[]> {
  const plan = blocks.map((block) => ({ file: folder.javascriptOf(block), cwd: emptyFolder(folder.javascriptOf(block)), env: envOf(block) }));
  const at = join(dirname(plan[0]!.file), `plan-${blocks[0]!.line}`);
  writeFileSync(`${at}.json`, JSON.stringify(plan));
  const options = blocks.some(isCommonJs) ? ['--disable-warning=ExperimentalWarning'] : [];
  const end = await runProcess([...options, join(root, 'spec/docs/playBlocks.mjs'), `${at}.json`, `${at}.jsonl`], { cwd: dirname(at), timeoutMs });
  const ends = existsSync(`${at}.jsonl`) ? readFileSync(`${at}.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as ProcessEnd) : [];
  // What Node itself says on standard error, such as a warning, names no block. The first block without an end hung or ended the process.
  return blocks.map((block, index) => ({ block, ...(ends[index] ?? { ...end, code: null }), ...(end.stderr === '' ? {} : { stderr: `somewhere after ${where(blocks[0]!)}: ${end.stderr}` }) }));
}

function emptyFolder(file: string): string {
  const path = join(dirname(file), `run-${basename(file)}`);
  mkdirSync(path, { recursive: true });
  return path;
}
