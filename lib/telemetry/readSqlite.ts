import { existsSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { codeOf, messageOf } from '../model/errors.js';
import { loadPeer } from '../model/loadPeer.js';
import type { RawRow } from './readAttempt.js';
import { selectList } from './readAttempt.js';
import { TelemetryUnreadableError } from './readFailure.js';
import { conditionOf } from './readFilter.js';
import { countMatches, findMatches, foundRows } from './readMatches.js';
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

  const connect = (): Sqlite.Database => told(() => new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs }));
  const db = connect();

  function close(): void {
    db.close();
    if (!inUse) removeTraces(Database, file);
  }

  const condition = conditionOf(filter, 'sqlite');
  const isAll = condition.sql === 'true';
  let columns: string;
  try {
    columns = selectList(told(() => columnsOf(db)), (problem) => unreadable(file, problem));
  } catch (error: unknown) {
    close();
    throw error;
  }

  return {
    place: placeOf(file),
    async count() {
      if (isAll) return told(() => db.prepare<[], number>(`SELECT count(*) FROM ${tableName}`).pluck().get() ?? 0);
      let count = 0;
      for await (const found of turnByTurn(countMatches(db, condition), told)) count += found;
      return count;
    },
    async *pages() {
      // One of its own: what is found on the way is kept in it.
      const reading = connect();
      try {
        if (!isAll) yield* turnByTurn(findMatches(reading, condition), told);
        const from = isAll ? `${tableName} ORDER BY call_id` : foundRows;
        const rows = told(() => reading.prepare<[], RawRow>(`SELECT ${columns} FROM ${from}`).raw().iterate());
        yield* turnByTurn(inPages(rows), told);
      } finally {
        reading.close();
      }
    },
    cancel: () => undefined,
    close: () => deferred(close),
  };
}

/** The driver works on this thread: without turns of the loop nothing is drawn and no signal is heard. */
async function* turnByTurn<T>(steps: Generator<T, void, undefined>, told: <R>(work: () => R) => R): AsyncGenerator<T, void, undefined> {
  try {
    for (let step = told(() => steps.next()); step.done !== true; step = told(() => steps.next())) {
      yield step.value;
      await nextTurn();
    }
  } finally {
    steps.return();
  }
}

/** What it throws rejects. */
function deferred<T>(work: () => T): Promise<T> {
  return Promise.resolve().then(work);
}

function* inPages<T>(items: Iterable<T>): Generator<readonly T[], void, undefined> {
  let page: T[] = [];
  for (const item of items) {
    page.push(item);
    if (page.length < pageRows) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
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
