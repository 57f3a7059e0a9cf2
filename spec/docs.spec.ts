import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { blocks, ofLanguage, root, where } from './docs/blocks.js';
import type { Block } from './docs/blocks.js';
import { startDocsUpstream } from './docs/docsUpstream.js';
import type { DocsUpstream } from './docs/docsUpstream.js';
import { isAsSaid, saidLines } from './docs/printed.js';
import { readerFolder } from './docs/readerFolder.js';
import type { ReaderFolder } from './docs/readerFolder.js';
import { runProcess } from './docs/runProcess.js';
import { runPrograms } from './docs/runPrograms.js';
import type { ProgramEnd } from './docs/runPrograms.js';

// The page of the first steps is run as a whole, from the tarball in an empty folder.
const code = ofLanguage('ts', 'js').filter(({ language, guide }) => language === 'ts' || guide !== 'docs/getting-started.md');
const tests = code.filter(({ flags }) => flags.has('test'));
const programs = code.filter(({ flags }) => !flags.has('test') && !flags.has('types'));
/** Its programs load the clients of others, which the rest must not need. */
const otherClients = 'docs/migrating.md';
/** What hangs is told from what waits for a busy machine. */
const longestMs = 60_000;

let folder: ReaderFolder;
const upstreams = new Map<string, DocsUpstream>();

beforeAll(async () => {
  folder = await readerFolder(code);
  for (const says of new Set(code.map((block) => block.says))) upstreams.set(says, await startDocsUpstream(says));
}, 60_000);

afterAll(async () => {
  await Promise.all(Array.from(upstreams.values(), (upstream) => upstream.close()));
  folder.remove();
});

test('a block has only flags that mean something, and names a language that is looked at, or none', () => {
  expect(blocks.flatMap((block) => [...block.flags].filter((flag) => !['test', 'types', 'stderr'].includes(flag)).map((flag) => `${where(block)}: ${flag}`))).toEqual([]);
  const known = ['', 'ts', 'js', 'sh', 'sql', 'json', 'python', 'text'];
  expect(blocks.filter(({ language }) => !known.includes(language)).map((block) => `${where(block)}: ${block.language}`)).toEqual([]);
});

describe('every block of TypeScript', () => {
  test.concurrent.each([
    ['compiles against the build without the types of Node, and the types of the build do', false],
    ['that uses Node or another package compiles', true],
  ])('%s', async (_, wants) => {
    const files = code.filter((block) => block.language === 'ts' && wantsNode(block) === wants).map((block) => relative(folder.path, folder.typescriptOf(block)));
    expect(files.length).toBeGreaterThan(0);
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', ...(wants ? ['--types', 'node', '--skipLibCheck'] : ['--types', ''])];
    const end = await runProcess([join(root, 'node_modules/@typescript/native/bin/tsc'), '--ignoreConfig', '--pretty', 'false', ...options, ...files], { cwd: folder.path, timeoutMs: longestMs });
    expect({ ...end, files: inGuides(end.stdout) }).toEqual({ code: 0, stdout: '', stderr: '', files: '' });
  }, 70_000);

  test.concurrent('runs with plain Node, ends by itself, and prints what its comments say', async () => {
    const [beside, alone] = [programs.filter(({ guide }) => guide === otherClients), programs.filter(({ guide }) => guide !== otherClients)];
    const run = (those: readonly Block[]): Promise<readonly ProgramEnd[]> => runPrograms(those, folder, { envOf: ({ says }) => upstreams.get(says)!.env, timeoutMs: 3 * longestMs });
    const ends = await Promise.all([beside, alone].map(run));
    expect(ends.flat().flatMap(troubleOf)).toEqual([]);
    expect(programs.length).toBeGreaterThan(5);
  }, 200_000);

  test.concurrent.each(['@jest/globals', 'vitest', 'node:test'])('that is a test passes under %s, which it imports', async (runner) => {
    const files = tests.filter((block) => block.code.includes(`from '${runner}'`)).map((block) => relative(folder.path, folder.javascriptOf(block)));
    if (files.length === 0) return;
    const end = await runProcess(commandOf(runner, files), { cwd: folder.path, env: { NO_COLOR: '1', ...upstreams.get('Hello there')?.env }, timeoutMs: longestMs });
    expect(`${end.stdout}${end.stderr}`).toMatch(passedIn(runner, files.length));
    expect(end).toMatchObject({ code: 0 });
  }, 70_000);

  test('that is a test imports a runner', () => {
    expect(tests.filter(({ code: text }) => !/from '(@jest\/globals|vitest|node:test)'/.test(text)).map(where)).toEqual([]);
  });
});

function commandOf(runner: string, files: readonly string[]): readonly string[] {
  if (runner === 'node:test') return ['--test', ...files];
  if (runner === 'vitest') return [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--no-isolate', '--root', folder.path, ...files];
  const config = JSON.stringify({ rootDir: folder.path, transform: {}, roots: ['<rootDir>/js'], testMatch: files.map((file) => `<rootDir>/${file}`), maxWorkers: 1, haste: { enableSymlinks: false } });
  return ['--experimental-vm-modules', '--no-warnings', join(root, 'node_modules/jest/bin/jest.js'), '--config', config, '--no-cache', '--watchman=false'];
}

/** Every file was run, so that none is passed over for its name. */
function passedIn(runner: string, files: number): RegExp {
  if (runner === 'node:test') return /^# pass [1-9]/m;
  return runner === 'vitest' ? new RegExp(`Test Files +${files} passed`) : new RegExp(`Test Suites: ${files} passed, ${files} total`);
}

/** Whatever imports more than this package and RxJS, or names Node, has the types of Node beside it. */
function wantsNode({ code: text }: Block): boolean {
  const imported = [...text.matchAll(/from '([^'.][^']*)'|^import '([^']+)'/gm)].map(([, name, bare]) => name ?? bare ?? '');
  return /\bprocess\b|\bBuffer\b|node:/.test(text) || imported.some((name) => !/^(polygateway(\/operators|\/testing)?|rxjs(\/.*)?)$/.test(name));
}

function troubleOf({ block, code: exitCode, stdout, stderr }: ProgramEnd): readonly object[] {
  const said = saidLines(block.code);
  const isQuiet = stderr === '' || block.flags.has('stderr');
  if (exitCode === 0 && isQuiet && (said === undefined || isAsSaid(stdout, said))) return [];
  return [{ block: where(block), exitCode, stdout, stderr, ...(said && { said }) }];
}

/** tsc tells of the files that blocks were written to; this names the guides. */
function inGuides(told: string): string {
  const places = code.flatMap((block) => [...told.matchAll(new RegExp(`${relative(folder.path, folder.typescriptOf(block)).replaceAll('.', '\\.')}\\((\\d+)`, 'g'))].map(([, line = '']) => `${block.guide}:${block.line + Number(line)}`));
  return places.join(' ');
}
