import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { diagramOf } from '../../marble-tests/operators/diagramOf.js';
import { parseRedisUrl } from '../../lib/model/redisTarget.js';
import { schemaSql } from '../../lib/telemetry/schema.js';
import { runCli } from '../cli/runCli.js';
import { runHere } from '../cli/runHere.js';
import { knownRows, writeTelemetryFile } from '../cli/telemetryFile.js';
import { sharedPostgres } from '../support/postgresServer.js';
import { settingsTable } from '../support/settingsTable.js';
import { guide, guides, ofLanguage, root } from './blocks.js';

const folder = mkdtempSync(join(tmpdir(), 'polygateway-facts-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the guides', () => {
  test('docs/settings.md: the table is the one of the schema', () => {
    const between = /<!-- settings:[^\n]*-->\n\n?([\s\S]*?)\n?<!-- \/settings -->/.exec(guide('docs/settings.md'))?.[1];
    expect(between?.trim()).toBe(settingsTable());
  });

  test('docs/thresholds.md and docs/telemetry.md: the queries run on the table of telemetry and say what they claim', () => {
    const db = telemetryTable();
    const [gaps, sums] = ['docs/thresholds.md', 'docs/telemetry.md'].map((path) => db.prepare(ofLanguage('sql').find((block) => block.guide === path)!.code).all());
    expect(gaps).toEqual([{ source: 'a/1', attempts: 2, p50_ms: 700, p99_ms: 9000, longest_ms: 9000 }]);
    expect(sums).toEqual([
      { source: 'a/1', attempts: 3, won: 2, lost: 1, failed: 0, wall_ms: 5000, stall_ms: 9000 },
      { source: 'b/1', attempts: 1, won: 1, lost: 0, failed: 0, wall_ms: 5000, stall_ms: null },
    ]);
    db.close();
  });

  test('every other query runs too', () => {
    const db = telemetryTable();
    for (const { code } of ofLanguage('sql')) for (const statement of code.split(/;\s*$/m).filter((text) => text.trim() !== '')) expect(Array.isArray(db.prepare(statement).all())).toBe(true);
    db.close();
  });

  test('every block of JSON parses', () => {
    for (const { code } of ofLanguage('json')) expect(JSON.parse(code)).toBeDefined();
  });

  test('docs/operators.md: the diagrams are those of the docstrings', () => {
    const shown = [...guide('docs/operators.md').matchAll(/^`(\w+)\([^\n]*\n\n```\n([\s\S]*?)^```/gm)].map(([, operator = '', block = '']) => {
      const rows = block.matchAll(/^(\w+):( +[-\w^!|#()*]+)(?: {2,}.*)?$/gm);
      return [operator, Object.fromEntries([...rows].map(([, label = '', marbles = '']) => [label, marbles]))] as const;
    });
    expect(shown.map(([operator]) => operator)).toEqual(expect.arrayContaining(['silence', 'livenessTimeout', 'stallMetrics', 'hedge']));
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(shown.map(([operator]) => [operator, diagramOf(operator)])));
  });

  test('docs/telemetry.md: the table of events has every type of the union and the names of its fields, and every gate is explained', () => {
    const text = guide('docs/telemetry.md');
    const source = readFileSync(join(root, 'lib/model/events.ts'), 'utf8');
    const members = [...source.matchAll(/\{ type: '([a-z-]+)'(.*?) \}/g)].map(([, type = '', fields = '']) => ({ type, fields: [...fields.matchAll(/; (\w+):/g)].map(([, field = '']) => field) }));
    const rows = new Map([...text.matchAll(/^\| `([a-z]+-[a-z]+)` \| (?:call|attempt|gateway) \| (.*) \|$/gm)].map(([, type = '', what = '']) => [type, what]));
    expect([...rows.keys()]).toEqual(members.map(({ type }) => type));
    const unsaid = members.flatMap(({ type, fields }) => fields.filter((field) => !['callId', 'state'].includes(field) && !rows.get(type)?.includes(`\`${field}\``)).map((field) => `${type}: ${field}`));
    expect(unsaid).toEqual([]);
    const gates = /type RefusingGate = (.*);/.exec(source)?.[1]?.match(/[a-z-]+/g) ?? [];
    expect(gates.filter((gate) => !/A `gate` is [^]*?\n\n/.exec(text)?.[0].includes(`\`${gate}\``))).toEqual([]);
    expect(gates.length).toBeGreaterThan(8);
  });

  test('docs/rules.md: says what every rule means that a message, a docstring or a guide names', () => {
    const known = new Set([...guide('docs/rules.md').matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, rule = '']) => rule));
    const sources = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).map((name) => readFileSync(join(root, 'lib', name), 'utf8'));
    const lists = [...sources, ...guides.map(({ text }) => text)].flatMap((text) => [...text.matchAll(/\((\[?[BCEGHMORTWX]\d{1,2}\b[^)\n]*)[)\]]/g)].map(([, list = '']) => list));
    const named = new Set(lists.flatMap((list) => list.match(/\b[BCEGHMORTWX]\d{1,2}\b/g) ?? []));
    expect([...named].filter((rule) => !known.has(rule))).toEqual([]);
    expect(named.size).toBeGreaterThan(20);
  });

  test('docs/concepts.md: the table of errors has every code and class that a call, or settings, can fail with', () => {
    const rows = [...guide('docs/concepts.md').matchAll(/^\| `([a-z_]+)` \| `(\w+)` \|/gm)].map(([, errorCode, name]) => `${errorCode} ${name}`);
    const thrown = [...readFileSync(join(root, 'lib/model/callError.ts'), 'utf8').matchAll(/^ {2}(\w+): '(\w+)',$/gm)].map(([, errorCode, name]) => `${errorCode} ${name}`);
    expect(thrown).toHaveLength(8);
    expect(rows.sort()).toEqual([...thrown, 'config ConfigError'].sort());
  });

  test('docs/fleet.md: its forms of an address of Redis are accepted', () => {
    const forms = [...guide('docs/fleet.md').matchAll(/`(redis(?:\+\w+)?:\/\/[^`]+)`/g)].map(([, url = '']) => parseRedisUrl(url)?.type);
    expect(forms).toEqual(['single', 'cluster', 'sentinel']);
  });

  test('docs/fleet.md: its telemetry commands do what they say', async () => {
    const postgres = await sharedPostgres();
    try {
      const database = await postgres.createDatabase();
      const told: string[] = [];
      for (const line of linesOf('docs/fleet.md', /^polygateway (telemetry [^#\n]*)/gm)) told.push((await runCli(line.replace(/postgres:\/\/\S+/, database).split(' '))).stdout);
      expect(told).toEqual([
        expect.stringMatching(/^CREATE TABLE[\s\S]*stall_count/),
        expect.stringMatching(/^ALTER TABLE[^;]*stall_ms[^;]*;\nALTER TABLE[^;]*stall_count/),
        'made the table llm_attempts\n',
      ]);
    } finally {
      await postgres.stop();
    }
  }, 60_000);

  test('docs/thresholds.md: its commands for a report answer the four questions on a database', async () => {
    const recently = Date.now() - 400 * 60_000;
    const rows = knownRows().map((row, at) => ({ ...row, started_at: new Date(recently + at * 60_000).toISOString(), tags: '{"team":"search"}' }));
    const db = writeTelemetryFile(join(folder, 'telemetry.db'), rows);
    const told: string[] = [];
    for (const line of linesOf('docs/thresholds.md', /^polygateway ((?:report|whatif) [^#\n]*)/gm)) {
      const args = line.replace('telemetry.db', db).split(' ');
      const { code, stdout, stderr } = await runHere(/^report(?!.*--json)/.test(line) ? [...args, '--out', join(folder, 'report.html')] : args);
      expect([line, code, stderr]).toEqual([line, 0, '']);
      told.push(stdout);
    }
    expect(told).toEqual([
      expect.stringMatching(/Silence took 23 % of the measured time[\s\S]*at slow\/1[\s\S]*HEDGE__STALL_AFTER_S=[\s\S]*more tokens/),
      expect.stringMatching(/^\{\n {2}"figures": \{/),
      expect.stringContaining('at most 5 % more tokens'),
    ]);
  }, 120_000);
});

function linesOf(path: string, command: RegExp): readonly string[] {
  return ofLanguage('sh').filter((block) => block.guide === path).flatMap(({ code }) => [...code.matchAll(command)].map(([, line = '']) => line.trim()));
}

function telemetryTable(): Database.Database {
  const db = new Database(':memory:');
  db.exec(schemaSql('sqlite'));
  const insert = db.prepare(
    `INSERT INTO llm_attempts (id, call_id, scope, role, source, provider, model, streamed, outcome, error_class, won, latency_ms, max_inter_token_ms, started_at, created_at, stall_ms)
     VALUES (?, 'c', 'LLM', 'primary', ?, 'a', 'm', 1, ?, ?, ?, 5000, ?, '', '', ?)`,
  );
  insert.run('1', 'a/1', 'ok', null, 1, 9000, 9000);
  insert.run('2', 'a/1', 'ok', null, 1, 700, 0);
  insert.run('3', 'a/1', 'error', 'hedge_cancelled', 0, null, null);
  insert.run('4', 'b/1', 'ok', null, 1, null, null);
  return db;
}
