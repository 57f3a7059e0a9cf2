import { manualMessage, migrationOf, type Migration } from './migration.js';
import type { PostgresPool, Query } from './postgresPool.js';
import { tableName, upgradeStatements, type SchemaMode } from './schema.js';

/**
 * Brings the table that the search path finds up to date and tells what was done (E2). The columns that are there are the
 * only truth, never a version number. Columns that are not ours are left alone.
 */
export async function migratePostgres(pool: Pick<PostgresPool, 'transaction'>, mode: SchemaMode): Promise<Migration> {
  const present = await pool.transaction(presentColumns);
  const needed = migrationOf(present);
  if (needed.type === 'up-to-date') return needed;
  if (mode === 'manual') throw new Error(manualMessage('postgres', present));
  return pool.transaction(upgrade);
}

async function upgrade(query: Query): Promise<Migration> {
  // IF NOT EXISTS does not keep two sessions from making the same table. Probed again under a lock of our own: of several
  // processes that start at once the first one adds, the others find it done.
  await query(`SELECT pg_advisory_xact_lock(hashtext('polygateway'), hashtext('${tableName}'))`);
  const present = await presentColumns(query);
  for (const statement of upgradeStatements('postgres', present)) await query(statement);
  return migrationOf(present);
}

async function presentColumns(query: Query): Promise<readonly string[]> {
  const found = await query(`SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('${tableName}') AND attnum > 0 AND NOT attisdropped`);
  return found.map(({ attname }) => String(attname));
}
