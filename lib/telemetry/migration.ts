import { missingColumns, script, tableName, upgradeStatements, type Dialect } from './schema.js';

/** What was done to a database to bring it up to date. */
export type Migration = { readonly type: 'up-to-date' } | { readonly type: 'table-made' } | { readonly type: 'columns-added'; readonly columns: readonly string[] };

/** What a table with the columns `present` needs; an empty `present` means: no table yet. */
export function migrationOf(present: readonly string[]): Migration {
  if (present.length === 0) return { type: 'table-made' };
  const columns = missingColumns(present);
  return columns.length === 0 ? { type: 'up-to-date' } : { type: 'columns-added', columns };
}

/** Why nothing is written in the mode `manual`, and the SQL to run. */
export function manualMessage(dialect: Dialect, present: readonly string[]): string {
  const lack = present.length === 0 ? `there is no table ${tableName}` : `the table ${tableName} has no ${missingColumns(present).join(', ')}`;
  return `${lack}, and telemetrySchema is manual; run this SQL:\n${script(upgradeStatements(dialect, present))}`;
}
