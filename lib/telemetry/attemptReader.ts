import type { RawRow, StoredAttempt } from './readAttempt.js';
import { readCalls } from './readCalls.js';
import type { AttemptFilter } from './readFilter.js';
import { openPostgresRows } from './readPostgres.js';
import type { RowReader } from './readRows.js';
import { openSqliteRows } from './readSqlite.js';
import type { TelemetryTarget } from './telemetryUrl.js';

export type { StoredAttempt } from './readAttempt.js';
export { TelemetryUnreadableError } from './readFailure.js';
export type { AttemptFilter } from './readFilter.js';

export interface AttemptReaderOptions {
  readonly target: TelemetryTarget;
  /** Default: all attempts. */
  readonly filter?: AttemptFilter;
}

/** A telemetry database that is read and never changed. What it cannot read rejects with `TelemetryUnreadableError`. */
export interface AttemptReader {
  /** The database without user and password, such as `sqlite:/var/telemetry.db`. */
  readonly place: string;
  /** How many rows match now; quick. */
  count(): Promise<number>;
  /**
   * The matching attempts of each call together, by round and start; the calls in the order of their ids. Read as they are
   * asked for, as they were at the first; leaving the loop ends the reading.
   */
  calls(): AsyncIterable<readonly StoredAttempt[]>;
  /** Ends a reading under way too; may be called again. */
  close(): Promise<void>;
}

/**
 * Opens a telemetry database of any schema version for reading. Rejects with `TelemetryUnreadableError` if there is none
 * that can be read, with `ConfigError` if the package that reads it is not installed.
 */
export async function openAttemptReader({ target, filter = {} }: AttemptReaderOptions): Promise<AttemptReader> {
  const reader: RowReader = target.type === 'sqlite' ? openSqliteRows({ file: target.file, filter }) : await openPostgresRows({ url: target.url, filter });
  const underWay = new Set<AsyncGenerator<readonly RawRow[], void, undefined>>();

  async function* pages(): AsyncGenerator<readonly RawRow[], void, undefined> {
    const read = reader.pages();
    underWay.add(read);
    try {
      yield* read;
    } finally {
      underWay.delete(read);
    }
  }

  async function end(): Promise<void> {
    const left = [...underWay].map((read) => read.return());
    reader.cancel();
    await Promise.all(left);
    await reader.close();
  }

  let ended: Promise<void> | undefined;
  return {
    place: reader.place,
    count: () => reader.count(),
    calls: () => readCalls(pages()),
    close: () => (ended ??= end()),
  };
}
