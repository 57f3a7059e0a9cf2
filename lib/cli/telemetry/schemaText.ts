import { schemaSql, schemaVersion, script, upgradeSince } from '../../telemetry/schema.js';
import type { Dialect } from '../../telemetry/schema.js';
import { WrongUse } from '../wrongUse.js';

/** The SQL of the whole table, or of what came after the version `since`. Throws `WrongUse` if there is no such version. */
export function schemaText(dialect: Dialect, since: number | undefined): string {
  if (since === undefined) return schemaSql(dialect);
  if (since > schemaVersion) throw new WrongUse(`--since ${since}: there is no such version yet; the newest is ${schemaVersion}`);
  return script(upgradeSince(dialect, since)) || `-- nothing to do: version ${since} is the newest\n`;
}
