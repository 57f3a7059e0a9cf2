import type { GatewaySettings } from '../../config/settings.js';
import { settingsFromEnv } from '../../config/settingsFromEnv.js';
import { migrateDatabase } from '../../telemetry/migrateDatabase.js';
import type { Migration } from '../../telemetry/migration.js';
import { tableName } from '../../telemetry/schema.js';
import { parseTelemetryUrl } from '../../telemetry/telemetryUrl.js';
import { exitCodes } from '../exitCodes.js';
import type { Terminal } from '../terminal.js';
import { WrongUse } from '../wrongUse.js';

export interface MigrateOptions {
  /** The database; else the one of the scope's settings. */
  readonly url: string | undefined;
  readonly scope: string;
  readonly terminal: Terminal;
}

/** Brings a telemetry database up to date and prints what was done. */
export async function runMigrate({ url, scope, terminal: { out, env } }: MigrateOptions): Promise<number> {
  const migration = await migrateDatabase(parseTelemetryUrl(url ?? urlOf(scope, env)));
  out.line(told(migration));
  return exitCodes.done;
}

function urlOf(scope: string, env: Terminal['env']): string {
  const key = `${scope.toUpperCase()}__TELEMETRY__URL`;
  const isSet = Object.entries(env).some(([name, value]) => name.toUpperCase() === key && value !== '');
  const { telemetryUrl }: Pick<GatewaySettings, 'telemetryUrl'> = isSet ? settingsFromEnv(scope, env) : {};
  if (telemetryUrl !== undefined) return telemetryUrl;
  throw new WrongUse(`nothing says which database: write --db sqlite:./telemetry.db, or set ${key}`);
}

function told(migration: Migration): string {
  switch (migration.type) {
    case 'up-to-date':
      return `up to date: ${tableName} has every column`;
    case 'table-made':
      return `made the table ${tableName}`;
    case 'columns-added':
      return `added ${migration.columns.join(', ')} to ${tableName}`;
    default:
      return migration satisfies never;
  }
}
