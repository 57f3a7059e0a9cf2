import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { openRecorder } from '../../lib/assemble/openRecorder.js';
import { maskedSettings } from '../../lib/config/maskedSettings.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import type { AttemptRecord } from '../../lib/model/events.js';
import { columnNames, schemaSql } from '../../lib/telemetry/schema.js';
import { query, sharedPostgres } from '../support/postgresServer.js';
import type { SharedPostgres } from '../support/postgresServer.js';
import { until } from '../support/until.js';
import { attemptRecord } from './attemptRecord.js';
import { createPostgresScene, idsIn, makeOldTable, numbered, rowOf, rowsIn, sessions } from './postgresScene.js';
import type { PostgresScene } from './postgresScene.js';

jest.setTimeout(30_000);

let postgres: SharedPostgres;
let url: string;
let scene: PostgresScene;

beforeAll(async () => {
  postgres = await sharedPostgres();
}, 60_000);
afterAll(() => postgres.stop());

beforeEach(async () => {
  url = await postgres.createDatabase();
  scene = createPostgresScene(url);
});
afterEach(() => scene.close());

const run = (...args: string[]): Promise<{ code: number | null; output: string }> => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
};
const writer = join(process.cwd(), 'spec', 'telemetry', 'writeRow.mjs');

/** Columns, types and indexes of the table. */
const shapeOf = (at: string): Promise<unknown> =>
  query(
    at,
    `SELECT attnum::text AS place, attname AS name, format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS type
     FROM pg_attribute WHERE attrelid = 'llm_attempts'::regclass AND attnum > 0 AND NOT attisdropped
     UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE tablename = 'llm_attempts' ORDER BY 1, 2`,
  );

describe('the Postgres sink', () => {
  test('stores every column of a row in its natural type, and closing it writes all that was accepted (E5)', async () => {
    const row = rowOf();
    await scene.openSink().write([row]);
    const [stored] = await rowsIn(url);
    const numbersAsText = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === 'number' && !/streamed|won/.test(name) ? String(value) : value]));
    expect(stored).toEqual({
      ...numbersAsText,
      tags: { team: 'search' },
      record_gaps: [[0, 500], [900, 3000]],
      started_at: new Date(row.started_at),
      created_at: new Date(row.created_at),
    });
    const { recorder, troubles } = scene.startRecorder();
    recorder.record(numbered(250).map((id) => attemptRecord({ id })));
    await recorder.close();
    expect(await idsIn(url)).toHaveLength(251);
    expect({ pending: recorder.pending, lost: recorder.lost, troubles }).toEqual({ pending: 0, lost: 0, troubles: [] });
  });

  test('makes the table that schemaSql prints', async () => {
    await scene.openSink().open();
    const printed = await postgres.createDatabase();
    await query(printed, schemaSql('postgres'));
    expect(await shapeOf(url)).toEqual(await shapeOf(printed));
  });

  test('a repeated write is harmless: the first row of an id stays (E4)', async () => {
    const sink = scene.openSink();
    await sink.write([rowOf({ id: 'a' }), rowOf({ id: 'b' }), rowOf({ id: 'b', model: 'other' })]);
    await sink.write([rowOf({ id: 'b', model: 'other' }), rowOf({ id: 'c' })]);
    expect((await rowsIn(url)).map(({ id, model }) => `${String(id)} ${String(model)}`)).toEqual(['a gpt-x', 'b gpt-x', 'c gpt-x']);
  });

  test('writes more rows than one statement can hold', async () => {
    await scene.openSink().write(Array.from({ length: 4000 }, (_, at) => rowOf({ id: `r${at}` })));
    expect(await query(url, 'SELECT count(*)::int AS n FROM llm_attempts')).toEqual([{ n: 4000 }]);
  });

  test('a table whose columns are of other types, in another order and in a schema of the search path is used as it is', async () => {
    await query(url, `CREATE SCHEMA app; CREATE TABLE app.llm_attempts (${[...columnNames].reverse().map((name) => (name === 'id' ? 'id varchar PRIMARY KEY' : `${name} text`)).join(', ')})`);
    const inApp = `${url}?options=${encodeURIComponent('-c search_path=app,public')}`;
    const own = createPostgresScene(inApp);
    await own.openSink().write([rowOf({ id: 'a' })]).finally(() => own.close());
    expect(await query(url, 'SELECT id, won, tags, stall_ms FROM app.llm_attempts')).toEqual([{ id: 'a', won: '1', tags: '{"team":"search"}', stall_ms: '3000' }]);
  });

  test('keeps no process alive, yet what was recorded is stored before it ends; closing it ends the process', async () => {
    expect(await run(writer, url, 'a', 'no-close')).toEqual({ code: 0, output: '' });
    expect(await run(writer, url, 'b')).toEqual({ code: 0, output: '' });
    expect(await idsIn(url)).toEqual(['a', 'b']);
  });

  test('is closed when its connections are, though they were idle', async () => {
    const sink = scene.openSink();
    await Promise.all([sink.write([rowOf({ id: 'a' })]), sink.write([rowOf({ id: 'b' })])]);
    expect((await sessions(url)).length).toBeGreaterThan(0);
    const code = `const { createPostgresSink } = await import('${join(process.cwd(), 'dist/telemetry/postgresSink.js')}'); const sink = createPostgresSink({ url: process.argv[1] }); await sink.open(); await sink.close(); console.log('closed');`;
    expect(await run('--input-type=module', '-e', code, url)).toEqual({ code: 0, output: 'closed\n' });
  });

  test('names the package to install when it is missing', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'polygateway-no-pg-'));
    try {
      for (const part of ['telemetry', 'model']) cpSync(join('dist', part), join(dir, 'dist', part), { recursive: true });
      cpSync('package.json', join(dir, 'package.json'));
      const code = `import('${join(dir, 'dist/telemetry/postgresSink.js')}').then((m) => m.createPostgresSink({ url: 'postgres://h/d' })).catch((e) => console.log(e.code, e.message))`;
      expect((await run('-e', code)).output).toMatch(/^config .*npm install pg\n$/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('settings that name a Postgres', () => {
  const settingsWith = (telemetryUrl: string): ReturnType<typeof resolveSettings>['settings'] =>
    resolveSettings({ scope: 'LLM', sources: [{ provider: 'a', baseUrl: 'https://a.example/v1', model: 'm' }], telemetryUrl }).settings;

  test('make the recorder write there, in batches', async () => {
    const recorder = openRecorder(settingsWith(url), undefined, () => undefined, asyncScheduler)!;
    recorder.record([attemptRecord({ id: 'a' })]);
    expect(recorder.pending).toBe(1);
    await recorder.close();
    expect(await idsIn(url)).toEqual(['a']);
  });

  test('are printed without user, password and parameters', () => {
    const settings = settingsWith('postgres://me:geheim@h.example:6432/d?password=geheim&sslmode=verify-full');
    expect(maskedSettings(settings)).toMatchObject({ telemetryUrl: 'postgres://[masked]@h.example:6432/d?[masked]' });
  });

  test.each(['postgres://me:geheim@h', 'postgresql:///d', 'postgres://me:12/geheim@h/d', 'postgres://me:geheim%@h/d'])('are refused at once where the address is none: %s', (address) => {
    const resolve = (): unknown => settingsWith(address);
    expect(resolve).toThrow(/LLM__TELEMETRY__URL/);
    expect(resolve).not.toThrow(/geheim/);
  });
});

describe('rows that Postgres refuses (TD-07)', () => {
  test('ten rows of which four hold what a database may refuse are all stored', async () => {
    const odd: Record<number, Partial<AttemptRecord>> = {
      3: { errorMessage: 'with \u0000 inside', tags: { 'a\u0000': '\u0000b' } },
      6: { model: 'm\\u0000', tags: { note: '\\u0000' } },
      7: { errorMessage: 'half \uD83D character', tags: { note: '\uD83D' } },
      8: { ttftMs: NaN },
    };
    const { recorder, troubles } = scene.startRecorder();
    recorder.record(Array.from({ length: 10 }, (_, at) => attemptRecord({ id: `r${at}`, ...odd[at] })));
    await recorder.close();
    const rows = await rowsIn(url);
    expect(rows).toHaveLength(10);
    expect(rows[3]).toMatchObject({ error_message: 'with  inside', tags: { a: 'b' } });
    expect(rows[6]).toMatchObject({ model: 'm\\u0000', tags: { note: '\\u0000' } });
    expect(rows[7]).toMatchObject({ error_message: 'half \uFFFD character' });
    expect(rows[8]).toMatchObject({ ttft_ms: null });
    expect({ lost: recorder.lost, troubles }).toEqual({ lost: 0, troubles: [] });
  });

  const poisons: [string, string, Partial<AttemptRecord>, RegExp][] = [
    ['a figure too large', '', { latencyMs: 2 ** 63 }, /a value does not fit its column \(22003\)/],
    ['no value where one must be', '', { outcome: null as unknown as 'ok' }, /a constraint of the table refuses it \(outcome, 23502\)/],
    ['a value of another type', 'ALTER TABLE llm_attempts ALTER COLUMN provider_request_id TYPE integer USING 1', { providerRequestId: 'geheim' }, /does not fit its column \(22P02\)/],
    ['a text that is too long', 'ALTER TABLE llm_attempts ALTER COLUMN model TYPE varchar(9)', { model: 'geheim-geheim' }, /does not fit its column \(22001\)/],
    ['a constraint', "ALTER TABLE llm_attempts ADD CONSTRAINT known CHECK (model <> 'geheim')", { model: 'geheim' }, /a constraint of the table refuses it \(known, 23514\)/],
    ['a constraint checked at the end', 'ALTER TABLE llm_attempts ADD CONSTRAINT own UNIQUE (model, error_message) DEFERRABLE INITIALLY DEFERRED', { model: 'good' }, /refuses it \(own, 23505\)/],
    [
      'a trigger',
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.model = 'geheim' THEN RAISE EXCEPTION 'not %', NEW.model; END IF; RETURN NEW; END $$; CREATE TRIGGER refuse BEFORE INSERT ON llm_attempts FOR EACH ROW EXECUTE FUNCTION refuse()",
      { model: 'geheim' },
      /a trigger of the table refuses it \(P0001\)/,
    ],
    ['a key too long for its index', '', { callId: Array.from({ length: 3000 }, (_, at) => `geheim${Math.sin(at)}`).join('') }, /too long for an index \(54000\)/],
  ];

  test.each(poisons)('%s: only that row is lost, and counted, and its value is not told', async (_kind, change, poison, why) => {
    await scene.openSink().open();
    if (change !== '') await query(url, change);
    const { recorder, troubles, settled } = scene.startRecorder();
    const good = numbered(40);
    recorder.record(good.map((id, at) => attemptRecord({ id, providerRequestId: '7', model: 'good', errorMessage: id, ...(at === 17 && { ...poison, errorMessage: 'r000' }) })));
    await settled();
    expect(await idsIn(url)).toEqual(good.filter((_id, at) => at !== 17));
    expect(recorder.lost).toBe(1);
    expect(troubles).toEqual([expect.stringMatching(why)]);
    expect(troubles.join()).not.toContain('geheim');
  });

  test('many of them are found one by one, also when a failure comes between', async () => {
    await scene.openSink().open();
    const { recorder, settled } = scene.startRecorder();
    const ids = numbered(60);
    recorder.record(ids.map((id, at) => attemptRecord({ id, ...(at % 3 === 0 && { latencyMs: 1e30 }) })));
    await until('some are stored', async () => (await idsIn(url)).length > 0, { everyMs: 5 });
    await query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'polygateway' AND datname = current_database()");
    await settled();
    expect(await idsIn(url)).toEqual(ids.filter((_id, at) => at % 3 !== 0));
    expect(recorder.lost).toBe(20);
  });

  test('many of them come to an end however slow the server is, since what is known of them is kept between tries', async () => {
    await scene.openSink().open();
    await query(
      url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END $$;
       CREATE TRIGGER slow BEFORE INSERT ON llm_attempts FOR EACH STATEMENT EXECUTE FUNCTION slow()`,
    );
    const { recorder, settled } = scene.startRecorder({}, { writeLimitMs: 240 });
    recorder.record(numbered(20).map((id) => attemptRecord({ id, outcome: null as unknown as 'ok' })));
    await settled();
    expect(recorder.lost).toBe(20);
  });
});

describe('a table from before the stall columns', () => {
  test('gets them at the end; its rows read NULL, not 0; columns that are not ours stay (E2, TD-06)', async () => {
    await makeOldTable(url);
    await query(url, 'ALTER TABLE llm_attempts ADD COLUMN cost real DEFAULT 2.5');
    await scene.openSink().write([rowOf({ id: 'new' })]);
    const rows = await rowsIn(url);
    expect(Object.keys(rows[0]!).slice(-3)).toEqual(['cost', 'stall_ms', 'stall_count']);
    expect(rows.map(({ id, stall_ms, stall_count, cost }) => [id, stall_ms, stall_count, cost])).toEqual([
      ['new', '3000', '1', 2.5], ['old-1', null, null, 2.5], ['old-2', null, null, 2.5], ['old-3', null, null, 2.5],
    ]);
  });

  test('manual: nothing is changed, the SQL to run is told, and rows flow once it was run (E2)', async () => {
    await makeOldTable(url);
    const { troubles, record, settled } = scene.startRecorder({ schema: 'manual' });
    record('a');
    await until('trouble is told', () => Promise.resolve(troubles.length > 0));
    expect(troubles[0]).toContain('the table llm_attempts has no stall_ms, stall_count, and telemetrySchema is manual; run this SQL:\n');
    expect(Object.keys((await rowsIn(url))[0]!)).not.toContain('stall_ms');
    await query(url, troubles[0]!.split('run this SQL:\n')[1]!);
    await settled();
    expect(await idsIn(url)).toEqual(['a', 'old-1', 'old-2', 'old-3']);
  });

  test('manual: an empty database is told the whole schema, and one made by hand is used as it is', async () => {
    await expect(scene.openSink({ schema: 'manual' }).open()).rejects.toMatchObject({ message: expect.stringContaining(schemaSql('postgres')) });
    await query(url, schemaSql('postgres'));
    await scene.openSink({ schema: 'manual' }).write([rowOf({ id: 'a' })]);
    expect(await idsIn(url)).toEqual(['a']);
  });

  test('no lock and no right to change the table is needed where nothing is missing; where it is, the remedy is told', async () => {
    await query(url, schemaSql('postgres'));
    const holder = await scene.openSession();
    await holder.query('BEGIN; SELECT count(*) FROM llm_attempts');
    await scene.openSink({ lockTimeoutMs: 50 }).write([rowOf({ id: 'a' })]);
    await holder.query('COMMIT; ALTER TABLE llm_attempts DROP COLUMN stall_ms');
    const role = `writer_${process.pid}_${Date.now()}`;
    await query(url, `CREATE ROLE ${role}; GRANT SELECT, INSERT ON llm_attempts TO ${role}`);
    const asWriter = createPostgresScene(`${url}?options=${encodeURIComponent(`-c role=${role}`)}`);
    try {
      await expect(asWriter.openSink().open()).rejects.toMatchObject({ code: '42501', message: expect.stringContaining('polygateway telemetry migrate') });
      await query(url, 'ALTER TABLE llm_attempts ADD COLUMN stall_ms bigint');
      await asWriter.openSink().write([rowOf({ id: 'b' })]);
    } finally {
      await asWriter.close();
      await query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
    expect(await idsIn(url)).toEqual(['a', 'b']);
  });

  test.each(['old', 'empty'])('ten processes that start at once on an %s one all store their row (TD-05)', async (kind) => {
    if (kind === 'old') await makeOldTable(url);
    const ids = numbered(10);
    const ends = await Promise.all(ids.map((id) => run(writer, url, id)));
    expect(ends).toEqual(ids.map(() => ({ code: 0, output: '' })));
    const rows = await rowsIn(url);
    expect(rows.filter(({ stall_ms }) => stall_ms === '5').map(({ id }) => id)).toEqual(ids);
    expect(rows.filter(({ stall_ms }) => stall_ms === null)).toHaveLength(kind === 'old' ? 3 : 0);
    expect(Object.keys(rows[0]!)).toEqual(columnNames);
  });

  test.each(['old', 'empty'])('many sinks that upgrade an %s one at the same moment all succeed (TD-05)', async (kind) => {
    for (let round = 0; round < 3; round += 1) {
      await query(url, 'DROP TABLE IF EXISTS llm_attempts');
      if (kind === 'old') await makeOldTable(url);
      const own = createPostgresScene(url);
      await Promise.all(numbered(10).map((id) => own.openSink().write([rowOf({ id })])));
      expect(await idsIn(url)).toHaveLength(kind === 'old' ? 13 : 10);
      await own.close();
    }
  });
});
