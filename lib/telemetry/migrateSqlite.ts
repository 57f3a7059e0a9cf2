import type { Database } from 'better-sqlite3';
import { missingColumns, script, tableName, upgradeStatements, type SchemaMode } from './schema.js';

/**
 * Brings the table up to date (E2). The columns that are there are the only truth, never a version number. Columns
 * that are not ours are left alone.
 */
export function migrateSqlite(db: Database, mode: SchemaMode): void {
  if (upgradeOf(db).length === 0) return;
  if (mode === 'manual') throw new Error(manualMessage(db));
  // Probed again under the write lock: of several processes that start at once the first one adds, the others find it done.
  db.transaction(() => {
    for (const statement of upgradeOf(db)) db.exec(statement);
  }).immediate();
}

function upgradeOf(db: Database): readonly string[] {
  return upgradeStatements('sqlite', presentColumns(db));
}

function presentColumns(db: Database): readonly string[] {
  const found = db.pragma(`table_info(${tableName})`) as readonly { name: string }[];
  return found.map(({ name }) => name);
}

function manualMessage(db: Database): string {
  const present = presentColumns(db);
  const lack = present.length === 0 ? `there is no table ${tableName}` : `the table ${tableName} has no ${missingColumns(present).join(', ')}`;
  return `${lack}, and telemetrySchema is manual; run this SQL:\n${script(upgradeOf(db))}`;
}
