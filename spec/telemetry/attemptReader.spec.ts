import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { openAttemptReader } from '../../lib/telemetry/attemptReader.js';
import type { AttemptFilter, AttemptReader, StoredAttempt } from '../../lib/telemetry/attemptReader.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { columnNames, insertSql, rowValues, schemaStatements } from '../../lib/telemetry/schema.js';
import { parseTelemetryUrl } from '../../lib/telemetry/telemetryUrl.js';
import { freePort } from '../support/freePort.js';
import { query, sharedPostgres } from '../support/postgresServer.js';
import type { SharedPostgres } from '../support/postgresServer.js';
import { until } from '../support/until.js';
import { createPostgresScene, numbered, rowOf, sessions } from './postgresScene.js';
import type { PostgresScene } from './postgresScene.js';

jest.setTimeout(30_000);

let folder: string;
let file: string;
let postgres: SharedPostgres;
let postgresUrl: string;
let scene: PostgresScene;
let cleanUps: (() => unknown)[];

beforeAll(async () => {
  postgres = await sharedPostgres();
}, 60_000);
afterAll(() => postgres.stop());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-reader-'));
  file = join(folder, 'telemetry.db');
  cleanUps = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  rmSync(folder, { recursive: true });
});

/** A table in the file, with these rows; the connection stays open. */
function writeSqlite(rows: readonly AttemptRow[] = []): Sqlite.Database {
  const db = new Sqlite(file);
  cleanUps.push(() => db.close());
  db.pragma('journal_mode = WAL');
  for (const statement of schemaStatements('sqlite')) db.exec(statement);
  const insert = db.prepare(insertSql());
  db.transaction(() => {
    for (const row of rows) insert.run(rowValues(row));
  })();
  return db;
}

async function writePostgres(rows: readonly AttemptRow[] = []): Promise<void> {
  postgresUrl = await postgres.createDatabase();
  scene = createPostgresScene(postgresUrl);
  cleanUps.push(() => scene.close());
  await scene.openSink().write(rows);
}

async function open(url = `sqlite:${file}`, filter?: AttemptFilter): Promise<AttemptReader> {
  const reader = await openAttemptReader({ target: parseTelemetryUrl(url), ...(filter && { filter }) });
  cleanUps.push(() => reader.close());
  return reader;
}

async function callsIn(url?: string, filter?: AttemptFilter): Promise<(readonly StoredAttempt[])[]> {
  const reader = await open(url, filter);
  const calls: (readonly StoredAttempt[])[] = [];
  for await (const call of reader.calls()) calls.push(call);
  expect(await reader.count()).toBe(calls.flat().length);
  return calls;
}

const idsOf = (calls: readonly (readonly StoredAttempt[])[]): string[][] => calls.map((call) => call.map(({ id }) => id));
const manyCalls = (): AttemptRow[] => numbered(3000).map((id) => rowOf({ id, callId: id }));

/** In both databases, each with the address that reads it. */
const databases: readonly (readonly [name: string, write: (rows: readonly AttemptRow[]) => Promise<string>])[] = [
  ['SQLite', (rows) => Promise.resolve(writeSqlite(rows)).then(() => `sqlite:${file}`)],
  ['Postgres', (rows) => writePostgres(rows).then(() => postgresUrl)],
];

describe.each(databases)('a telemetry database in %s', (_name, write) => {
  test('gives every attempt with numbers, dates, tags and gaps as such', async () => {
    const row = { ...rowOf(), started_at: '2026-11-01T10:00:00.250Z' };
    const unread = ['created_at', 'host', 'pid', 'started_at'];
    const same = Object.fromEntries(Object.entries(row).filter(([name]) => !unread.includes(name)));
    expect(await callsIn(await write([row]))).toEqual([[{ ...same, streamed: true, won: true, tags: { team: 'search' }, record_gaps: [[0, 500], [900, 3000]], startedAtMs: Date.UTC(2026, 10, 1, 10, 0, 0, 250) }]]);
  });

  test('gives the attempts of a call together, by round and start, the primary first, in whatever order they were written', async () => {
    const row = (id: string, callId: string, round: number, startMs: number, role: 'primary' | 'backup' = 'primary'): AttemptRow => ({ ...rowOf({ id, callId, round, role }), started_at: new Date(Date.UTC(2026, 10, 1) + startMs).toISOString() });
    const rows = [row('a-backup', 'a', 1, 7, 'backup'), row('b2', 'b', 2, 50), row('z-primary', 'a', 1, 7), row('b1', 'b', 1, 60), row('a-late', 'a', 1, 9, 'backup')];
    expect(idsOf(await callsIn(await write(rows)))).toEqual([['z-primary', 'a-backup', 'a-late'], ['b1', 'b2']]);
  });

  test('gives only attempts that match, and of their calls nothing else', async () => {
    const row = (id: string, source: string, day: number, tags: Record<string, string> | null): AttemptRow => ({ ...rowOf({ id, source, tags, callId: id.slice(0, 1) }), started_at: new Date(Date.UTC(2026, 10, day)).toISOString() });
    const odd = '$."q[0]\\é\n';
    const url = await write([row('a1', 'x/1', 1, { [odd]: '5' }), row('a2', 'y/1', 1, { [odd]: '5' }), row('b1', 'x/1', 2, { [odd]: '6', k: '' }), row('c1', 'x/10', 3, null)]);
    const found = async (filter: AttemptFilter): Promise<string[][]> => idsOf(await callsIn(url, filter));
    expect(await found({ source: 'x/1' })).toEqual([['a1'], ['b1']]);
    expect(await found({ since: new Date(Date.UTC(2026, 10, 2)) })).toEqual([['b1'], ['c1']]);
    expect(await found({ until: new Date(Date.UTC(2026, 10, 2)) })).toEqual([['a1', 'a2']]);
    expect(await found({ tags: { [odd]: '5' } })).toEqual([['a1', 'a2']]);
    expect(await found({ tags: { k: '', [odd]: '6' } })).toEqual([['b1']]);
    expect(await found({ tags: { k: '', [odd]: '5' } })).toEqual([]);
    expect(await found({ source: "'; DROP TABLE llm_attempts; --" })).toEqual([]);
  });

  test('is read as it is asked for: a loop that is left, or closed from outside, has not read it all and lets go of it', async () => {
    const url = await write(manyCalls());
    const isHeld = async (): Promise<boolean> => {
      if (url.startsWith('postgres')) return (await sessions(url)).some(({ state }) => state === 'idle in transaction');
      const writer = new Sqlite(file, { timeout: 0 });
      writer.exec("UPDATE llm_attempts SET scope = 'other' WHERE id = 'r000'");
      const [{ busy }] = writer.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      writer.close();
      return busy === 1;
    };
    const reader = await open(url);
    for await (const [first] of reader.calls()) {
      expect([first?.id, await isHeld()]).toEqual(['r000', true]);
      break;
    }
    expect(await isHeld()).toBe(false);
    const calls = reader.calls()[Symbol.asyncIterator]();
    await calls.next();
    await reader.close();
    expect(await isHeld()).toBe(false);
    let rest = 0;
    while ((await calls.next()).done !== true) rest += 1;
    expect(rest).toBeLessThan(1000);
  });

  test.each([
    ['every row matches', undefined, 3000],
    ['none does', { source: 'nowhere/1' }, 0],
  ])('leaves the event loop its turns, for a progress bar and for Ctrl-C, where %s', async (_case, filter, expected) => {
    const reader = await open(await write(manyCalls()), filter);
    let turns = 0;
    let isReading = true;
    const turn = (): void => {
      turns += 1;
      if (isReading) setImmediate(turn);
    };
    setImmediate(turn);
    let calls = 0;
    for await (const call of reader.calls()) calls += Math.min(1, call.length);
    isReading = false;
    expect(calls).toBe(expected);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

test('SQLite: a filter finds rows wherever the table has them, those of a call too that are far apart', async () => {
  const db = writeSqlite(numbered(3000).map((id) => rowOf({ id, callId: `call of ${id.slice(-2)}`, source: id.endsWith('7') ? 'b/1' : 'a/1' })));
  for (const [id, place] of [['r007', -(2n ** 62n)], ['r107', 2n ** 62n], ['r207', 10n ** 9n]] as const) db.prepare('UPDATE llm_attempts SET rowid = ? WHERE id = ?').run(place, id);
  const calls = await callsIn(undefined, { source: 'b/1' });
  expect(calls.map(([first]) => first?.call_id)).toEqual(['07', '17', '27', '37', '47', '57', '67', '77', '87', '97'].map((end) => `call of ${end}`));
  expect(calls.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 30));
  expect(idsOf(calls).flat()).toEqual(expect.arrayContaining(['r007', 'r107', 'r207']));
});

describe('a row that someone else wrote', () => {
  test('reads with what makes no sense in it as absent, in SQLite', async () => {
    const db = writeSqlite([rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    db.exec(`UPDATE llm_attempts SET round = -1, role = 'main', hedge_trigger = 'x', streamed = 7, outcome = 'maybe', error_class = 'new', waited_ms = 'soon', ttft_ms = 9e15, latency_ms = NULL,
      tags = '{', record_gaps = '[[0,1],[5],"x",[2,-3],[1,2,3],[4,null],[7,8]]', stall_ms = x'00', scope = 5 WHERE id = 'a'; UPDATE llm_attempts SET started_at = 'yesterday' WHERE id = 'b'`);
    const absent = { round: null, hedge_trigger: null, error_class: null, waited_ms: null, ttft_ms: null, latency_ms: null, tags: null, stall_ms: null };
    const reader = await open();
    const calls: (readonly StoredAttempt[])[] = [];
    for await (const call of reader.calls()) calls.push(call);
    expect(calls).toEqual([[expect.objectContaining({ ...absent, id: 'a', role: 'primary', streamed: false, outcome: 'error', record_gaps: [[0, 1], [7, 8]] })]]);
    expect(idsOf(await callsIn(undefined, { tags: { team: 'search' } }).catch(() => []))).toEqual([]);
  });

  test.each([
    ['2026-11-20T10:00:00.250Z', '2026-11-20T10:00:00.250Z'],
    ['2026-11-20 10:00:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20 10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20 10:00:00.5+0530', '2026-11-20T04:30:00.500Z'],
    ['123', undefined],
    ['Nov 20 2026', undefined],
  ])('a start written %p is %p wherever it is read', async (written, read) => {
    const db = writeSqlite([rowOf({ id: 'a' })]);
    db.prepare('UPDATE llm_attempts SET started_at = ?').run(written);
    const starts: string[] = [];
    for await (const call of (await open()).calls()) starts.push(...call.map(({ startedAtMs }) => new Date(startedAtMs).toISOString()));
    expect(starts).toEqual(read === undefined ? [] : [read]);
  });

  test('and in Postgres', async () => {
    await writePostgres([rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    await query(postgresUrl, `UPDATE llm_attempts SET latency_ms = -5, ttft_ms = 9223372036854775807, tags = '["team"]', record_gaps = '{"0": [0, 1]}' WHERE id = 'a'; UPDATE llm_attempts SET started_at = 'infinity' WHERE id = 'b'`);
    const reader = await open(postgresUrl);
    const calls: (readonly StoredAttempt[])[] = [];
    for await (const call of reader.calls()) calls.push(call);
    expect(calls).toEqual([[expect.objectContaining({ id: 'a', latency_ms: null, ttft_ms: null, tags: null, record_gaps: [] })]]);
  });
});

describe('reading changes nothing', () => {
  const old = columnNames.filter((name) => !name.startsWith('stall_'));

  test('a table from before the stall columns reads as one without stalls, and stays as it is (E2)', async () => {
    const db = writeSqlite([rowOf()]);
    await writePostgres([rowOf()]);
    const drop = 'ALTER TABLE llm_attempts DROP COLUMN stall_ms; ALTER TABLE llm_attempts DROP COLUMN stall_count';
    db.exec(drop);
    await query(postgresUrl, drop);
    for (const url of [`sqlite:${file}`, postgresUrl]) expect(await callsIn(url)).toEqual([[expect.objectContaining({ stall_ms: null, stall_count: null, max_inter_token_ms: 3000 })]]);
    expect((db.pragma('table_info(llm_attempts)') as { name: string }[]).map(({ name }) => name)).toEqual(old);
    expect((await query<{ attname: string }>(postgresUrl, "SELECT attname FROM pg_attribute WHERE attrelid = 'llm_attempts'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum")).map(({ attname }) => attname)).toEqual(old);
  });

  test('what another connection is writing is read as far as it is committed, and its files stay', async () => {
    const db = writeSqlite([rowOf({ id: 'a' })]);
    db.exec('BEGIN IMMEDIATE');
    db.prepare(insertSql()).run(rowValues(rowOf({ id: 'b' })));
    expect(idsOf(await callsIn())).toEqual([['a']]);
    await Promise.all(cleanUps.splice(1).map((cleanUp) => cleanUp()));
    expect(readdirSync(folder)).toContain('telemetry.db-wal');
    db.exec('COMMIT');
    expect(idsOf(await callsIn())).toEqual([['a', 'b']]);
  });

  test('no file is left beside a database that nobody has open, nor made where there is none', async () => {
    writeSqlite([rowOf()]).close();
    const reader = await open();
    expect(await reader.count()).toBe(1);
    await reader.close();
    expect(readdirSync(folder)).toEqual(['telemetry.db']);
    await expect(open(`sqlite:${join(folder, 'other.db')}`)).rejects.toMatchObject({ code: 'telemetry_unreadable' });
    expect(readdirSync(folder)).toEqual(['telemetry.db']);
  });
});

describe('a database that cannot be read is told with place, reason and remedy', () => {
  const failure = async (url: string): Promise<string> => {
    const error: unknown = await open(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'TelemetryUnreadableError', code: 'telemetry_unreadable' });
    return (error as Error).message;
  };

  test('a missing file, a folder, no database, no table, another table', async () => {
    expect(await failure(`sqlite:${folder}/none/x.db`)).toBe(`sqlite:${folder}/none/x.db: there is no such file; correct the path, which is read from the working directory`);
    expect(await failure(`sqlite:${folder}`)).toBe(`sqlite:${folder}: this is no file; name the file of the database`);
    writeFileSync(join(folder, 'notes.txt'), 'no database at all '.repeat(100));
    expect(await failure(`sqlite:${folder}/notes.txt`)).toBe(`sqlite:${folder}/notes.txt: this is not a SQLite database; correct the path`);
    const db = new Sqlite(file);
    db.exec('CREATE TABLE other (a)');
    expect(await failure(`sqlite:${file}`)).toBe(`sqlite:${file}: there is no table llm_attempts; name the database that TELEMETRY__URL of the gateway names`);
    db.exec('CREATE TABLE llm_attempts (id, call_id)');
    expect(await failure(`sqlite:${file}`)).toMatch(/the table llm_attempts has no scope, round, .*created_at; `polygateway telemetry migrate` adds them/);
    db.close();
  });

  test('rights: a file that may not be read, a folder in which SQLite may not put its files', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    file = join(inside, 'telemetry.db');
    writeSqlite([rowOf()]).close();
    chmodSync(folder, 0o755);
    chmodSync(inside, 0o555);
    expect(await failureAsNobody()).toBe(`sqlite:${file}: the folder cannot be written, where SQLite has to put a file beside a database in WAL mode; copy the database to another folder and read the copy`);
    chmodSync(file, 0o000);
    expect(await failureAsNobody()).toBe(`sqlite:${file}: this user may not read it; change its rights, or run as its owner`);
    chmodSync(inside, 0o755);
  });

  /** Nothing is forbidden to root. A SQLite file is opened in the turn of the call. */
  function failureAsNobody(): Promise<string> {
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      return failure(`sqlite:${file}`);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }

  test('a lock that another process holds', async () => {
    const db = writeSqlite();
    db.pragma('journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
    expect(await failure(`sqlite:${file}`)).toBe(`sqlite:${file}: another process has locked the database for more than 2 s; try again when it is done`);
    db.exec('COMMIT');
  });

  test('Postgres: no server, no database, no table, no right, and never the password', async () => {
    const port = await freePort();
    expect(await failure(`postgres://me:geheim@127.0.0.1:${port}/app`)).toBe(`postgres://127.0.0.1:${port}/app: connect ECONNREFUSED 127.0.0.1:${port} (ECONNREFUSED); start the server there, or correct the address`);
    const address = new URL(await postgres.createDatabase());
    address.password = 'geheim';
    const place = `postgres://${address.host}${address.pathname}`;
    expect(await failure(address.href)).toBe(`${place}: there is no table llm_attempts; name the database that TELEMETRY__URL of the gateway names`);
    expect(await failure(address.href.replace(address.pathname, '/nowhere_at_all'))).toMatch(/: database "nowhere_at_all" does not exist \(3D000\); create the database, or correct its name$/);
    const role = `reader_${process.pid}`;
    await query(address.href, `${schemaStatements('postgres').join(';')}; DROP ROLE IF EXISTS ${role}; CREATE ROLE ${role} LOGIN`);
    address.username = role;
    expect(await failure(address.href)).toMatch(/: permission denied for table llm_attempts \(42501\); let the owner of the table .* grant this user the right$/);
    address.username = 'postgres';
    await query(address.href, `DROP ROLE ${role}`);
  });

  test('Postgres: closing does not wait for a statement that does not end', async () => {
    await writePostgres([rowOf()]);
    const reader = await open(postgresUrl);
    const holder = await scene.openSession();
    await holder.query('BEGIN; LOCK TABLE llm_attempts');
    const counted = reader.count();
    const read = reader.calls()[Symbol.asyncIterator]().next();
    await until('both wait', async () => (await sessions(postgresUrl)).filter(({ wait_event_type }) => wait_event_type === 'Lock').length === 2, { everyMs: 10 });
    // Both end by being cut off, not because their wait for the lock is over.
    const cutOff = { code: 'telemetry_unreadable', message: expect.not.stringContaining('lock timeout') };
    await Promise.all([reader.close(), expect(counted).rejects.toMatchObject(cutOff), expect(read).rejects.toMatchObject(cutOff)]);
    await holder.query('ROLLBACK');
  });

  test('Postgres: a session that the server ends while it is read', async () => {
    await writePostgres(manyCalls());
    const reader = await open(postgresUrl);
    const readAll = async (): Promise<void> => {
      for await (const [first] of reader.calls()) {
        if (first?.id === 'r010') await query(postgresUrl, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'polygateway' AND datname = current_database()");
      }
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'telemetry_unreadable', message: expect.stringMatching(/^postgres:\/\/\S+: .*(terminat|ECONNRESET|connection error)/) });
  });
});
