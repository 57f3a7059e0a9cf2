import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { diagramOf } from '../marble-tests/operators/diagramOf.js';
import { startUpstream } from '../lib/lab/upstream/upstream.js';
import type { Upstream } from '../lib/lab/upstream/upstream.js';
import { schemaSql } from '../lib/telemetry/schema.js';
import { resolveSettings } from '../lib/config/resolveSettings.js';
import { settingsFromEnv } from '../lib/index.js';
import { parseRedisUrl } from '../lib/model/redisTarget.js';
import { runCli } from './cli/runCli.js';
import { runHere } from './cli/runHere.js';
import { knownRows, writeTelemetryFile } from './cli/telemetryFile.js';
import { sharedPostgres } from './support/postgresServer.js';
import { settingsTable } from './support/settingsTable.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language: string): string[] => [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);

let folder: string;
let upstream: Upstream;

beforeAll(async () => {
  // Inside the package, so that `polygateway` resolves to the build, as it does for a user.
  folder = mkdtempSync(join(root, 'dist', 'readme-'));
  upstream = await startUpstream({ scripts: ['d@0.1"Hello" d@0.2" there" u@0.3(3,2) f@0.3'] });
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await upstream.close();
});

describe('README', () => {
  test('its table of settings is the one of the schema', () => {
    const between = /<!-- settings:[^\n]*-->\n\n?([\s\S]*?)\n?<!-- \/settings -->/.exec(readme)?.[1];
    expect(between?.trim()).toBe(settingsTable());
  });

  test('every block of TypeScript compiles against the build, without the types of Node', async () => {
    const files = blocks('ts').map((code, at) => {
      const file = join(folder, `block${at}.ts`);
      writeFileSync(file, code);
      return file;
    });
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', '--types', ''];
    await expect(run(process.execPath, [join(root, 'node_modules/@typescript/native/bin/tsc'), '--ignoreConfig', ...options, ...files], { cwd: root })).resolves.toMatchObject({ stderr: '' });
  }, 60_000);

  test('its first example runs and prints the answer and the figures', async () => {
    const file = join(folder, 'first.mjs');
    writeFileSync(file, blocks('ts')[0] ?? '');
    const env = { ...process.env, LLM__OPENAI__1__BASE_URL: upstream.url, LLM__OPENAI__1__MODEL: 'sim', LLM__LOCAL__1__BASE_URL: upstream.url, LLM__LOCAL__1__MODEL: 'sim' };
    const { stdout } = await run(process.execPath, [file], { env });
    expect(stdout).toMatch(/^Hello there\n(openai|local)\/1: \d+ ms net, 0 ms silent, 0 hedges\n$/);
  }, 60_000);

  test('its operators on any Observables give what the comment says', async () => {
    const file = join(folder, 'operators.mjs');
    const code = blocks('ts').find((block) => block.includes('polygateway/operators')) ?? '';
    writeFileSync(file, `${code}\nconsole.log(await answer);`);
    const said = /\/\/ '([^']+)'/.exec(code)?.[1];
    await expect(run(process.execPath, [file])).resolves.toMatchObject({ stdout: `${said}\n` });
  }, 60_000);

  test('its queries run on the table of telemetry and say what they claim', () => {
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
    const [gaps, sums] = blocks('sql').map((query) => db.prepare(query).all());
    expect(gaps).toEqual([{ source: 'a/1', attempts: 2, p50_ms: 700, p99_ms: 9000, longest_ms: 9000 }]);
    expect(sums).toEqual([
      { source: 'a/1', attempts: 3, won: 2, lost: 1, failed: 0, wall_ms: 5000, stall_ms: 9000 },
      { source: 'b/1', attempts: 1, won: 1, lost: 0, failed: 0, wall_ms: 5000, stall_ms: null },
    ]);
    db.close();
  });

  test('its diagrams are those of the docstrings', () => {
    const shown = [...readme.matchAll(/^`(\w+)\([^\n]*\n\n```\n([\s\S]*?)^```/gm)].map(([, operator = '', block = '']) => {
      const rows = block.matchAll(/^(\w+):( +[-\w^!|#()*]+)(?: {2,}.*)?$/gm);
      return [operator, Object.fromEntries([...rows].map(([, label = '', marbles = '']) => [label, marbles]))] as const;
    });
    expect(shown.map(([operator]) => operator)).toEqual(['silence', 'livenessTimeout', 'stallMetrics', 'hedge']);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(shown.map(([operator]) => [operator, diagramOf(operator)])));
  });

  test('its table of events has every type of the union and the names of its fields, and every gate is explained', () => {
    const source = readFileSync(join(root, 'lib/model/events.ts'), 'utf8');
    const members = [...source.matchAll(/\{ type: '([a-z-]+)'(.*?) \}/g)].map(([, type = '', fields = '']) => ({ type, fields: [...fields.matchAll(/; (\w+):/g)].map(([, field = '']) => field) }));
    const rows = new Map([...readme.matchAll(/^\| `([a-z]+-[a-z]+)` \| (?:call|attempt|gateway) \| (.*) \|$/gm)].map(([, type = '', text = '']) => [type, text]));
    expect([...rows.keys()]).toEqual(members.map(({ type }) => type));
    const unsaid = members.flatMap(({ type, fields }) => fields.filter((field) => !['callId', 'state'].includes(field) && !rows.get(type)?.includes(`\`${field}\``)).map((field) => `${type}: ${field}`));
    expect(unsaid).toEqual([]);
    const gates = /type RefusingGate = (.*);/.exec(source)?.[1]?.match(/[a-z-]+/g) ?? [];
    expect(gates.filter((gate) => !/A `gate` is [^]*?\n\n/.exec(readme)?.[0].includes(`\`${gate}\``))).toEqual([]);
    expect(gates.length).toBeGreaterThan(8);
  });

  test('its environment, that of a fleet too, and its forms of an address of Redis are accepted', () => {
    const env = blocks('sh').flatMap((block) => [...block.matchAll(/^(LLM__\w+)=(\S+)$/gm)].map(([, key = '', value = '']) => [key, value.replace('…', '')] as const));
    const { settings } = resolveSettings(settingsFromEnv('LLM', Object.fromEntries(env)));
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(['backendUrl', 'telemetryUrl']));
    const forms = [...readme.matchAll(/`(redis(?:\+\w+)?:\/\/[^`]+)`/g)].map(([, url = '']) => parseRedisUrl(url)?.type);
    expect(forms).toEqual(['single', 'cluster', 'sentinel']);
  });

  test('its telemetry commands do what they say', async () => {
    const postgres = await sharedPostgres();
    try {
      const database = await postgres.createDatabase();
      const lines = blocks('sh').flatMap((block) => [...block.matchAll(/^polygateway (telemetry [^#\n]*)/gm)].map(([, line = '']) => line.trim()));
      const told: string[] = [];
      for (const line of lines) told.push((await runCli(line.replace(/postgres:\/\/\S+/, database).split(' '))).stdout);
      expect(told).toEqual([
        expect.stringMatching(/^CREATE TABLE[\s\S]*stall_count/),
        expect.stringMatching(/^ALTER TABLE[^;]*stall_ms[^;]*;\nALTER TABLE[^;]*stall_count/),
        'made the table llm_attempts\n',
      ]);
    } finally {
      await postgres.stop();
    }
  }, 30_000);

  test('its commands for a report answer the four questions on a database', async () => {
    const recently = Date.now() - 400 * 60_000;
    const rows = knownRows().map((row, at) => ({ ...row, started_at: new Date(recently + at * 60_000).toISOString(), tags: '{"team":"search"}' }));
    const db = writeTelemetryFile(join(folder, 'telemetry.db'), rows);
    const lines = blocks('sh').flatMap((block) => [...block.matchAll(/^polygateway ((?:report|whatif) [^#\n]*)/gm)].map(([, line = '']) => line.trim()));
    const told: string[] = [];
    for (const line of lines) {
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
  }, 30_000);

  test('its commands are scripts of the package', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const named = blocks('sh').flatMap((block) => [...block.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name)).filter((name) => name !== 'ci');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
