import type { RawRow } from './readAttempt.js';
import { readColumns, selectList } from './readAttempt.js';
import { TelemetryUnreadableError } from './readFailure.js';
import { conditionOf } from './readFilter.js';
import { createPostgresPool } from './postgresPool.js';
import type { PostgresPool, Query } from './postgresPool.js';
import { pageRows } from './readRows.js';
import type { RowReader, RowReaderOptions } from './readRows.js';
import { tableName } from './schema.js';

export interface PostgresRowsOptions extends RowReaderOptions {
  /** May hold a password. */
  readonly url: string;
}

// Someone waits for it and wants it done: a server may have to sort the whole table before the first page.
const patientMs = 600_000;

/** Opens the table that the search path finds. Rejects with `TelemetryUnreadableError`; throws `ConfigError` if `pg` is not installed. */
export async function openPostgresRows({ url, filter }: PostgresRowsOptions): Promise<RowReader> {
  const pool = createPostgresPool({ url, statementTimeoutMs: patientMs });
  const { place } = pool;
  const { sql, values } = conditionOf(filter, 'postgres');

  function readOnly<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return pool.transaction(async (query) => {
      await query('SET TRANSACTION READ ONLY');
      return work(query);
    });
  }

  const columns = await readOnly(columnsOf)
    .then((present) => selectList(present, (problem) => new TelemetryUnreadableError(`${place}: ${problem}`)))
    .catch(async (error: unknown) => {
      await pool.close();
      throw told(pool, error);
    });

  return {
    place,
    async count() {
      try {
        const [found] = await readOnly((query) => query(`SELECT count(*) FROM ${tableName} WHERE ${sql}`, values));
        return Number(found?.['count'] ?? 0);
      } catch (error: unknown) {
        throw told(pool, error);
      }
    },
    async *pages() {
      const held = hold(readOnly);
      try {
        const query = await held.query;
        await query(`DECLARE attempts NO SCROLL CURSOR FOR SELECT ${columns} FROM ${tableName} WHERE ${sql} ORDER BY call_id`, values);
        for (;;) {
          const page = await query(`FETCH ${pageRows} FROM attempts`);
          if (page.length === 0) return;
          yield page.map((row): RawRow => readColumns.map((name) => row[name]));
        }
      } catch (error: unknown) {
        throw told(pool, error);
      } finally {
        await held.release();
      }
    },
    cancel: () => pool.abandon(),
    close: () => pool.close(),
  };
}

/** Keeps a transaction open until it is released. */
function hold(transaction: (work: (query: Query) => Promise<void>) => Promise<void>): { query: Promise<Query>; release(): Promise<void> } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let ended: Promise<void> = Promise.resolve();
  const query = new Promise<Query>((resolve, reject) => {
    ended = transaction((opened) => {
      resolve(opened);
      return released;
    }).catch(reject);
  });
  return {
    query,
    async release() {
      release();
      await ended;
    },
  };
}

async function columnsOf(query: Query): Promise<readonly string[]> {
  const found = await query(`SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('${tableName}') AND attnum > 0 AND NOT attisdropped`);
  // Who may not read the table may see its columns nevertheless.
  if (found.length > 0) await query(`SELECT FROM ${tableName} LIMIT 0`);
  return found.map(({ attname }) => String(attname));
}

function told(pool: PostgresPool, error: unknown): TelemetryUnreadableError {
  if (error instanceof TelemetryUnreadableError) return error;
  return new TelemetryUnreadableError(pool.failure(error).message);
}
