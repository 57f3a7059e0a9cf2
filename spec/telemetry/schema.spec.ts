import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../lib/model/errors.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import { columnNames, insertRowsSql, insertSql, maxInsertRows, rowValues, schemaSql, schemaVersion, upgradeSince, upgradeStatements } from '../../lib/telemetry/schema.js';
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

  test('prints the same columns for Postgres, in types natural to it', () => {
    const sql = schemaSql('postgres');
    const names = (text: string): string[] => [...text.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!);
    expect(names(sql)).toEqual(names(schemaSql('sqlite')));
    for (const line of ['id TEXT NOT NULL PRIMARY KEY', 'won SMALLINT NOT NULL', 'latency_ms BIGINT', 'tags JSONB', 'record_gaps JSONB', 'started_at TIMESTAMPTZ NOT NULL', 'stall_count BIGINT']) {
      expect(sql).toMatch(new RegExp(`^ {2}${line},?$`, 'm'));
    }
    expect(upgradeStatements('postgres', columnNames.slice(0, -1))[0]).toBe('ALTER TABLE llm_attempts ADD COLUMN IF NOT EXISTS stall_count BIGINT');
  });

  test('tells what came after a version: nothing after the newest, the stall columns after the first', () => {
    expect(schemaVersion).toBe(2);
    expect(upgradeSince('sqlite', 2)).toEqual([]);
    expect(upgradeSince('sqlite', 1).slice(0, 2)).toEqual(['ALTER TABLE llm_attempts ADD COLUMN stall_ms INTEGER', 'ALTER TABLE llm_attempts ADD COLUMN stall_count INTEGER']);
    expect(upgradeSince('postgres', 1).filter((statement) => statement.startsWith('ALTER'))).toHaveLength(2);
  });

  test('inserts rows at once with numbered parameters, at most 65535 of them', () => {
    expect(insertRowsSql(2)).toMatch(/VALUES \(\$1, \$2, .+\), \(\$39, .+, \$76\) ON CONFLICT \(id\) DO NOTHING$/);
    expect(maxInsertRows * columnNames.length).toBeLessThanOrEqual(65_535);
    expect((maxInsertRows + 1) * columnNames.length).toBeGreaterThan(65_535);
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
    'postgres://h/d',
    'postgresql://user:p%40ss%25@h.example:6432/telemetry?sslmode=verify-full',
    'POSTGRES://[::1]/d',
    'postgres:///d?host=/run/postgresql',
    'postgres://h/d?user=me%40server',
  ])('%s is passed on as it is', (url) => {
    expect(parseTelemetryUrl(url)).toEqual({ type: 'postgres', url });
  });

  test.each([
    ['postgres://user:geheim@h', /names no database.*postgres:\/\/user:password@host/],
    ['postgres://user:geheim@h/', /names no database/],
    ['postgres:///d', /names no host/],
    ['postgres://user:geheim@h:70000/d', /must be postgres:/],
    ['postgres:h/geheim', /must be postgres:/],
    ['postgres://user:12/geheim@h/d', /behind its host.*%2F/],
    ['postgres://user:12?geheim@h/d', /behind its host.*%3F/],
    ['postgres://user:12#geheim@h/d', /behind its host.*%23/],
    ['postgres://user:geheim%ff@h/d', /%25/],
    ['postgres://user:geheim%00@h/d', /%25/],
    ['postgres://user:ge heim@h/d', /must be postgres:/],
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
