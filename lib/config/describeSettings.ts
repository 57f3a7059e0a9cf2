import { scopeSettings, sourceSettings } from './settings.js';
import type { Setting, SettingsTable } from './settings.js';

/** One setting, as a row of a table for people. */
export interface SettingRow {
  /** Whether each source has it, or the scope as a whole. */
  readonly level: 'source' | 'scope';
  /** The env key, with `<SCOPE>`, `<PROVIDER>` and `<N>` to be filled in. */
  readonly key: string;
  /** The same in camelCase: a field of `SourceSettings` or `GatewaySettings`. */
  readonly field: string;
  /** The default as text, or what absence means. */
  readonly default: string;
  /** What it does, with its unit. */
  readonly what: string;
}

/**
 * Every setting there is, sources first: the one text behind the documents, help and `doctor`.
 *
 *     console.table(describeSettings().filter(({ key }) => key.includes('HEDGE')));
 */
export function describeSettings(): SettingRow[] {
  return [...rows('source', '<SCOPE>__<PROVIDER>__<N>__', sourceSettings), ...rows('scope', '<SCOPE>__', scopeSettings)];
}

function rows(level: SettingRow['level'], prefix: string, table: SettingsTable): SettingRow[] {
  return Object.entries(table).map(([field, setting]) => ({
    level,
    key: prefix + setting.key,
    field,
    default: shownDefault(setting),
    what: setting.what,
  }));
}

function shownDefault({ fallback, required, absent = 'none' }: Setting): string {
  if (required) return 'required';
  return typeof fallback === 'string' ? fallback : fallback === undefined ? absent : JSON.stringify(fallback);
}
