import type { Database } from 'better-sqlite3';
import { manualMessage, migrationOf, type Migration } from './migration.js';
import { tableName, upgradeStatements, type SchemaMode } from './schema.js';

/**
 * Brings the table up to date and tells what was done (E2). The columns that are there are the only truth, never a
 * version number. Columns that are not ours are left alone.
 */
export function migrateSqlite(db: Database, mode: SchemaMode): Migration {
  const present = presentColumns(db);
  const needed = migrationOf(present);
  if (needed.type === 'up-to-date') return needed;
  if (mode === 'manual') throw new Error(manualMessage('sqlite', present));
  // Probed again under the write lock: of several processes that start at once the first one adds, the others find it done.
  return db.transaction(() => upgrade(db)).immediate();
}

function upgrade(db: Database): Migration {
  const present = presentColumns(db);
  for (const statement of upgradeStatements('sqlite', present)) db.exec(statement);
  return migrationOf(present);
}

function presentColumns(db: Database): readonly string[] {
  const found = db.pragma(`table_info(${tableName})`) as readonly { name: string }[];
  return found.map(({ name }) => name);
}
