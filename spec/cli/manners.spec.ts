import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { runProgram } from '../../lib/cli/program.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import { memoryTerminal } from './memoryTerminal.js';
import type { MemoryTerminalOptions } from './memoryTerminal.js';
import { secret, sourceEnv } from './sourceEnv.js';

jest.setTimeout(30_000);

const commands = ['demo', 'chat', 'doctor', 'upstream', 'serve', 'watch', 'report', 'whatif', 'telemetry schema', 'telemetry migrate'];
const colour = /\u001b\[\d+m/;
const nowhere = 'http://127.0.0.1:9/v1';

let folder: string;
let takenPort: string;
const taken = createServer();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-manners-'));
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  takenPort = String((taken.address() as AddressInfo).port);
});

afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The program in this process; TAKEN and FOLDER in its arguments are filled in. */
async function run(args: readonly string[], { env = {}, isTerminal = false }: MemoryTerminalOptions = {}): Promise<Ran> {
  const filled = args.map((arg) => arg.replace('TAKEN', takenPort).replace('FOLDER', folder));
  const memory = memoryTerminal({ args: filled, env: { XDG_RUNTIME_DIR: folder, TMPDIR: folder, ...env }, isTerminal });
  const code = await runProgram(filled, memory.terminal);
  return { code, out: memory.out(), err: memory.err() };
}

const oneLine = (code: string): RegExp => new RegExp(`^error ${code} - .+; .+\\n$`);

describe('exit code 2: wrong use', () => {
  test.each(commands)('%s: an option that does not exist', async (command) => {
    const { code, out, err } = await run([...command.split(' '), '--nonsense']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(oneLine('wrong_use'));
    expect(err).toContain("unknown option '--nonsense'");
  });
});

describe('exit code 3: refused configuration', () => {
  const refused: [string, string[], Record<string, string>][] = [
    ['chat', ['chat', 'x'], sourceEnv({ a: 'ftp://x' })],
    ['serve', ['serve'], sourceEnv({ a: 'ftp://x' })],
    ['serve to everybody without keys', ['serve', '--host', '0.0.0.0'], sourceEnv({ a: nowhere })],
    ['telemetry migrate', ['telemetry', 'migrate'], { LLM__TELEMETRY__URL: 'mysql://h/d' }],
    ['telemetry migrate --db', ['telemetry', 'migrate', '--db', 'mysql://h/d'], {}],
    ['report', ['report', '--db', 'mysql://h/d'], {}],
    ['whatif', ['whatif', '--db', 'mysql://h/d'], {}],
  ];
  test.each(refused)('%s', async (_what, args, env) => {
    const { code, out, err } = await run(args, { env });
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(oneLine('config'));
  });

  test('doctor, whose answer it is', async () => {
    const { code, out, err } = await run(['doctor'], { env: sourceEnv({ a: 'ftp://x' }) });
    expect({ code, err }).toEqual({ code: 3, err: '' });
    expect(out).toContain('LLM__A__1__BASE_URL');
  });
});

describe('exit code 1: what was asked for failed', () => {
  const failing: [string, string[], RegExp][] = [
    ['chat', ['chat', 'x'], oneLine('all_sources_exhausted: retry_exhausted')],
    ['serve', ['serve', '--port', 'TAKEN'], oneLine('EADDRINUSE')],
    ['upstream', ['upstream', '--port', 'TAKEN', '--host', '127.0.0.1'], oneLine('EADDRINUSE')],
    ['watch', ['watch', 'FOLDER/none.sock'], oneLine('nothing_to_watch')],
    ['telemetry migrate', ['telemetry', 'migrate', '--db', 'sqlite:FOLDER/none/x.db'], /^error .*sqlite:.+; look at the path.+\n$/],
    ['report', ['report', '--db', 'sqlite:FOLDER/none/x.db'], /^error .+\n$/],
    ['whatif', ['whatif', '--db', 'sqlite:FOLDER/none/x.db'], /^error .+\n$/],
  ];
  const env = sourceEnv({ a: nowhere }, { LLM__RETRY__MAX_ATTEMPTS: '1' });

  test.each(failing)('%s, in one line', async (_what, args, why) => {
    const { code, err } = await run(args, { env });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(why) });
    expect(err).not.toContain(secret);
  });

  test('doctor --probe, in a table', async () => {
    const { code, out, err } = await run(['doctor', '--probe'], { env });
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/a\/1 +│ transient/);
  });

  test('--verbose tells every cause, before and behind the name of the command', async () => {
    const [before, behind] = await Promise.all([run(['--verbose', 'chat', 'x'], { env }), run(['chat', 'x', '--verbose'], { env })]);
    for (const { code, err } of [before, behind]) expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^error .+\n( {2}cause: .+\n)+$/) });
  });
});

describe('colours', () => {
  const env = sourceEnv({ a: nowhere }, { LLM__RETRY__MAX_ATTEMPTS: '1', LLM__HEDGE__AFTER_S: '20' });
  const painted: [string, string[]][] = [
    ['help', ['--help']],
    ['an error', ['chat', 'x']],
    ['wrong use', ['chat', '--nonsense']],
    ['tables and findings', ['doctor']],
    ...commands.map((command): [string, string[]] => [`help of ${command}`, [...command.split(' '), '--help']]),
  ];
  test.each(painted)('%s: in a terminal, and nowhere against NO_COLOR or --no-color', async (_what, args) => {
    const all = ({ out, err }: Ran): string => out + err;
    expect(all(await run(args, { env, isTerminal: true }))).toMatch(colour);
    expect(all(await run(args, { env: { ...env, FORCE_COLOR: '1' } }))).toMatch(colour);
    expect(all(await run(args, { env: { ...env, NO_COLOR: '1', FORCE_COLOR: '1' }, isTerminal: true }))).not.toContain('\u001b');
    expect(all(await run([...args, '--no-color'], { env, isTerminal: true }))).not.toContain('\u001b');
    expect(all(await run(args, { env }))).not.toContain('\u001b');
  });
});

describe('progress', () => {
  const erased = /\u001b\[2K$/;

  test('doctor --probe that takes longer than a second counts the sources on standard error, and takes that away', async () => {
    const upstream = await startUpstream({ scripts: ['open@0.01 d@1.6"OK" f@1.61', 'd@0.01"OK" f@0.02'] });
    try {
      const env = sourceEnv({ a: upstream.url, b: upstream.url });
      const [seen, piped] = [await run(['doctor', '--probe'], { env: { ...env, NO_COLOR: '1' }, isTerminal: true }), await run(['doctor', '--probe'], { env })];
      expect(seen.code).toBe(0);
      expect(seen.err).toMatch(/asking the sources .+50 % 1\/2/);
      expect(seen.err).toMatch(erased);
      expect(seen.err).not.toMatch(colour);
      expect(seen.out).not.toContain('asking');
      expect(piped).toMatchObject({ code: 0, err: '' });
    } finally {
      await upstream.close();
    }
  });

  test('telemetry migrate that waits for a lock says so before it waits, and takes that away', async () => {
    const file = join(folder, 'locked.db');
    const memory = memoryTerminal();
    const holder = new Database(file);
    holder.exec('BEGIN IMMEDIATE');
    // In this thread the lock cannot be let go while the other connection waits for it, so it is let go before.
    const running = runProgram(['telemetry', 'migrate', '--db', `sqlite:${file}`], memory.terminal);
    while (memory.err() === '') await new Promise((resolve) => setImmediate(resolve));
    holder.exec('COMMIT').close();
    expect(await running).toBe(0);
    expect(memory.err()).toMatch(/waiting for the database/);
    expect(memory.err()).toMatch(erased);
    expect(memory.out()).toBe('made the table llm_attempts\n');
  });
});
