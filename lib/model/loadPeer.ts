import { createRequire } from 'node:module';
import { codeOf, ConfigError } from './errors.js';

export interface Peer {
  readonly name: 'pg' | 'better-sqlite3' | 'ioredis';
  /** What needs it, beginning with the setting that asks for it. */
  readonly neededBy: string;
}

/** What the settings may ask for. */
export const peers = {
  redis: { name: 'ioredis', neededBy: 'backendUrl: state in Redis' },
  sqlite: { name: 'better-sqlite3', neededBy: 'telemetryUrl: a SQLite database' },
  postgres: { name: 'pg', neededBy: 'telemetryUrl: a Postgres database' },
} as const satisfies Record<string, Peer>;

/** Loads a package that only those install who use what needs it. Throws `ConfigError` where it is missing. */
export function loadPeer({ name, neededBy }: Peer): unknown {
  const loaded = findPeer(name);
  if (loaded !== undefined) return loaded;
  throw new ConfigError([missingPeer({ name, neededBy })]);
}

export function missingPeer({ name, neededBy }: Peer): string {
  return `${neededBy} needs the package ${name}, which is not installed; run: npm install ${name}`;
}

/** Loads a package that nothing needs: `undefined` where it is missing. */
export function findPeer(name: Peer['name'] | '@opentelemetry/api'): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error: unknown) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}
