import type { GatewaySettings } from '../config/settings.js';
import { settingsFromEnv } from '../config/settingsFromEnv.js';
import type { Terminal } from './terminal.js';
import { WrongUse } from './wrongUse.js';

export interface DatabaseUrlOptions {
  /** `--db`: wins. */
  readonly db: string | undefined;
  readonly scope: string;
  readonly env: Terminal['env'];
}

/** The telemetry database that is meant: `--db`, else `TELEMETRY__URL` of the scope. Throws `WrongUse` if neither names one. */
export function databaseUrl({ db, scope, env }: DatabaseUrlOptions): string {
  if (db !== undefined) return db;
  const key = `${scope.toUpperCase()}__TELEMETRY__URL`;
  const isSet = Object.entries(env).some(([name, value]) => name.toUpperCase() === key && value !== '');
  const { telemetryUrl }: Pick<GatewaySettings, 'telemetryUrl'> = isSet ? settingsFromEnv(scope, env) : {};
  if (telemetryUrl !== undefined) return telemetryUrl;
  throw new WrongUse(`nothing says which database: write --db sqlite:./telemetry.db, or set ${key}`);
}
