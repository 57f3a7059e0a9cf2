import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Sqlite from 'better-sqlite3';
import { codeOf, messageOf } from '../model/errors.js';
import { migrateSqlite } from './migrateSqlite.js';
import { insertSql, tableName, type SchemaMode } from './schema.js';

export interface SqliteStoreOptions {
  readonly file: string;
  readonly schema: SchemaMode;
  /** How long a write waits for another process's lock. */
  readonly busyTimeoutMs: number;
  /** Further PRAGMAs for the connection, such as `cache_size = 100`. */
  readonly pragmas: readonly string[];
}

export type RowValues = readonly (string | number | null)[];

/** Rows that can never be stored: how many, and why the first of them was refused. */
export interface Refused {
  count: number;
  why?: string;
}

export interface SqliteStore {
  /** Stores rows in one transaction, opening the database if need be. Throws if none was stored. Blocks while it waits. */
  insert(rows: readonly RowValues[]): Refused;
  close(): void;
}

interface Connection {
  readonly db: Sqlite.Database;
  readonly inode: number;
  readonly insert: (rows: readonly RowValues[]) => Refused;
}

/** The synchronous side of the SQLite sink, to be used on a thread that may block. */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  let connection: Connection | undefined;

  function close(): void {
    connection?.db.close();
    connection = undefined;
  }

  return {
    insert(rows) {
      // SQLite goes on writing into a file that was deleted, where nobody will read it.
      if (connection && inodeOf(options.file) !== connection.inode) close();
      connection ??= connect(options);
      try {
        return connection.insert(rows);
      } catch (error: unknown) {
        // What a failure left behind is not looked into: the next try starts from the file, and repairs the table too.
        close();
        throw error;
      }
    },
    close,
  };
}

function connect({ file, schema, busyTimeoutMs, pragmas }: SqliteStoreOptions): Connection {
  const Database = createRequire(import.meta.url)('better-sqlite3') as typeof Sqlite;
  // No wait inside the driver: a thread that is ended during one takes the whole process down when the driver then throws.
  const db = new Database(file, { timeout: 0 });
  try {
    const insert = untilFree(busyTimeoutMs, () => {
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = NORMAL');
      for (const pragma of pragmas) db.pragma(pragma);
      migrateSqlite(db, schema);
      return inserter(db);
    });
    return { db, inode: inodeOf(file), insert: (rows) => untilFree(busyTimeoutMs, () => insert(rows)) };
  } catch (error: unknown) {
    db.close();
    throw error;
  }
}

function inserter(db: Sqlite.Database): Connection['insert'] {
  const insert = db.prepare(insertSql());
  const find = db.prepare(`SELECT 1 FROM ${tableName} WHERE id = ?`);
  const insertAll = db.transaction((rows: readonly RowValues[]): Refused => {
    const refused: Refused = { count: 0 };
    for (const row of rows) {
      const why = insertOne(insert, find, row);
      if (why === undefined) continue;
      refused.count += 1;
      refused.why ??= why;
    }
    return refused;
  });
  return (rows) => (rows.length === 0 ? { count: 0 } : insertAll.immediate(rows));
}

/** Why this row can't be stored, whatever becomes of the others; throws what concerns them all. */
function insertOne(insert: Sqlite.Statement, find: Sqlite.Statement, row: RowValues): string | undefined {
  try {
    if (insert.run(row).changes > 0) return undefined;
    // OR IGNORE passes over a row that is there, but over one that breaks a constraint of the table too.
    return find.get(row[0]) === undefined ? 'a constraint of the table refuses it' : undefined;
  } catch (error: unknown) {
    if (isOfRow(error)) return messageOf(error);
    throw error;
  }
}

/** Does the work again and again while another connection holds a lock; a wait here ends at once with the thread. */
function untilFree<T>(limitMs: number, work: () => T): T {
  const endMs = performance.now() + limitMs;
  for (;;) {
    try {
      return work();
    } catch (error: unknown) {
      if (!codeOf(error)?.startsWith('SQLITE_BUSY') || performance.now() > endMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20);
    }
  }
}

function isOfRow(error: unknown): boolean {
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|$)/.test(codeOf(error) ?? '');
}

function inodeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? -1;
}
