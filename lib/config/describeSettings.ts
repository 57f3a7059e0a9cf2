import { scopeSettings, sourceSettings } from './settings.js';
import type { Setting, SettingsTable } from './settings.js';

/** One setting, as a row of a table for people. */
export interface SettingRow {
  readonly level: 'source' | 'scope';
  /** The env key, with `<SCOPE>`, `<PROVIDER>` and `<N>` to be filled in. */
  readonly key: string;
  readonly field: string;
  /** The default as text, or what absence means. */
  readonly default: string;
  readonly what: string;
}

/** Every setting there is, sources first: the one text behind README, help and `doctor`. */
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
