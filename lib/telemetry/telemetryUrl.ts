import { resolve } from 'node:path';
import { ConfigError } from '../model/errors.js';
import { postgresUrlProblem } from '../model/postgresUrl.js';

export type TelemetryTarget =
  | {
      readonly type: 'sqlite';
      /** Absolute path. */
      readonly file: string;
    }
  | {
      readonly type: 'postgres';
      /** May hold a password. */
      readonly url: string;
    };

const sqliteRemedy = 'write sqlite:./telemetry.db (below the working directory) or sqlite:/path/to/telemetry.db';
const remedy = 'write sqlite:./telemetry.db or postgres://user:password@host:5432/database';

/**
 * Reads `TELEMETRY__URL`: `sqlite:` and a path, relative or absolute, percent-encoded where it holds `%`, `?` or `#`; or
 * the `postgres:` or `postgresql:` URL of a database, whose parameters, such as `sslmode`, are left to the client. Throws
 * `ConfigError`.
 */
export function parseTelemetryUrl(url: string): TelemetryTarget {
  const [, scheme = '', path = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  switch (scheme.toLowerCase()) {
    case 'sqlite':
      return { type: 'sqlite', file: sqliteFile(path) };
    case 'postgres':
    case 'postgresql':
      return { type: 'postgres', url: postgresUrl(url) };
    default:
      // Never the whole address: it may hold a password.
      throw wrong(`${scheme || 'an address without scheme'} is not supported; ${remedy}`);
  }
}

function postgresUrl(url: string): string {
  const problem = postgresUrlProblem(url);
  if (problem !== undefined) throw wrong(`the address ${problem}`);
  return url;
}

function sqliteFile(path: string): string {
  if (path === '') throw wrong(`it names no file; ${sqliteRemedy}`);
  if (path === ':memory:') throw wrong(`a database in memory could be read by nobody; ${sqliteRemedy}`);
  if (path.startsWith('//')) throw wrong(`whether sqlite:// means a host or a path is read differently everywhere; ${sqliteRemedy}`);
  if (/[?#]/.test(path)) throw wrong('parameters are not supported; if ? or # belongs to the name of the file, write %3F or %23');
  return resolve(decoded(path));
}

function decoded(path: string): string {
  try {
    const name = decodeURIComponent(path);
    if (!name.includes('\u0000')) return name;
  } catch {
    throw wrong('a % in it is not followed by two hexadecimal digits; write %25 for the character itself');
  }
  throw wrong(`a file name cannot hold %00; ${sqliteRemedy}`);
}

function wrong(why: string): ConfigError {
  return new ConfigError([`telemetryUrl: ${why}`]);
}
