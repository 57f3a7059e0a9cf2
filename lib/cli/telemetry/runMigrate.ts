import { firstValueFrom, timer } from 'rxjs';
import { monotonicScheduler } from '../../clock/monotonicScheduler.js';
import { migrateDatabase } from '../../telemetry/migrateDatabase.js';
import type { Migration } from '../../telemetry/migration.js';
import { tableName } from '../../telemetry/schema.js';
import type { TelemetryTarget } from '../../telemetry/telemetryUrl.js';
import { exitCodes } from '../exitCodes.js';
import { startProgress } from '../progress.js';
import { telemetryTarget } from '../telemetryTarget.js';
import type { Terminal } from '../terminal.js';

export interface MigrateOptions {
  /** The database; else the one of the scope's settings. */
  readonly url: string | undefined;
  readonly scope: string;
  readonly terminal: Terminal;
}

const drawnWithinMs = 20;

/** Brings a telemetry database up to date and prints what was done. */
export async function runMigrate({ url, scope, terminal }: MigrateOptions): Promise<number> {
  const target = telemetryTarget({ db: url, scope, env: terminal.env });
  const migration = await withProgress(target, terminal);
  terminal.out.line(told(migration));
  return exitCodes.done;
}

async function withProgress(target: TelemetryTarget, terminal: Terminal): Promise<Migration> {
  const blocks = target.type === 'sqlite';
  const progress = startProgress({ terminal, label: 'waiting for the database', ...(blocks ? { afterMs: 0 } : {}) });
  // The driver of SQLite holds this thread while it waits for a lock: what is to be seen meanwhile has to be drawn before.
  if (blocks && terminal.err.isTerminal) await firstValueFrom(timer(drawnWithinMs, monotonicScheduler));
  return migrateDatabase(target).finally(progress.stop);
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
