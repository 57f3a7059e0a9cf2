import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { query, sharedPostgres } from '../support/postgresServer.js';
import type { SharedPostgres } from '../support/postgresServer.js';
import { startTcpProxy } from '../support/tcpProxy.js';
import type { TcpProxy } from '../support/tcpProxy.js';
import { until } from '../support/until.js';
import { createPostgresScene, idsIn, makeOldTable, numbered, rowOf, rowsIn, sessions, untilInserting } from './postgresScene.js';
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

describe('a table that changes under the sink (TD-06)', () => {
  test.each([
    ['a column is dropped', 'ALTER TABLE llm_attempts DROP COLUMN stall_ms'],
    ['the table is dropped', 'DROP TABLE llm_attempts'],
    ['the table is renamed', 'ALTER TABLE llm_attempts RENAME TO llm_attempts_2025'],
  ])('%s: it is repaired at the next write, and the row is stored', async (_kind, change) => {
    const { recorder, troubles, record, settled } = scene.startRecorder();
    record('a');
    await settled();
    await query(url, change);
    record('b');
    await settled();
    expect(await rowsIn(url, 'id, stall_ms')).toEqual([...(change.includes('COLUMN') ? [{ id: 'a', stall_ms: null }] : []), { id: 'b', stall_ms: '3000' }]);
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringMatching(/does not exist/), expect.stringContaining('written again')]);
  });
});

describe('a lock of another session', () => {
  test('does not stop the event loop; every row is stored once, when it is gone (E4, TD-01)', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder({ lockTimeoutMs: 150 });
    record('first');
    await settled();
    const holder = await scene.openSession();
    await holder.query('BEGIN; LOCK TABLE llm_attempts');
    const ids = numbered(20);
    let longestGapMs = 0;
    for (const id of ids) {
      const startMs = performance.now();
      record(id);
      await new Promise((resolve) => setTimeout(resolve, 20));
      longestGapMs = Math.max(longestGapMs, performance.now() - startMs);
    }
    await until('trouble is told', () => Promise.resolve(troubles.length > 0));
    expect(recorder.pending).toBe(20);
    await holder.query('COMMIT');
    await settled();
    expect(await idsIn(url)).toEqual(['first', ...ids].sort());
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringContaining('lock timeout (55P03)'), expect.stringContaining('written again')]);
    expect(longestGapMs).toBeLessThan(1000);
  });

  test('during the upgrade: it fails cleanly and is completed later, never half done (TD-06)', async () => {
    await makeOldTable(url);
    const holder = await scene.openSession();
    await holder.query('BEGIN; SELECT count(*) FROM llm_attempts');
    const sink = scene.openSink({ lockTimeoutMs: 100 });
    await expect(sink.write([rowOf({ id: 'a' })])).rejects.toMatchObject({ code: '55P03' });
    expect(Object.keys((await rowsIn(url))[0]!)).not.toContain('stall_ms');
    await holder.query('COMMIT');
    await sink.write([rowOf({ id: 'a' })]);
    expect((await rowsIn(url))[0]).toMatchObject({ id: 'a', stall_ms: '3000' });
  });

  test('a statement that takes too long is given up by the server', async () => {
    const sink = scene.openSink({ statementTimeoutMs: 500 });
    await sink.open();
    await query(url, sleepyInserts(10));
    await expect(sink.write([rowOf({ id: 'a' })])).rejects.toMatchObject({ code: '57014' });
    expect(await idsIn(url)).toEqual([]);
  });

  test('a hung insert is given up by its limit, and later rows still flow, each once (TD-12)', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder({}, { writeLimitMs: 200 });
    record('a');
    await settled();
    const holder = await scene.openSession();
    await holder.query('BEGIN; LOCK TABLE llm_attempts');
    record('b');
    await until('trouble is told', () => Promise.resolve(troubles.length > 0));
    await holder.query('COMMIT');
    record('c');
    await settled();
    expect(await idsIn(url)).toEqual(['a', 'b', 'c']);
    expect(recorder.lost).toBe(0);
    expect(troubles[0]).toContain('no answer within 0.2 s');
  });
});

/** Every insert takes so long on the server. */
const sleepyInserts = (seconds: number): string =>
  `CREATE FUNCTION sleepy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END $$;
   CREATE TRIGGER sleepy AFTER INSERT ON llm_attempts FOR EACH STATEMENT EXECUTE FUNCTION sleepy()`;

describe('a connection that dies (TD-08)', () => {
  const killOurs = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'polygateway' AND datname = current_database()";
  const ids = numbered(10);

  test('while it is idle: the process lives, all rows are stored, and at most one trouble is told', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder();
    record(...ids.slice(0, 5));
    await settled();
    await query(url, killOurs);
    await until('our sessions are gone', async () => (await sessions(url)).length === 0);
    record(...ids.slice(5));
    await settled();
    expect(await idsIn(url)).toEqual(ids);
    expect(recorder.lost).toBe(0);
    expect(troubles.length).toBeLessThanOrEqual(2);
  });

  test('in the middle of a batch: rows are stored once, not twice', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder();
    record(...ids.slice(0, 5));
    await settled();
    const holder = await scene.openSession();
    await holder.query('BEGIN; LOCK TABLE llm_attempts');
    record(...ids.slice(5));
    await untilInserting(url);
    await query(url, killOurs);
    await holder.query('COMMIT');
    await settled();
    expect(await idsIn(url)).toEqual(ids);
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringMatching(/terminat/), expect.stringContaining('written again')]);
  });

  describe('behind a proxy', () => {
    let proxy: TcpProxy;
    let behind: PostgresScene;

    beforeEach(async () => {
      const { port, host } = new URL(url);
      if (!host.startsWith('127.') && !host.startsWith('localhost')) throw new Error('POSTGRES_URL must name a server of this machine for this spec: leave it out.');
      proxy = await startTcpProxy(Number(port || 5432));
      const address = new URL(url);
      address.port = String(proxy.port);
      behind = createPostgresScene(address.href);
    });
    afterEach(async () => {
      await behind.close();
      await proxy.stop();
    });

    test('after the commit, before its reply: rows are stored once', async () => {
      const { recorder, troubles, record, settled } = behind.startRecorder();
      record('a');
      await settled();
      await query(url, sleepyInserts(0.3));
      record(...ids);
      await untilInserting(url);
      proxy.dropNextReply();
      await settled();
      expect(await idsIn(url)).toEqual(['a', ...ids]);
      expect(recorder.lost).toBe(0);
      expect(troubles).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('written again')]);
    });

    test('without a word: a write is given up in time, and rows flow once it talks again', async () => {
      const { recorder, troubles, record, settled } = behind.startRecorder({ statementTimeoutMs: 500, connectTimeoutMs: 200 }, { writeLimitMs: 60_000 });
      record('a');
      await settled();
      proxy.swallow();
      record('b');
      await until('trouble is told', () => Promise.resolve(troubles.length > 0));
      record('c');
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(recorder.pending).toBe(2);
      proxy.flow();
      await settled();
      expect(await idsIn(url)).toEqual(['a', 'b', 'c']);
      expect(recorder.lost).toBe(0);
      expect(troubles).toHaveLength(2);
    });

    test('without a word: closing comes to its end, and what was not written is counted', async () => {
      const { recorder, record, settled } = behind.startRecorder({}, { closeLimitMs: 200 });
      record('a');
      await settled();
      proxy.swallow();
      record('b');
      await recorder.close();
      expect(recorder).toMatchObject({ pending: 0, lost: 1 });
      await until('our connections are closed', () => Promise.resolve(proxy.connections === 0));
    });
  });
});

describe('a database that cannot be reached (TD-02)', () => {
  const change = (over: Partial<Pick<URL, 'port' | 'pathname' | 'username' | 'hostname'>>): string => Object.assign(new URL(url), { password: 'geheim-geheim' }, over).href;

  test.each([
    ['nobody listens', () => change({ port: '9' }), /ECONNREFUSED.*; start the server/],
    ['there is no such host', () => change({ hostname: 'no-such-host.invalid' }), /invalid/],
    ['there is no such database', () => change({ pathname: '/nowhere' }), /"nowhere" does not exist \(3D000\); create the database/],
  ])('%s: one message at the start with the remedy and no password, calls go on, every row is counted', async (_kind, address, message) => {
    const away = createPostgresScene(address());
    const { recorder, troubles, record } = away.startRecorder({}, { closeLimitMs: 200 });
    await until('trouble is told', () => Promise.resolve(troubles.length > 0));
    record(...numbered(20));
    expect(recorder.pending).toBe(20);
    await away.close();
    expect(recorder).toMatchObject({ pending: 0, lost: 20 });
    expect(troubles[0]).toMatch(/^telemetry cannot be written; rows are held and tried again, calls go on: postgres:\/\//);
    expect(troubles[0]).toMatch(message);
    expect(troubles.length).toBeLessThanOrEqual(3);
    expect(troubles.join()).not.toContain('geheim');
  });
});
