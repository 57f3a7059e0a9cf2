import { settingsFromEnv } from '../../config/settingsFromEnv.js';
import type { Thresholds } from '../../lab/whatif/whatIf.js';
import type { TelemetryTargetOptions } from '../telemetryTarget.js';
import { defaultScope } from '../telemetryTarget.js';

/** The thresholds of the settings that named the database; `undefined` where `--db` did, since then nobody knows whose it is. */
export function currentThresholds({ db, scope = defaultScope, env }: TelemetryTargetOptions): Thresholds | undefined {
  if (db !== undefined) return undefined;
  const { hedgeAfterS, hedgeStallAfterS } = settingsFromEnv(scope, env);
  return { hedgeAfterMs: inMs(hedgeAfterS), hedgeStallAfterMs: inMs(hedgeStallAfterS) };
}

function inMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1000;
}
