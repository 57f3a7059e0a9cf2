import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { asyncScheduler } from 'rxjs';
import type { AttemptRecord, GatewayEventBody } from '../../lib/model/events.js';
import { toRow, type AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { batched, type Delivery } from '../../lib/telemetry/delivery.js';
import { createRecorder, type Recorder } from '../../lib/telemetry/recorder.js';
import { columnNames, schemaSql } from '../../lib/telemetry/schema.js';
import { createSqliteSink, type SqliteSink, type SqliteSinkOptions } from '../../lib/telemetry/sqliteSink.js';
import { startChild } from '../gateway/children/startChild.js';
import { asks, closeAll, gatewayTo, upstream } from '../gateway/scene.js';
import { attemptRecord } from './attemptRecord.js';

// `SLOW=1` makes it fifty.
const upgrades = process.env['SLOW'] === '1' ? 50 : 3;
const quick: Delivery = { ...batched, batchMs: 10, retryMs: 30, retryMaxMs: 100, maxTries: 1000 };

let dir: string;
let file: string;
let cleanUps: (() => unknown)[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'polygateway-telemetry-'));
  file = join(dir, 'telemetry.db');
  cleanUps = [];
});

afterEach(async () => {
  await closeAll();
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  rmSync(dir, { recursive: true, force: true });
}, 20_000);

function openSink(options: Partial<SqliteSinkOptions> = {}): SqliteSink {
  const sink = createSqliteSink({ file, ...options });
  cleanUps.push(() => sink.close());
  return sink;
}

function startRecorder(options: Partial<SqliteSinkOptions> = {}, delivery: Partial<Delivery> = {}): { recorder: Recorder; troubles: string[]; record: (...ids: string[]) => void } {
  const troubles: string[] = [];
  const report = (event: GatewayEventBody): unknown => event.type === 'telemetry-trouble' && troubles.push(event.message);
  const recorder = createRecorder({ sink: createSqliteSink({ file, ...options }), report, scheduler: asyncScheduler, delivery: { ...quick, ...delivery } });
  cleanUps.push(() => recorder.close());
  return { recorder, troubles, record: (...ids) => recorder.record(ids.map((id) => attemptRecord({ id }))) };
}

function rowOf(over: Partial<AttemptRecord>): AttemptRow {
  return toRow(attemptRecord(over), { nowMs: 15_000, date: new Date(), pid: 1, host: 'h' });
}

function withDatabase<T>(work: (db: Database.Database) => T, at = file): T {
  const db = new Database(at);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function stored(at = file): AttemptRow[] {
  return withDatabase((db) => db.prepare('SELECT * FROM llm_attempts ORDER BY rowid').all() as AttemptRow[], at);
}

const idsStored = (at = file): string[] => stored(at).map(({ id }) => id);

async function until(holds: () => boolean, limitMs = 8000): Promise<void> {
  for (const end = performance.now() + limitMs; !holds(); ) {
    if (performance.now() > end) throw new Error(`did not come true within ${limitMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A table as it was before the stall columns, with three rows. */
function makeOldDatabase(at = file): void {
  const names = columnNames.filter((name) => !name.startsWith('stall_'));
  withDatabase((db) => {
    db.exec(`CREATE TABLE llm_attempts (${names.map((name) => (name === 'id' ? 'id TEXT NOT NULL PRIMARY KEY' : name)).join(', ')})`);
    for (const id of ['old-1', 'old-2', 'old-3']) db.prepare('INSERT INTO llm_attempts (id, call_id, latency_ms) VALUES (?, ?, 9)').run(id, 'c');
  }, at);
}

const script = (name: string): string => join(process.cwd(), 'spec', 'telemetry', name);

/** What a short program that may use a sink on `file` prints, and how it ends. */
function runCode(code: string): { signal: string | null; status: number | null; stdout: string; stderr: string } {
  const program = `import { createSqliteSink } from '${join(process.cwd(), 'dist/telemetry/sqliteSink.js')}'; ${code}`;
  const { signal, status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program, file], { encoding: 'utf8', timeout: 20_000 });
  return { signal, status, stdout, stderr };
}

function run(name: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [script(name), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, output })));
}

/** Another process takes the write lock for so long; resolves when it has it. */
async function lockFor(ms: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script('holdLock.mjs'), file, String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

describe('the SQLite sink', () => {
  test('stores every column of a row, and closing it writes all that was accepted (E5)', async () => {
    const sink = openSink();
    const row = rowOf({});
    await sink.write([row]);
    expect(stored()).toEqual([row]);
    const { recorder } = startRecorder();
    recorder.record(Array.from({ length: 250 }, (_, at) => attemptRecord({ id: `r${at}` })));
    await recorder.close();
    expect(stored()).toHaveLength(251);
    expect(recorder).toMatchObject({ pending: 0, lost: 0 });
  });

  test('makes the table that schemaSql prints', async () => {
    await openSink().open();
    const shape = (at: string): unknown => withDatabase((db) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all(), at);
    const printed = join(dir, 'printed.db');
    withDatabase((db) => db.exec(schemaSql('sqlite')), printed);
    expect(shape(file)).toEqual(shape(printed));
    expect(withDatabase((db) => db.pragma('journal_mode', { simple: true }))).toBe('wal');
  });

  test('a repeated write is harmless: the first row of an id stays (E4)', async () => {
    const sink = openSink();
    await sink.write([rowOf({ id: 'a' }), rowOf({ id: 'b' })]);
    await sink.write([rowOf({ id: 'b', model: 'other' }), rowOf({ id: 'c' })]);
    expect(stored().map(({ id, model }) => `${id} ${model}`)).toEqual(['a gpt-x', 'b gpt-x', 'c gpt-x']);
  });

  test('stores ten rows of which four hold what a database may refuse (TD-07)', async () => {
    const odd: Record<number, Partial<AttemptRecord>> = {
      3: { errorMessage: 'with \u0000 inside' },
      6: { model: 'm\\u0000' },
      7: { errorMessage: 'half \uD83D character' },
      8: { ttftMs: NaN },
    };
    const { recorder } = startRecorder();
    recorder.record(Array.from({ length: 10 }, (_, at) => attemptRecord({ id: `r${at}`, ...odd[at] })));
    await recorder.close();
    const rows = stored();
    expect(rows).toHaveLength(10);
    expect(rows[3]!.error_message).toBe('with  inside');
    expect(rows[6]!.model).toBe('m\\u0000');
    expect(rows[7]!.error_message).toBe('half \uFFFD character');
    expect(rows[8]!.ttft_ms).toBeNull();
    expect(recorder.lost).toBe(0);
  });

  test('a row that cannot be stored does not sink its batch, and is counted (TD-07)', async () => {
    const { recorder, troubles } = startRecorder({ pragmas: ['user_version = 1'] });
    recorder.record([attemptRecord({ id: 'a' }), attemptRecord({ id: 'b', role: {} as unknown as 'backup' }), attemptRecord({ id: 'c', outcome: null as unknown as 'ok' }), attemptRecord({ id: 'd' })]);
    await until(() => recorder.pending === 0);
    expect(idsStored()).toEqual(['a', 'd']);
    expect(recorder.lost).toBe(2);
    expect(troubles).toEqual([expect.stringContaining('can only bind')]);
    await expect(openSink().write([{ ...rowOf({ id: 'e' }), outcome: null as unknown as 'ok' }])).rejects.toMatchObject({ code: 'rows_refused', count: 1, message: expect.stringContaining('constraint') });
  });

  test('goes on in a new file when the old one was deleted', async () => {
    const sink = openSink();
    await sink.write([rowOf({ id: 'a' })]);
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
    await sink.write([rowOf({ id: 'b' })]);
    expect(idsStored()).toEqual(['b']);
  });

  test('repairs a table that was dropped or changed under it (TD-06)', async () => {
    const sink = openSink();
    await sink.write([rowOf({ id: 'a' })]);
    withDatabase((db) => db.exec('ALTER TABLE llm_attempts DROP COLUMN stall_ms'));
    await sink.write([rowOf({ id: 'b' })]).catch(() => sink.write([rowOf({ id: 'b' })]));
    expect(stored().map(({ id, stall_ms }) => [id, stall_ms])).toEqual([['a', null], ['b', 3000]]);
  });

  test('keeps a process alive for a write that is under way', () => {
    const code = `import('${join(process.cwd(), 'dist/telemetry/sqliteSink.js')}').then(async (m) => { const sink = m.createSqliteSink({ file: process.argv[1] }); await sink.open(); await sink.open(); console.log('twice'); })`;
    expect(spawnSync(process.execPath, ['-e', code, file], { encoding: 'utf8' }).stdout).toBe('twice\n');
  });

  test('keeps no process alive, yet what was recorded is stored before it ends', async () => {
    expect(await run('writeRow.mjs', file, 'a', 'no-close')).toEqual({ code: 0, output: '' });
    expect(idsStored()).toEqual(['a']);
  });

  test('names the package to install when it is missing', () => {
    for (const part of ['telemetry', 'model']) cpSync(join('dist', part), join(dir, 'dist', part), { recursive: true });
    cpSync('package.json', join(dir, 'package.json'));
    const code = "import('./dist/telemetry/sqliteSink.js').then((m) => m.createSqliteSink({ file: 'x.db' })).catch((e) => console.log(e.code, e.message))";
    const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: dir, encoding: 'utf8' });
    expect(stdout).toMatch(/^config .*npm install better-sqlite3\n$/);
  });
});

describe('a lock held by another process', () => {
  test('does not stop the event loop, and every row is stored once it is gone (E4, TD-01)', async () => {
    const { recorder, troubles, record } = startRecorder({ busyTimeoutMs: 1000 });
    record('first');
    await until(() => recorder.pending === 0);
    const holder = await lockFor(1500);
    let longestGapMs = 0;
    let lastMs = performance.now();
    let at = 0;
    let heldRows = 0;
    const beat = setInterval(() => {
      heldRows = Math.max(heldRows, recorder.pending);
      longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
      lastMs = performance.now();
      if (at < 30) record(`r${at}`);
      at += 1;
    }, 20);
    cleanUps.push(() => clearInterval(beat));
    await new Promise((resolve) => holder.once('exit', resolve));
    await until(() => at >= 30 && recorder.pending === 0);
    expect(heldRows).toBeGreaterThan(5);
    expect(longestGapMs).toBeLessThan(400);
    expect(idsStored()).toEqual(['first', ...Array.from({ length: 30 }, (_, index) => `r${index}`)]);
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringContaining('database is locked'), expect.stringContaining('written again')]);
  });

  test('is waited for by a write, and by the first opening of a database in another journal mode', async () => {
    makeOldDatabase();
    for (const id of ['a', 'b']) {
      const holder = await lockFor(300);
      const ended = new Promise((resolve) => holder.once('exit', resolve));
      await openSink({ busyTimeoutMs: 5000 }).write([rowOf({ id })]);
      await ended;
    }
    expect(idsStored().slice(3)).toEqual(['a', 'b']);
  });

  test('during the upgrade: it fails cleanly and is completed later, never half done (TD-06)', async () => {
    makeOldDatabase();
    const holder = await lockFor(20_000);
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    cleanUps.push(() => holder.kill('SIGKILL'));
    const sink = openSink({ busyTimeoutMs: 100 });
    await expect(sink.write([rowOf({ id: 'a' })])).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
    holder.kill();
    await ended;
    await sink.write([rowOf({ id: 'a' })]);
    expect(stored().at(-1)).toMatchObject({ id: 'a', stall_ms: 3000 });
  });

  test.each([
    ['exits', 'process.exit(7)', ''],
    ['gives the write up', "sink.abandon(); setTimeout(() => { console.log('alive'); process.exit(7); }, 1500)", 'alive\n'],
  ])('does not take down a process that %s while a write waits for it', async (_what, act, stdout) => {
    await openSink().open();
    const holder = await lockFor(4000);
    cleanUps.push(() => holder.kill('SIGKILL'));
    const program = `const sink = createSqliteSink({ file: process.argv[1], busyTimeoutMs: 1000 }); sink.write([]).then(() => undefined); sink.write([['a']]).catch(() => undefined); setTimeout(() => { ${act} }, 500);`;
    expect(runCode(program)).toEqual({ signal: null, status: 7, stdout, stderr: '' });
  });

  test('a write that was given up is done by another thread later, once (TD-12)', async () => {
    const sink = openSink({ busyTimeoutMs: 500 });
    await sink.open();
    const holder = await lockFor(300);
    const hung = sink.write([rowOf({ id: 'a' })]);
    sink.abandon();
    await Promise.allSettled([hung, sink.write([rowOf({ id: 'a' }), rowOf({ id: 'b' })])]);
    expect(idsStored()).toEqual(['a', 'b']);
    await new Promise((resolve) => (holder.exitCode === null ? holder.once('exit', resolve) : resolve(undefined)));
  });
});

describe('a database from before the stall columns', () => {
  test('gets them at the end; its rows read NULL, not 0; columns that are not ours stay (E2)', async () => {
    makeOldDatabase();
    withDatabase((db) => db.exec("ALTER TABLE llm_attempts ADD COLUMN cost REAL DEFAULT 2.5; PRAGMA user_version = 99"));
    await openSink().write([rowOf({ id: 'new' })]);
    const names = Object.keys(stored()[0]!);
    expect(names.slice(-3)).toEqual(['cost', 'stall_ms', 'stall_count']);
    expect(stored().map(({ id, stall_ms, stall_count }) => [id, stall_ms, stall_count])).toEqual([
      ['old-1', null, null], ['old-2', null, null], ['old-3', null, null], ['new', 3000, 1],
    ]);
    expect(withDatabase((db) => db.pragma('user_version', { simple: true }))).toBe(99);
  });

  test('is repaired at the start of a process though its version says the latest (TD-06 b)', async () => {
    withDatabase((db) => db.exec(`${schemaSql('sqlite')} ALTER TABLE llm_attempts DROP COLUMN stall_ms; PRAGMA user_version = 1000`));
    expect(await run('writeRow.mjs', file, 'a')).toEqual({ code: 0, output: '' });
    expect(stored().map(({ id, stall_ms, stall_count }) => [id, stall_ms, stall_count])).toEqual([['a', 5, 1]]);
  });

  test('of a version newer than ours, with a column of its own: rows are written, nothing is dropped or renamed (TD-06 c)', async () => {
    withDatabase((db) => db.exec(`${schemaSql('sqlite')} ALTER TABLE llm_attempts ADD COLUMN cost REAL DEFAULT 2.5; PRAGMA user_version = 1000`));
    const shape = (): unknown => withDatabase((db) => [db.prepare('SELECT type, name, sql FROM sqlite_schema').all(), db.pragma('user_version')]);
    const before = shape();
    expect(await run('writeRow.mjs', file, 'a')).toEqual({ code: 0, output: '' });
    expect(stored()).toEqual([expect.objectContaining({ id: 'a', cost: 2.5 })]);
    expect(shape()).toEqual(before);
  });

  test('manual: nothing is changed, the SQL to run is told, and rows flow once it was run (E2)', async () => {
    makeOldDatabase();
    const { recorder, troubles, record } = startRecorder({ schema: 'manual' });
    record('a');
    await until(() => troubles.length > 0);
    expect(troubles[0]).toContain('the table llm_attempts has no stall_ms, stall_count, and telemetrySchema is manual; run this SQL:\n');
    expect(Object.keys(stored()[0]!)).not.toContain('stall_ms');
    const sql = troubles[0]!.split('run this SQL:\n')[1]!;
    withDatabase((db) => db.exec(sql));
    await until(() => recorder.pending === 0);
    expect(idsStored()).toEqual(['old-1', 'old-2', 'old-3', 'a']);
  });

  test('manual: an empty database is told the whole schema, and one made by hand is used as it is', async () => {
    await expect(openSink({ schema: 'manual' }).open()).rejects.toMatchObject({ message: expect.stringContaining(schemaSql('sqlite')) });
    withDatabase((db) => db.exec(schemaSql('sqlite')));
    await openSink({ schema: 'manual' }).write([rowOf({ id: 'a' })]);
    expect(idsStored()).toEqual(['a']);
  });

  test('eight processes that open an old or an empty one at once and make a call each all store their row, again and again (TD-05)', async () => {
    const children = Array.from({ length: 8 }, () => startChild('upgrader.mjs', {}));
    cleanUps.push(() => children.forEach((child) => child.kill()));
    await Promise.all(children.map((child) => child.message()));
    const rounds = Array.from({ length: upgrades }, (_, round) => ['old', 'empty'].map((kind) => [kind, join(dir, `${kind}${round}.db`)] as const));
    for (const [kind, at] of rounds.flat()) {
      if (kind === 'old') makeOldDatabase(at);
      const told = children.map((child) => child.message<string[]>());
      children.forEach((child) => child.send(at));
      expect(await Promise.all(told)).toEqual(children.map(() => []));
      const rows = stored(at);
      expect(rows.filter(({ id }) => !id.startsWith('old-'))).toHaveLength(8);
      expect(rows.filter(({ id, stall_ms, stall_count }) => id.startsWith('old-') && stall_ms === null && stall_count === null)).toHaveLength(kind === 'old' ? 3 : 0);
      expect(withDatabase((db) => db.pragma('table_info(llm_attempts)') as { name: string }[], at).map(({ name }) => name).sort()).toEqual([...columnNames].sort());
      expect(withDatabase((db) => db.pragma('integrity_check', { simple: true }), at)).toBe('ok');
    }
  }, 20_000 + upgrades * 6000);

  test('many threads that upgrade one at the same moment all succeed (TD-05)', async () => {
    for (let round = 0; round < 2; round += 1) {
      const at = join(dir, `${round}.db`);
      makeOldDatabase(at);
      const sinks = Array.from({ length: 6 }, () => openSink({ file: at, busyTimeoutMs: 4000 }));
      await Promise.all(sinks.map((sink, index) => sink.write([rowOf({ id: `n${index}` })])));
      expect(idsStored(at)).toHaveLength(9);
      await Promise.all(sinks.map((sink) => sink.close()));
    }
  }, 20_000);
});

describe('a database that cannot be written (TD-02)', () => {
  const faults: Record<string, () => Partial<SqliteSinkOptions>> = {
    'in a missing directory': () => ({ file: join(dir, 'gone', 't.db') }),
    'that is a directory': () => ({ file: dir }),
    'that is no database': () => {
      writeFileSync(file, 'this is a text, and a rather long one, so that nobody takes it for a database'.repeat(20));
      return {};
    },
    'that is read-only': () => ({ pragmas: ['query_only = 1'] }),
  };

  test.each(Object.keys(faults))('%s: one message at the start, calls go on, every row is counted', async (kind) => {
    const { recorder, troubles, record } = startRecorder(faults[kind]!(), { closeLimitMs: 300 });
    await until(() => troubles.length > 0);
    for (let at = 0; at < 20; at += 1) record(`r${at}`);
    expect(recorder.pending + recorder.lost).toBe(20);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(troubles).toEqual([expect.stringContaining('telemetry cannot be written; rows are held and tried again, calls go on: sqlite:')]);
    await recorder.close();
    expect(recorder).toMatchObject({ pending: 0, lost: 20 });
    expect(troubles.length).toBeLessThanOrEqual(3);
    expect(troubles.at(-1)).toContain('20');
  });

  interface Called {
    slowestMs: number;
    troubles: string[];
    lost: number;
  }

  /** Twenty calls in a process that no file mode lets through. */
  async function twentyCalls(databaseFile: string): Promise<Called> {
    const { url } = await upstream(['d@0"ok" f@0']);
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const child = startChild('steadyCaller.mjs', { url, databaseFile, everyMs: 20, calls: 20 }, nobody);
    cleanUps.push(child.kill);
    const told = await child.message<Called>();
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
    return told;
  }

  test('read-only from the start, or in a missing directory: twenty calls succeed on time, one clear message, each attempt is counted', async () => {
    withDatabase((db) => db.exec(schemaSql('sqlite')));
    chmodSync(file, 0o444);
    chmodSync(dir, 0o555);
    cleanUps.push(() => chmodSync(dir, 0o755));
    const [readOnly, missing] = await Promise.all([twentyCalls(file), twentyCalls(join(dir, 'gone', 't.db'))]);
    for (const [{ slowestMs, troubles, lost }, why] of [[readOnly, /readonly database/], [missing, /directory does not exist/]] as const) {
      expect(slowestMs).toBeLessThan(3000);
      expect(troubles[0]).toMatch(/^telemetry cannot be written; rows are held and tried again, calls go on: sqlite:/);
      expect(troubles[0]).toMatch(why);
      expect(troubles.slice(1).every((message) => message.includes('lost'))).toBe(true);
      expect(troubles.length).toBeLessThanOrEqual(3);
      expect(lost).toBe(20);
    }
    expect(idsStored()).toEqual([]);
  }, 30_000);

  test('a directory that appears later is used', async () => {
    const later = join(dir, 'later');
    const { recorder, record } = startRecorder({ file: join(later, 't.db') });
    record('a');
    await new Promise((resolve) => setTimeout(resolve, 100));
    mkdirSync(later);
    await until(() => recorder.pending === 0);
    expect(idsStored(join(later, 't.db'))).toEqual(['a']);
  });

  interface FullDisk {
    options: Partial<SqliteSinkOptions>;
    free: () => void;
  }

  /** A limit on the pages of the file, used up by another table. */
  function fullByLimit(): FullDisk {
    withDatabase((db) => {
      db.exec(`${schemaSql('sqlite')} CREATE TABLE filler (bytes)`);
      db.prepare('INSERT INTO filler VALUES (zeroblob(400000))').run();
    });
    const pages = withDatabase((db) => db.pragma('page_count', { simple: true }) as number);
    return { options: { pragmas: [`max_page_count = ${pages}`] }, free: () => withDatabase((db) => db.exec('DELETE FROM filler')) };
  }

  /** A real file system of 1 MB, where this process may mount one. */
  function fullDisk(): FullDisk {
    const mountPoint = join(dir, 'disk');
    const filler = join(mountPoint, 'filler');
    mkdirSync(mountPoint);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountPoint]).status !== 0) return fullByLimit();
    cleanUps.unshift(() => spawnSync('umount', [mountPoint]));
    file = join(mountPoint, 'telemetry.db');
    withDatabase((db) => db.exec(schemaSql('sqlite')));
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1k', 'count=2048']);
    return { options: {}, free: () => rmSync(filler) };
  }

  test.each([
    ['a page limit', fullByLimit],
    ['a full disk', fullDisk],
  ])('%s: calls go on, rows are held, and all stored once there is room; a few messages', async (_kind, fill) => {
    const { options, free } = fill();
    const { recorder, troubles } = startRecorder(options);
    const { gateway } = gatewayTo([(await upstream(['d@0"ok" f@0'])).url]);
    const ids: string[] = [];
    gateway.events$.subscribe((event) => {
      if (event.type !== 'round-decided') return;
      recorder.record(event.records);
      ids.push(...event.records.map(({ id }) => id));
    });
    for (let i = 0; i < 40; i += 1) await gateway.chat(asks('hello', { tags: { long: 'x'.repeat(2000) } }));
    await until(() => troubles.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    // The last page may have had room for one or two.
    expect(recorder.pending).toBeGreaterThan(30);
    free();
    await until(() => recorder.pending === 0);
    expect(idsStored()).toEqual(ids);
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringMatching(/full|disk/), expect.stringContaining('written again')]);
    await recorder.close();
    expect(existsSync(file)).toBe(true);
  });
});
