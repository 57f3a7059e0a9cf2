import { resolve } from 'node:path';
import { ConfigError } from '../model/errors.js';

export interface TelemetryTarget {
  readonly type: 'sqlite';
  /** Absolute path. */
  readonly file: string;
}

const remedy = 'write sqlite:./telemetry.db (below the working directory) or sqlite:/path/to/telemetry.db';

/**
 * Reads `TELEMETRY__URL`: `sqlite:` and a path, relative or absolute, percent-encoded where it holds `%`, `?` or `#`.
 * Throws `ConfigError`.
 */
export function parseTelemetryUrl(url: string): TelemetryTarget {
  const [, scheme = '', path = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  // Never the whole address of another scheme: it may hold a password.
  if (scheme.toLowerCase() !== 'sqlite') throw wrong(`${scheme || 'an address without scheme'} is not supported; ${remedy}`);
  if (path === '') throw wrong(`it names no file; ${remedy}`);
  if (path === ':memory:') throw wrong(`a database in memory could be read by nobody; ${remedy}`);
  if (path.startsWith('//')) throw wrong(`whether sqlite:// means a host or a path is read differently everywhere; ${remedy}`);
  if (/[?#]/.test(path)) throw wrong('parameters are not supported; if ? or # belongs to the name of the file, write %3F or %23');
  return { type: 'sqlite', file: resolve(decoded(path)) };
}

function decoded(path: string): string {
  try {
    const name = decodeURIComponent(path);
    if (!name.includes('\u0000')) return name;
  } catch {
    throw wrong('a % in it is not followed by two hexadecimal digits; write %25 for the character itself');
  }
  throw wrong(`a file name cannot hold %00; ${remedy}`);
}

function wrong(why: string): ConfigError {
  return new ConfigError([`telemetryUrl: ${why}`]);
}
