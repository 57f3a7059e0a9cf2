import type Sqlite from 'better-sqlite3';
import { messageOf } from '../model/errors.js';
import { loadPeer, peers } from '../model/loadPeer.js';
import { migratePostgres } from './migratePostgres.js';
import { migrateSqlite } from './migrateSqlite.js';
import type { Migration } from './migration.js';
import { createPostgresPool } from './postgresPool.js';
import type { TelemetryTarget } from './telemetryUrl.js';

// Someone waits for it and wants it done: indexes of a large table take their time.
const patientMs = 600_000;
const lockTimeoutMs = 10_000;

/** Brings a telemetry database up to date and tells what was done; makes the table where there is none. */
export async function migrateDatabase(target: TelemetryTarget): Promise<Migration> {
  return target.type === 'sqlite' ? migrateSqliteFile(target.file) : migratePostgresDatabase(target.url);
}

function migrateSqliteFile(file: string): Migration {
  const Database = loadPeer(peers.sqlite) as typeof Sqlite;
  let db: Sqlite.Database | undefined;
  try {
    db = new Database(file, { timeout: lockTimeoutMs });
    return migrateSqlite(db, 'auto');
  } catch (error: unknown) {
    throw new Error(`sqlite:${file}: ${messageOf(error)}; look at the path, its rights and who else uses the file`, { cause: error });
  } finally {
    db?.close();
  }
}

async function migratePostgresDatabase(url: string): Promise<Migration> {
  const pool = createPostgresPool({ url, statementTimeoutMs: patientMs, lockTimeoutMs });
  try {
    return await migratePostgres(pool, 'auto');
  } catch (error: unknown) {
    throw pool.failure(error);
  } finally {
    await pool.close();
  }
}
