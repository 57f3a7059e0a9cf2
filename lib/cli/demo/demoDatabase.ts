import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { tableName } from '../../telemetry/schema.js';

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
  prepare(sql: string): { pluck(): { get(...values: readonly string[]): unknown } };
  close(): void;
}

type SqliteClass = new (file: string, options?: { readonly: boolean }) => Sqlite;

/** `undefined` if better-sqlite3 is not installed, or does not run here. */
export function openDemoDatabase(keep: string | undefined): DemoDatabase | undefined {
  const Database = loadSqlite();
  if (Database === undefined) return undefined;
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

function countRows(database: Sqlite, callIds: readonly string[]): number {
  const count = database.prepare(`SELECT count(*) FROM ${tableName} WHERE call_id IN (SELECT value FROM json_each(?))`).pluck();
  try {
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
