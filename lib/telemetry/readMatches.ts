import type Sqlite from 'better-sqlite3';
import type { RawRow } from './readAttempt.js';
import type { Condition } from './readFilter.js';
import { pageRows } from './readRows.js';
import { tableName } from './schema.js';

const matches = 'matching_attempts';

/** The rows that `findMatches` has found, in the order of their calls. */
export const foundRows = `temp.${matches} AS found CROSS JOIN ${tableName} AS attempt ON attempt.rowid = found.place ORDER BY found.of_call`;

/**
 * Finds the rows that match; gives an empty page after each step, since one long search would hold up the event loop. It goes
 * through the table as it is stored, which is many times quicker than by its calls, and sees one state of it until the connection is closed.
 */
export function* findMatches(db: Sqlite.Database, { sql, values }: Condition): Generator<readonly RawRow[], void, undefined> {
  db.exec('BEGIN');
  db.exec(`CREATE TEMP TABLE ${matches} (of_call TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (of_call, place)) WITHOUT ROWID`);
  const find = db.prepare(`INSERT INTO temp.${matches} SELECT ifnull(call_id, ''), rowid FROM ${tableName} WHERE rowid > ? AND rowid <= ? AND (${sql})`);
  for (const slice of slicesOf(db)) {
    find.run(...slice, ...values);
    yield [];
  }
}

/** How many rows of each slice of the table match. */
export function* countMatches(db: Sqlite.Database, { sql, values }: Condition): Generator<number, void, undefined> {
  const count = db.prepare<unknown[], number>(`SELECT count(*) FROM ${tableName} WHERE rowid > ? AND rowid <= ? AND (${sql})`).pluck();
  for (const slice of slicesOf(db)) yield count.get(...slice, ...values) ?? 0;
}

/** A page of rows each; bounds of rowids, the first exclusive, which may be far apart. */
function* slicesOf(db: Sqlite.Database): Generator<readonly [after: bigint, last: bigint], void, undefined> {
  const page = `SELECT rowid AS place FROM ${tableName} WHERE rowid > ? ORDER BY rowid LIMIT ${pageRows}`;
  const lastOf = db.prepare<[bigint], bigint | null>(`SELECT max(place) FROM (${page})`).pluck().safeIntegers();
  let after = -(2n ** 63n);
  for (let last = lastOf.get(after); typeof last === 'bigint'; last = lastOf.get(after)) {
    yield [after, last];
    after = last;
  }
}
