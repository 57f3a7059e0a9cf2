import { parseTelemetryUrl } from '../telemetry/telemetryUrl.js';
import type { TelemetryTarget } from '../telemetry/telemetryUrl.js';
import { databaseUrl } from './databaseUrl.js';
import type { Terminal } from './terminal.js';
import { WrongUse } from './wrongUse.js';

export interface TelemetryTargetOptions {
  /** `--db`. */
  readonly db: string | undefined;
  readonly scope?: string | undefined;
  readonly env: Terminal['env'];
}

/** Whose database and settings are meant where nobody says. */
export const defaultScope = 'LLM';

// A letter alone is a drive of Windows.
const hasScheme = /^[a-z][a-z0-9+.-]+:/i;

/** The database that is meant; a path without `sqlite:` before it is a file. Throws `ConfigError`, or `WrongUse` for none. */
export function telemetryTarget({ db, scope = defaultScope, env }: TelemetryTargetOptions): TelemetryTarget {
  const where = databaseUrl({ db, scope, env });
  if (where.trim() === '') throw new WrongUse('--db names no database: write --db telemetry.db, or a postgres:// URL');
  return parseTelemetryUrl(hasScheme.test(where) ? where : `sqlite:${where.replace(/[%?#]/g, encodeURIComponent)}`);
}
