import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttemptRow } from '../../lib/index.js';
import { startChild } from './children/startChild.js';
import type { Child } from './children/startChild.js';
import { closeAfterTest, closeAll, until } from './scene.js';

interface Host {
  pid: number;
  /** How many listen to each signal. */
  before: number[];
  during: number[];
  after: number[];
}

interface ClosedEarly {
  ends: object;
  rows: Record<string, string | null>;
  troubles: string[];
  left: object;
  atMs: number;
}

interface Called {
  slowestMs: number;
  troubles: string[];
  lost: number;
}

let folder: string;
let counted: Child;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orderly-stop-'));
  counted = startChild('countedUpstream.mjs', { everyMs: 20 });
  url = await counted.message<string>();
}, 20_000);

afterEach(closeAll);

afterAll(() => {
  counted.kill();
  rmSync(folder, { recursive: true });
});

function start(name: string, options: object): Child {
  const child = startChild(name, { url, ...options });
  closeAfterTest(child.kill);
  return child;
}

function rowsIn(databaseFile: string): Pick<AttemptRow, 'id' | 'error_class'>[] {
  const db = new Database(databaseFile, { readonly: true });
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    return db.prepare('SELECT id, error_class FROM llm_attempts ORDER BY rowid').all() as AttemptRow[];
  } finally {
    db.close();
  }
}

describe('TD-04: a service with an idle port and a gateway that has made calls', () => {
  test('without a handler SIGTERM ends it, and the gateway never listens to a signal', async () => {
    const host = start('host.mjs', { databaseFile: join(folder, 'bare.db'), handles: false });
    const { pid, before, during, after } = await host.message<Host>();
    expect([before.slice(0, 3), during, after]).toEqual([[0, 0, 0], before, before]);
    process.kill(pid, 'SIGTERM');
    expect(await host.ended).toEqual({ code: null, signal: 'SIGTERM', stderr: '' });
  }, 20_000);

  test('with handlers of its own they run once for each signal, in their order, and the exit code is theirs', async () => {
    const databaseFile = join(folder, 'handles.db');
    const host = start('host.mjs', { databaseFile, handles: true });
    const { pid, before, during, after } = await host.message<Host>();
    expect([before.slice(0, 3), during, after]).toEqual([[1, 0, 0], before, before]);
    for (const ran of [['host', 'last'], ['host', 'last', 'host', 'last']]) {
      const told = host.message();
      process.kill(pid, 'SIGTERM');
      expect(await told).toEqual(ran);
    }
    expect(await host.ended).toEqual({ code: 7, signal: null, stderr: '' });
    expect(rowsIn(databaseFile)).toHaveLength(4);
  }, 20_000);
});

test('E5: close() with a hundred of 200 calls in flight stores every row, once, and the process then ends by itself', async () => {
  const databaseFile = join(folder, 'early.db');
  const child = start('closesEarly.mjs', { databaseFile });
  const { ends, rows, troubles, left, atMs } = await child.message<ClosedEarly>();
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
  expect(Date.now() - atMs).toBeLessThan(4000);
  expect({ ends, troubles, left }).toEqual({ ends: { answered: 100, GatewayClosedError: 100 }, troubles: [], left: { calls: 0, attempts: 0, waiters: 0 } });
  const stored = rowsIn(databaseFile);
  expect(stored).toHaveLength(200);
  expect(Object.fromEntries(stored.map(({ id, error_class }) => [id, error_class]))).toEqual(rows);
  expect(stored.filter(({ error_class }) => error_class === 'caller_cancelled')).toHaveLength(100);
}, 30_000);

test('E4: after kill -9 the database is whole, lacks at most the last batch, and the next process goes on with it', async () => {
  const [databaseFile, noteFile, copies] = ['killed.db', 'notes', 'copies'].map((name) => join(folder, name)) as [string, string, string];
  const accepted = (): string[] => (existsSync(noteFile) ? readFileSync(noteFile, 'utf8').split('\n').slice(0, -1) : []);
  const child = start('steadyCaller.mjs', { databaseFile, noteFile, everyMs: 8 });
  await until(() => accepted().length >= 150, '150 rows accepted', 15_000);
  child.kill();
  expect(await child.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' });

  mkdirSync(copies);
  for (const ending of ['', '-wal', '-shm']) cpSync(databaseFile + ending, join(copies, `killed.db${ending}`));
  const stored = rowsIn(join(copies, 'killed.db')).map(({ id }) => id);
  expect(stored).toEqual(accepted().slice(0, stored.length));
  expect(accepted().length - stored.length).toBeLessThanOrEqual(100);

  const next = start('steadyCaller.mjs', { databaseFile, everyMs: 8, calls: 20 });
  expect(await next.message<Called>()).toMatchObject({ troubles: [], lost: 0 });
  expect(rowsIn(databaseFile).map(({ id }) => id).slice(0, stored.length)).toEqual(stored);
  expect(rowsIn(databaseFile)).toHaveLength(stored.length + 20);
}, 40_000);
