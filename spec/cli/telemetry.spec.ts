import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { columnNames, schemaSql, script, upgradeSince } from '../../lib/telemetry/schema.js';
import { query, sharedPostgres } from '../support/postgresServer.js';
import type { SharedPostgres } from '../support/postgresServer.js';
import { runCli } from './runCli.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(60_000);

let postgres: SharedPostgres;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'polygateway-cli-'));
  postgres = await sharedPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
});

const done = (stdout: string): unknown => ({ code: 0, stdout, stderr: '' });

/** The schema without the columns that came after version 1. */
const firstSchema = (dialect: 'sqlite' | 'postgres'): string => schemaSql(dialect).replace(/,\n {2}stall_ms \w+,\n {2}stall_count \w+/, '');

function onSqlite<T>(file: string, work: (db: Database.Database) => T): T {
  const db = new Database(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const sqliteColumns = (file: string): unknown => onSqlite(file, (db) => (db.pragma('table_info(llm_attempts)') as { name: string }[]).map(({ name }) => name));

describe('telemetry schema', () => {
  test.concurrent('prints the SQL of a dialect, or what came after a version, and nothing else', async () => {
    expect(await runCli(['telemetry', 'schema'])).toEqual(done(schemaSql('sqlite')));
    expect(await runCli(['telemetry', 'schema', '--dialect', 'postgres'])).toEqual(done(schemaSql('postgres')));
    expect(await runCli(['telemetry', 'schema', '--dialect', 'postgres', '--since', '1'])).toEqual(done(script(upgradeSince('postgres', 1))));
    expect(await runCli(['telemetry', 'schema', '--since', '2'])).toEqual(done('-- nothing to do: version 2 is the newest\n'));
  });

  test.each(['sqlite', 'postgres'] as const)('%s: a table of version 1 and what came after it are the table of now', async (dialect) => {
    const upgrade = (await runCli(['telemetry', 'schema', '--dialect', dialect, '--since', '1'])).stdout;
    if (dialect === 'sqlite') {
      const file = join(dir, 'since.db');
      onSqlite(file, (db) => db.exec(firstSchema('sqlite') + upgrade));
      expect(sqliteColumns(file)).toEqual(columnNames);
    } else {
      const url = await postgres.createDatabase();
      await query(url, firstSchema('postgres') + upgrade + upgrade);
      expect((await query(url, "SELECT attname FROM pg_attribute WHERE attrelid = 'llm_attempts'::regclass AND attnum > 0")).map(({ attname }) => String(attname))).toEqual(columnNames);
    }
  });
});

describe('telemetry migrate', () => {
  test.each(['sqlite', 'postgres'])('%s: makes the table, adds what is missing, and leaves alone what is up to date', async (kind) => {
    const file = join(dir, 'migrate.db');
    const url = kind === 'sqlite' ? `sqlite:${file}` : await postgres.createDatabase();
    const change = (sql: string): unknown => (kind === 'sqlite' ? onSqlite(file, (db) => db.exec(sql)) : query(url, sql));
    const migrate = (): Promise<unknown> => runCli(['telemetry', 'migrate', '--db', url]);
    expect(await migrate()).toEqual(done('made the table llm_attempts\n'));
    expect(await migrate()).toEqual(done('up to date: llm_attempts has every column\n'));
    await change('ALTER TABLE llm_attempts DROP COLUMN stall_ms');
    await change('ALTER TABLE llm_attempts DROP COLUMN stall_count');
    expect(await migrate()).toEqual(done('added stall_ms, stall_count to llm_attempts\n'));
    expect(await migrate()).toEqual(done('up to date: llm_attempts has every column\n'));
  });

  test('takes the database from the settings of a scope, which need no source, even where they say manual', async () => {
    const env = { OCR__TELEMETRY__URL: `sqlite:${join(dir, 'scope.db')}`, OCR__TELEMETRY__SCHEMA: 'manual' };
    expect(await runCli(['telemetry', 'migrate', '--scope', 'ocr'], { env })).toEqual(done('made the table llm_attempts\n'));
    const envFile = join(dir, '.env');
    writeFileSync(envFile, `LLM__TELEMETRY__URL="sqlite:${join(dir, 'scope.db')}"\n`);
    expect(await runCli(['telemetry', 'migrate', '--env-file', envFile])).toEqual(done('up to date: llm_attempts has every column\n'));
  });

  const failing: [string, string[], Record<string, string>, number, RegExp][] = [
    ['no database named', [], {}, 2, /wrong_use - nothing says which database: write --db sqlite:.+, or set LLM__TELEMETRY__URL/],
    ['no server there', ['--db', 'postgres://me:geheim-geheim@127.0.0.1:9/d'], {}, 1, /ECONNREFUSED - postgres:\/\/127\.0\.0\.1:9\/d: .+; start the server there/],
    ['no directory there', ['--db', 'sqlite:/nowhere/at/all.db'], {}, 1, /sqlite:\/nowhere\/at\/all\.db: .+; look at the path/],
    ['an address of another kind', ['--db', 'mysql://me:geheim-geheim@h/d'], {}, 3, /config - .*mysql is not supported; write sqlite:/],
    ['an address that is cut by its password', ['--db', 'postgres://me:12/geheim@h/d'], {}, 3, /config - .*%2F/],
    ['the same in the settings', [], { LLM__TELEMETRY__URL: 'postgres://me:geheim@h' }, 3, /LLM__TELEMETRY__URL.* names no database/],
  ];

  test.concurrent.each(failing)('%s: exit code and remedy, no password', async (_what, args, env, code, why) => {
    const result = await runCli(['telemetry', 'migrate', ...args], { env });
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
    expect(result.stderr).toMatch(why);
    expect(result.stderr).not.toContain('geheim');
  });
});

describe('help', () => {
  test.concurrent.each([
    [[], ['schema', 'migrate', 'TELEMETRY__SCHEMA=manual']],
    [['schema'], ['--dialect <name>', 'choices: "sqlite", "postgres"', '--since <version>']],
    [['migrate'], ['--db <url>', '--scope <name>', '(default: "LLM")', '--env-file <file>']],
  ])('telemetry %j teaches', async (command, words) => {
    const { code, stdout } = await runCli(['telemetry', ...command, '--help']);
    expect(code).toBe(0);
    for (const word of ['Usage: polygateway telemetry', 'Examples:\n  polygateway telemetry', ...words]) expect(stdout).toContain(word);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });

  test.concurrent('wrong use ends with 2', async () => {
    expect(await runCli(['telemetry', 'schema', '--since', '3'])).toMatchObject({ code: 2, stderr: expect.stringContaining('the newest is 2') });
    expect(await runCli(['telemetry', 'schema', '--since', 'x'])).toMatchObject({ code: 2 });
    expect(await runCli(['telemetry', 'schema', '--dialect', 'mysql'])).toMatchObject({ code: 2, stderr: expect.stringContaining('sqlite, postgres') });
  });
});
