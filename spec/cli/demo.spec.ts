import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { openDemoDatabase } from '../../lib/cli/demo/demoDatabase.js';
import type { DemoFigures } from '../../lib/cli/demo/demoFigures.js';
import { planDemo } from '../../lib/cli/demo/demoPlan.js';
import { runCli, startCli } from './runCli.js';
import type { CliResult } from './runCli.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(30_000);

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-spec-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function textIn(file: string, text: string): string {
  writeFileSync(file, text);
  return file;
}

/** What this process holds open, where the system tells. */
function openFiles(): string[] {
  const folder = '/proc/self/fd';
  return existsSync(folder) ? readdirSync(folder).map((fd) => pathOf(join(folder, fd))) : [];
}

function pathOf(fd: string): string {
  try {
    return readlinkSync(fd);
  } catch {
    return '';
  }
}

/** The numbers of a row of the table. */
function figuresOf({ stdout }: CliResult, title: string): number[] {
  const row = stdout.split('\n').find((line) => line.startsWith(`│ ${title}`)) ?? '';
  return [...row.replace(title, '').matchAll(/\d+(?:\.\d+)?/g)].map(Number);
}

describe('demo', () => {
  test.concurrent('plain: a picture of each call and a table, whose rows are the requests; nothing is left behind', async () => {
    const folder = newFolder();
    const startMs = performance.now();
    const result = await runCli(['demo', '--plain', '--calls', '3', '--seed', '2'], { env: { TMPDIR: folder } });
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(performance.now() - startMs).toBeLessThan(20_000);
    expect(result.stdout).not.toContain('\u001b');

    const stalled = planDemo({ calls: 3, seed: 2, stallThresholdMs: 1000 }).filter(({ unhedged }) => unhedged.stallMs > 0).length;
    expect(stalled).toBe(2);
    expect(result.stdout.match(/^ {2}[123] {2}flaky\/1 +[·█]/gm)).toHaveLength(3);
    expect(result.stdout.match(/^ {2}[123] {2}flaky\/1 .+!.*x +silent \d\.\d s, cancelled$/gm)).toHaveLength(stalled);
    expect(result.stdout.match(/^ {5}steady\/1 .+won \d\.\d s instead of \d\.\d s$/gm)).toHaveLength(stalled);
    expect(figuresOf(result, 'requests sent')).toEqual([3 + stalled, 3]);
    expect(figuresOf(result, 'rows in the database')).toEqual([3 + stalled]);
    expect(figuresOf(result, 'hedges (the backup won)')).toEqual([stalled, stalled, 0]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.concurrent('--json: figures that agree with the script, the rows that --db keeps, and themselves', async () => {
    const file = join(newFolder(), 'rows #1.db');
    const { code, stdout } = await runCli(['demo', '--json', '--calls', '2', '--seed', '4', '--db', file]);
    expect(code).toBe(0);
    const figures = JSON.parse(stdout) as DemoFigures;
    const plan = planDemo({ calls: 2, seed: 4, stallThresholdMs: 1000 });
    const unhedgedMs = plan.reduce((sum, { unhedged }) => sum + unhedged.wallMs, 0);
    expect(figures).toMatchObject({ seed: 4, calls: 2, failed: 0, hedges: 1, hedgesWon: 1, requests: 3, rows: 3, database: file, unhedged: { callMs: unhedgedMs } });
    expect(figures.wallMs).toBe(figures.generationMs + figures.stallMs);
    expect(figures.unhedged.wallMs).toBe(figures.unhedged.generationMs + figures.unhedged.stallMs);
    expect(figures.callMs).toBeLessThan(unhedgedMs);

    const database = new Database(file, { readonly: true });
    const rows = database.prepare('SELECT role, won, error_class FROM llm_attempts ORDER BY error_class, role').all();
    database.close();
    expect(rows).toEqual([
      { role: 'backup', won: 1, error_class: null },
      { role: 'primary', won: 1, error_class: null },
      { role: 'primary', won: 0, error_class: 'hedge_cancelled' },
    ]);
  });

  test.concurrent('without better-sqlite3 it says so and goes on', async () => {
    const preload = new URL('fixtures/withoutSqlite.mjs', import.meta.url).href;
    const result = await runCli(['demo', '--calls', '1', '--seed', '1'], { env: { NODE_OPTIONS: `--import ${preload}` } });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('better-sqlite3 is not installed (npm install better-sqlite3)');
    expect(result.stdout).toMatch(/rows in the database +│ +none/);
  });

  test.concurrent.each([
    ['a folder that is missing', (folder: string) => join(folder, 'missing', 'rows.db'), /directory does not exist/],
    ['a folder', (folder: string) => folder, /unable to open database file/],
    ['a file that is no database', (folder: string) => textIn(join(folder, 'notes.txt'), 'These are notes, not a database.\n'.repeat(100)), /file is not a database/],
  ] as const)('--db with %s is wrong use, told before anything is played', async (_what, place, why) => {
    const file = place(newFolder());
    const { code, stdout, stderr } = await runCli(['demo', '--db', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`wrong_use - --db ${file} cannot be used: `);
    expect(stderr).toMatch(why);
  });

  test('a database that cannot be used is not held open', () => {
    const file = textIn(join(newFolder(), 'notes.txt'), 'These are notes, not a database.\n'.repeat(100));
    expect(() => openDemoDatabase(file)).toThrow('--db');
    expect(openFiles()).not.toContain(file);
  });

  test.concurrent('stopped by a signal it closes in order and removes its database', async () => {
    const folder = newFolder();
    const cli = startCli(['demo', '--calls', '3', '--seed', '2'], { env: { TMPDIR: folder } });
    await cli.lines(9);
    cli.child.kill('SIGINT');
    expect((await cli.ended).code).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
  });
});
