import type { AttemptRow } from './attemptRow.js';
import { migratePostgres } from './migratePostgres.js';
import { whyRefused } from './postgresFailure.js';
import { createPostgresPool, type PostgresPoolOptions } from './postgresPool.js';
import { insertRowsSql, maxInsertRows, rowValues, type SchemaMode } from './schema.js';
import { RowsRefusedError, type Sink } from './sink.js';

export interface PostgresSinkOptions extends PostgresPoolOptions {
  /** Default `auto`. */
  readonly schema?: SchemaMode;
}

export interface PostgresSink extends Required<Sink> {
  open(): Promise<void>;
  write(rows: readonly AttemptRow[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes rows to the Postgres database `url`, on at most two connections, which keep the process alive only while something
 * is being written (E4). What fails may be written again: the first row of an id stays. Throws `ConfigError` if `pg` is not
 * installed.
 */
export function createPostgresSink({ schema = 'auto', ...options }: PostgresSinkOptions): PostgresSink {
  const pool = createPostgresPool(options);
  // Kept from one try to the next, so that a batch of many such rows comes to its end however slow the server is.
  const refused = new WeakMap<AttemptRow, string>();
  let ready: Promise<unknown> | undefined;

  async function write(rows: readonly AttemptRow[]): Promise<void> {
    try {
      await (ready ??= migratePostgres(pool, schema));
      const storable = rows.filter((row) => !refused.has(row));
      for (let at = 0; at < storable.length; at += maxInsertRows) await store(storable.slice(at, at + maxInsertRows));
    } catch (error: unknown) {
      // What a failure left behind is not looked into: the next try starts from the columns, and repairs the table too.
      ready = undefined;
      throw pool.failure(error);
    }
    const reasons = rows.flatMap((row) => refused.get(row) ?? []);
    if (reasons.length > 0) throw new RowsRefusedError(pool.failure(new Error(reasons[0])).message, reasons.length);
  }

  /** Halves what is refused until the rows are found that can never be stored. */
  async function store(rows: readonly AttemptRow[]): Promise<void> {
    try {
      await pool.transaction((query) => query(insertRowsSql(rows.length), rows.flatMap(rowValues)));
    } catch (error: unknown) {
      const why = whyRefused(error);
      if (why === undefined) throw error;
      const [first, ...others] = rows;
      if (first !== undefined && others.length === 0) refused.set(first, why);
      else for (const half of halves(rows)) await store(half);
    }
  }

  return {
    open: () => write([]),
    write,
    close: () => pool.close(),
    abandon() {
      ready = undefined;
      pool.abandon();
    },
  };
}

function halves<T>(list: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}
