import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../lib/model/errors.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import { columnNames, insertSql, rowValues, schemaSql, upgradeStatements } from '../../lib/telemetry/schema.js';
import { parseTelemetryUrl } from '../../lib/telemetry/telemetryUrl.js';
import { attemptRecord } from './attemptRecord.js';

const row = toRow(attemptRecord(), { nowMs: 0, date: new Date(0), pid: 1, host: 'h' });

describe('the one definition of the columns', () => {
  test('has the columns of the row, in the same order', () => {
    expect(columnNames).toEqual(Object.keys(row));
    expect(rowValues(row)).toEqual(Object.values(row));
  });

  test('prints the table, its key and its indexes', () => {
    const sql = schemaSql('sqlite');
    expect(sql).toContain('CREATE TABLE IF NOT EXISTS llm_attempts (\n  id TEXT NOT NULL PRIMARY KEY,\n  call_id TEXT NOT NULL,');
    expect(sql).toContain('  stall_ms INTEGER,\n  stall_count INTEGER\n);\n');
    expect(sql).toContain('CREATE INDEX IF NOT EXISTS llm_attempts_created_at ON llm_attempts (created_at);\n');
    expect(sql).toContain('CREATE INDEX IF NOT EXISTS llm_attempts_call_id ON llm_attempts (call_id);\n');
  });

  test('upgrades by what is missing, whatever else is there, and never NOT NULL (E2)', () => {
    expect(upgradeStatements('sqlite', columnNames)).toEqual([]);
    expect(upgradeStatements('sqlite', [...columnNames, 'cost']).length).toBe(0);
    const old = columnNames.filter((name) => !name.startsWith('stall_') && name !== 'host').map((name) => name.toUpperCase());
    expect(upgradeStatements('sqlite', old).slice(0, 3)).toEqual([
      'ALTER TABLE llm_attempts ADD COLUMN host TEXT',
      'ALTER TABLE llm_attempts ADD COLUMN stall_ms INTEGER',
      'ALTER TABLE llm_attempts ADD COLUMN stall_count INTEGER',
    ]);
  });

  test('inserts every column by name, so that the order in an old table does not matter', () => {
    expect(insertSql().match(/\?/g)).toHaveLength(columnNames.length);
    expect(insertSql()).toContain(`(${columnNames.join(', ')})`);
  });
});

describe('the telemetry address', () => {
  test.each([
    ['sqlite:./telemetry.db', resolve('telemetry.db')],
    ['sqlite:telemetry.db', resolve('telemetry.db')],
    ['sqlite:/var/data/t.db', '/var/data/t.db'],
    ['SQLite:/var/my%20data/100%25%3F.db', '/var/my data/100%?.db'],
  ])('%s names %s', (url, file) => {
    expect(parseTelemetryUrl(url)).toEqual({ type: 'sqlite', file });
  });

  test.each([
    ['sqlite:', /names no file.*write sqlite:\.\/telemetry\.db/],
    ['sqlite::memory:', /in memory/],
    ['sqlite://host/t.db', /read differently/],
    ['sqlite:./t.db?mode=ro', /parameters.*%3F/],
    ['sqlite:./100%.db', /%25/],
    ['sqlite:./a%00.db', /%00/],
    ['mysql://user:geheim@host/db', /mysql is not supported/],
    ['./telemetry.db', /without scheme/],
  ])('%s is refused with a remedy and without its secrets', (url, message) => {
    const parse = (): unknown => parseTelemetryUrl(url);
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/geheim/);
  });
});
