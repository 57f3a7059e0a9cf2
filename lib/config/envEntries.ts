import { parseEnvKey, partsUnder } from './parseEnvKey.js';
import type { EnvKey } from './parseEnvKey.js';
import { isRecord } from './kind.js';
import { secretsOf } from './secretsIn.js';
import { sourceSettings } from './settings.js';
import { withoutQuotes } from './textKinds.js';

/** The variables of a process or of an env file. */
export type Env = Readonly<Record<string, string | undefined>>;

/** One variable under a scope. */
export interface EnvEntry {
  readonly key: string;
  readonly written: string;
  /** What was written, without outer blanks and quotes; empty means that the key is not set. */
  readonly text: string;
  readonly unquoted: boolean;
  readonly meaning: EnvKey;
}

/** The variables that belong to the scope, in their order. */
export function envEntries(scope: string, env: Env): EnvEntry[] {
  return Object.entries(env).flatMap(([key, written]) => {
    const parts = partsUnder(scope, key);
    return parts === undefined || written === undefined ? [] : [{ key, written, ...withoutQuotes(written), meaning: parseEnvKey(scope, parts) }];
  });
}

/** The keys and header values among them. */
export function secretsInEntries(entries: readonly EnvEntry[]): string[] {
  return secretsOf(
    entries.flatMap(({ meaning, written, text }) => {
      if (meaning.type !== 'source') return [];
      if (meaning.field === 'apiKey') return [written, text];
      if (meaning.field !== 'headers') return [];
      const headers = sourceSettings.headers.kind.fromText(text);
      return isRecord(headers) ? Object.values(headers) : [];
    }),
  );
}
