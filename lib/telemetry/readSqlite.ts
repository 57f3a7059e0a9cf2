import { existsSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { codeOf, messageOf } from '../model/errors.js';
import { loadPeer } from '../model/loadPeer.js';
import type { RawRow } from './readAttempt.js';
import { selectList } from './readAttempt.js';
import { TelemetryUnreadableError } from './readFailure.js';
import { conditionOf } from './readFilter.js';
import { pageRows } from './readRows.js';
import type { RowReader, RowReaderOptions } from './readRows.js';
import { tableName } from './schema.js';

export interface SqliteRowsOptions extends RowReaderOptions {
  readonly file: string;
}

// Only a database in another mode than WAL makes a reader wait, and the event loop with it.
const busyTimeoutMs = 2000;

/** Opens the table of a SQLite file, which another process may be writing. Throws `TelemetryUnreadableError`, or `ConfigError` if `better-sqlite3` is not installed. */
export function openSqliteRows({ file, filter }: SqliteRowsOptions): RowReader {
  const Database = loadPeer({ name: 'better-sqlite3', neededBy: 'reading a SQLite database' }) as typeof Sqlite;
  const inUse = existsSync(walOf(file));

  function told<T>(work: () => T): T {
    try {
      return work();
    } catch (error: unknown) {
      throw unreadable(file, reasonOf(error, file));
    }
  }

  const db = told(() => new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs }));

  function close(): void {
    db.close();
    if (!inUse) removeTraces(Database, file);
  }

  const { sql, values } = conditionOf(filter, 'sqlite');
  let columns: string;
  try {
    columns = selectList(told(() => columnsOf(db)), (problem) => unreadable(file, problem));
  } catch (error: unknown) {
    close();
    throw error;
  }

  return {
    place: placeOf(file),
    count: () => deferred(() => told(() => db.prepare<unknown[], number>(`SELECT count(*) FROM ${tableName} WHERE ${sql}`).pluck().get(...values) ?? 0)),
    async *pages() {
      const rows = told(() => db.prepare<unknown[], RawRow>(`SELECT ${columns} FROM ${everyRow(sql)}`).raw().iterate(...values));
      try {
        for (;;) {
          const page = told(() => take(rows, pageRows));
          if (page.length === 0) return;
          yield page.filter((row) => row.some((value) => value !== null));
          // The driver works on this thread: without a turn of the loop nothing is drawn and no signal is heard.
          await nextTurn();
        }
      } finally {
        rows.return?.();
      }
    },
    cancel: () => undefined,
    close: () => deferred(close),
  };
}

/**
 * Every row in the order of its call, empty where the condition is false: a step of the statement is never a long search for
 * the next one that matches, which would hold up the event loop.
 */
function everyRow(condition: string): string {
  if (condition === 'true') return `${tableName} ORDER BY call_id`;
  const judged = `SELECT rowid AS place, call_id AS of_call, (${condition}) AS matches FROM ${tableName}`;
  return `(${judged}) LEFT JOIN ${tableName} AS attempt ON matches AND attempt.rowid = place ORDER BY of_call`;
}

/** What it throws rejects. */
function deferred<T>(work: () => T): Promise<T> {
  return Promise.resolve().then(work);
}

function take<T>(items: Iterator<T, unknown>, count: number): readonly T[] {
  const taken: T[] = [];
  for (let next = items.next(); next.done !== true; next = items.next()) {
    taken.push(next.value);
    if (taken.length === count) break;
  }
  return taken;
}

function columnsOf(db: Sqlite.Database): readonly string[] {
  return (db.pragma(`table_info(${tableName})`) as readonly { name: string }[]).map(({ name }) => name);
}

/**
 * Even a reader puts two files beside a database in WAL mode, and SQLite lets only a writer take them away again, which it
 * does when it is the last one to go. Not done where they were there before: what they hold is another's to bring home.
 */
function removeTraces(Database: typeof Sqlite, file: string): void {
  if (!existsSync(walOf(file))) return;
  try {
    const db = new Database(file, { fileMustExist: true, timeout: 0 });
    try {
      db.pragma('user_version');
    } finally {
      db.close();
    }
  } catch {
    // Whoever may not write here leaves them, empty.
  }
}

function walOf(file: string): string {
  return `${file}-wal`;
}

function placeOf(file: string): string {
  return `sqlite:${file}`;
}

function unreadable(file: string, why: string): TelemetryUnreadableError {
  return new TelemetryUnreadableError(`${placeOf(file)}: ${why}`);
}

const reasons: readonly (readonly [code: RegExp, why: string])[] = [
  [/^SQLITE_NOTADB/, 'this is not a SQLite database; correct the path'],
  [/^SQLITE_READONLY/, 'the folder cannot be written, where SQLite has to put a file beside a database in WAL mode; copy the database to another folder and read the copy'],
  [/^SQLITE_(BUSY|LOCKED)/, `another process has locked the database for more than ${busyTimeoutMs / 1000} s; try again when it is done`],
  [/^SQLITE_CORRUPT/, 'the file is damaged; look what `PRAGMA integrity_check` says, and read a copy made with `.recover`'],
  [/^SQLITE_(CANTOPEN|PERM|AUTH)/, 'this user may not read it; change its rights, or run as its owner'],
];

function fileProblem(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? undefined : 'this is no file; name the file of the database';
  } catch (error: unknown) {
    if (codeOf(error) === 'EACCES') return 'this user may not look there; change the rights of its folder, or run as its owner';
    return 'there is no such file; correct the path, which is read from the working directory';
  }
}

function reasonOf(error: unknown, file: string): string {
  const problem = fileProblem(file);
  if (problem !== undefined) return problem;
  const code = codeOf(error) ?? '';
  return reasons.find(([pattern]) => pattern.test(code))?.[1] ?? `${messageOf(error)}${code && ` (${code})`}; look whether it is a file that SQLite can read`;
}
