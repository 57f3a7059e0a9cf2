import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { schemaSql } from '../../lib/telemetry/schema.js';
import { query, startPostgres } from '../support/postgresServer.js';
import type { PostgresServer } from '../support/postgresServer.js';
import { testCertificates } from '../support/testCertificates.js';
import { until } from '../support/until.js';
import { attemptRecord } from './attemptRecord.js';
import { createPostgresScene, idsIn, numbered, rowOf, untilInserting } from './postgresScene.js';
import type { PostgresScene } from './postgresScene.js';

jest.setTimeout(60_000);

let server: PostgresServer;
let url: string;
let scene: PostgresScene;

beforeAll(async () => {
  server = await startPostgres({ tls: testCertificates().valid });
});
afterAll(() => server.stop());

beforeEach(async () => {
  url = await server.createDatabase();
  scene = createPostgresScene(url);
});
afterEach(() => scene.close());

describe('a server that restarts', () => {
  test('in the middle of a run: the process lives, and every row is stored exactly once (TD-08)', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder();
    const ids = numbered(100);
    const restarted = server.pid;
    let restart: Promise<void> | undefined;
    for (const [at, id] of ids.entries()) {
      record(id);
      if (at === 30) restart = server.restart();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await restart;
    await settled();
    expect(server.pid).not.toBe(restarted);
    expect(await idsIn(url)).toEqual(ids);
    expect(recorder.lost).toBe(0);
    expect(troubles.length).toBeLessThanOrEqual(2);
  });

  test('while the sink is idle, and stays away for a while: rows are held, one trouble is told, and its end (TD-08)', async () => {
    const { recorder, troubles, record, settled } = scene.startRecorder();
    const ids = numbered(10);
    record(...ids.slice(0, 5));
    await settled();
    await server.shutDown();
    record(...ids.slice(5));
    await until('trouble is told', () => Promise.resolve(troubles.length > 0));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(recorder.pending).toBe(5);
    await server.restart();
    await settled();
    expect(await idsIn(url)).toEqual(ids);
    expect(recorder.lost).toBe(0);
    expect(troubles).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('written again')]);
  });
});

describe('a connection with TLS', () => {
  test('carries rows, and is dropped whatever it waits for', async () => {
    const encrypted = createPostgresScene(`${url}?sslmode=no-verify`);
    const sink = encrypted.openSink();
    await sink.write([rowOf({ id: 'a' })]);
    expect(await query(url, "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'polygateway'")).toEqual([{ ssl: true }]);
    const holder = await scene.openSession();
    await holder.query('BEGIN; LOCK TABLE llm_attempts');
    const hung = sink.write([rowOf({ id: 'b' })]);
    const refused = expect(hung).rejects.toThrow(/terminat/);
    await untilInserting(url);
    sink.abandon();
    await refused;
    await holder.query('COMMIT');
    await sink.write([rowOf({ id: 'c' })]);
    expect(await idsIn(url)).toEqual(expect.arrayContaining(['a', 'c']));
    await encrypted.close();
  });

  test('is refused where the certificate is not trusted', async () => {
    const strict = createPostgresScene(`${url}?sslmode=verify-full`);
    await expect(strict.openSink().open()).rejects.toThrow(/certificate/);
    await strict.close();
  });
});

describe('a full disk (TD-02)', () => {
  interface FullDisk {
    readonly free: () => Promise<unknown>;
    readonly remove: () => Promise<void>;
  }

  /** The table lies on a file system of its own of 2 MB, where this process may mount one. */
  async function fullFileSystem(): Promise<FullDisk> {
    const folder = mkdtempSync(join(tmpdir(), 'polygateway-disk-'));
    server.giveTo(folder);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]).status !== 0) {
      rmSync(folder, { recursive: true });
      return fullByTrigger();
    }
    const space = join(folder, 'space');
    const filler = join(folder, 'filler');
    mkdirSync(space);
    server.giveTo(space);
    await query(url, `CREATE TABLESPACE small LOCATION '${space}'`);
    await query(url, `SET default_tablespace = small; ${schemaSql('postgres')}`);
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']);
    return {
      free: () => rm(filler),
      async remove() {
        await query(url, 'DROP TABLE llm_attempts');
        await query(url, 'DROP TABLESPACE small');
        spawnSync('umount', [folder]);
        rmSync(folder, { recursive: true });
      },
    };
  }

  /** The server says that the disk is full, though it is not. */
  async function fullByTrigger(): Promise<FullDisk> {
    await query(
      url,
      `${schemaSql('postgres')}
       CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER fill BEFORE INSERT ON llm_attempts FOR EACH ROW EXECUTE FUNCTION fill()`,
    );
    return { free: () => query(url, 'DROP TRIGGER fill ON llm_attempts'), remove: () => Promise.resolve() };
  }

  test.each([
    ['of the file system', fullFileSystem],
    ['as the server says', fullByTrigger],
  ])('%s: rows are held, and all stored once there is room; two messages', async (_kind, fill) => {
    const { free, remove } = await fill();
    try {
      const { recorder, troubles, settled } = scene.startRecorder();
      const ids = numbered(60);
      recorder.record(ids.map((id, at) => attemptRecord({ id, errorMessage: Array.from({ length: 1500 }, (_, place) => Math.floor(Math.abs(Math.sin(at * 2000 + place)) * 36).toString(36)).join('') })));
      await until('trouble is told', () => Promise.resolve(troubles.length > 0));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(recorder.pending).toBe(60);
      await free();
      await settled();
      expect(await idsIn(url)).toEqual(ids);
      expect(recorder.lost).toBe(0);
      expect(troubles).toEqual([expect.stringMatching(/No space left on device.*\(53100\); make room on the disk/), expect.stringContaining('written again')]);
    } finally {
      await scene.close();
      await remove();
    }
  });
});
