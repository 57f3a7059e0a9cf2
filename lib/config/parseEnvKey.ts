import { providerProblem } from './names.js';
import { nearest } from './nearest.js';
import { scopeSettings, sourceSettings } from './settings.js';
import type { Setting, SettingsTable } from './settings.js';

/** What an env key under a scope stands for. */
export type EnvKey =
  | ({ readonly type: 'scope' } & NamedSetting)
  | ({ readonly type: 'source'; readonly provider: string; readonly n: number } & NamedSetting)
  | { readonly type: 'unknown'; readonly problem: string };

interface NamedSetting {
  readonly field: string;
  readonly setting: Setting;
}

const scopeKeys = byKey(scopeSettings);
const sourceKeys = byKey(sourceSettings);

/** The parts of a key that belongs to a scope, or `undefined` for a key that does not. Case does not matter in the scope. */
export function partsUnder(scope: string, key: string): string[] | undefined {
  const [first, ...parts] = key.split('__');
  return parts.length > 0 && first?.toUpperCase() === scope.toUpperCase() ? parts : undefined;
}

/** Reads the parts behind the scope: `GROUP__KEY` of the scope itself, or `PROVIDER__N__KEY` of a source. */
export function parseEnvKey(scope: string, parts: readonly string[]): EnvKey {
  const ofScope = scopeKeys.get(parts.join('__'));
  if (ofScope !== undefined) return { type: 'scope', ...ofScope };
  const [provider = '', n = '', key = ''] = parts;
  if (parts.length !== 3) return unknown(suggestion(scope, parts));
  const problem = providerProblem(provider);
  if (problem !== undefined) return unknown(`names the provider ${JSON.stringify(provider)}, which ${problem}`);
  if (!isNumber(n)) return unknown(`has ${JSON.stringify(n)} as the number of the source, which must be a whole number from 1 without leading zeros`);
  const ofSource = sourceKeys.get(key);
  return ofSource === undefined ? unknown(suggestion(scope, parts)) : { type: 'source', provider, n: Number(n), ...ofSource };
}

function unknown(problem: string): EnvKey {
  return { type: 'unknown', problem };
}

function isNumber(n: string): boolean {
  return /^[1-9]\d*$/.test(n) && Number.isSafeInteger(Number(n));
}

function suggestion(scope: string, parts: readonly string[]): string {
  const [provider = '', n = ''] = parts;
  const source = `${providerProblem(provider) === undefined ? provider : 'OPENAI'}__${isNumber(n) ? n : '1'}__`;
  const known = [...scopeKeys.keys(), ...[...sourceKeys.keys()].map((key) => source + key)];
  return `is not a known key: did you mean ${scope.toUpperCase()}__${nearest(parts.join('__'), known) ?? ''}?`;
}

function byKey(table: SettingsTable): ReadonlyMap<string, NamedSetting> {
  return new Map(Object.entries(table).map(([field, setting]) => [setting.key, { field, setting }]));
}
