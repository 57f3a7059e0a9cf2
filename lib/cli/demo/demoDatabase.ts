import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '../../model/errors.js';
import { tableName } from '../../telemetry/schema.js';
import { WrongUse } from '../wrongUse.js';

/** Where the rows of the demo go, and how many have come there. */
export interface DemoDatabase {
  readonly file: string;
  /** The setting that names the file. */
  readonly url: string;
  /** Rows of these calls; reads the file. */
  rowsOf(this: void, callIds: readonly string[]): number;
  /** Removes the file, unless it is to be kept. */
  remove(this: void): void;
}

/** What is needed of better-sqlite3, which is an optional peer. */
interface Sqlite {
  exec(sql: string): unknown;
  prepare(sql: string): { pluck(): { get(...values: readonly string[]): unknown } };
  close(): void;
}

type SqliteClass = new (file: string, options?: { readonly: boolean }) => Sqlite;

/** `undefined` if better-sqlite3 is not installed, or does not run here. Throws `WrongUse` where rows cannot be kept in `keep`. */
export function openDemoDatabase(keep: string | undefined): DemoDatabase | undefined {
  const Database = loadSqlite();
  if (Database === undefined) return undefined;
  if (keep !== undefined) tryToWrite(Database, keep);
  const folder = keep === undefined ? mkdtempSync(join(tmpdir(), 'polygateway-demo-')) : undefined;
  const file = keep === undefined ? join(folder ?? '', 'telemetry.db') : resolve(keep);
  return {
    file,
    url: `sqlite:${file.replace(/[%?#]/g, encodeURIComponent)}`,
    rowsOf: (callIds) => countRows(new Database(file, { readonly: true }), callIds),
    remove: () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Before anything is played: the gateway would only tell that rows are not written, and go on. */
function tryToWrite(Database: SqliteClass, keep: string): void {
  try {
    const database = new Database(resolve(keep));
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK');
    } finally {
      database.close();
    }
  } catch (error: unknown) {
    throw new WrongUse(`--db ${keep} cannot be used: ${messageOf(error)}`);
  }
}

function countRows(database: Sqlite, callIds: readonly string[]): number {
  try {
    const count = database.prepare(`SELECT count(*) FROM ${tableName} WHERE call_id IN (SELECT value FROM json_each(?))`).pluck();
    return count.get(JSON.stringify(callIds)) as number;
  } finally {
    database.close();
  }
}

function loadSqlite(): SqliteClass | undefined {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3') as SqliteClass;
    // Only opening one tells whether the binary for this Node is there.
    new Database(':memory:').close();
    return Database;
  } catch {
    return undefined;
  }
}
