import { createRequire } from 'node:module';
import { codeOf, ConfigError } from '../model/errors.js';

/** Loads the package that speaks to a database, which only those install who use it. Throws `ConfigError` where it is missing. */
export function loadPeer(name: 'pg' | 'better-sqlite3', database: string): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error: unknown) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigError([`telemetryUrl: a ${database} database needs the package ${name}, which is not installed; run: npm install ${name}`]);
  }
}
