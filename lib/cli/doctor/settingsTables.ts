import { describeSettings } from '../../config/describeSettings.js';
import type { SettingRow } from '../../config/describeSettings.js';
import { maskedSettings } from '../../config/maskedSettings.js';
import type { GatewaySettings, ResolvedSettings } from '../../config/settings.js';
import { table } from '../table.js';
import type { Screen } from '../terminal.js';

export interface SettingsTablesOptions {
  /** As they were set: what is not in them is a default, and stands in brackets. */
  readonly given: GatewaySettings;
  readonly settings: ResolvedSettings;
  readonly screen: Screen;
}

type Fields = Readonly<Record<string, unknown>>;

/** A column of a table: where values come from, and what was set of them. */
interface Column {
  readonly title: string;
  readonly effective: Fields;
  readonly given: Fields;
}

const keyWidth = 27;
const narrowestColumn = 26;

/** The sources side by side, in the order in which they are asked; several tables where they do not fit. */
export function sourceTables({ given, settings, screen }: SettingsTablesOptions): string[] {
  const masked = maskedSettings(settings)['sources'] as readonly Fields[];
  const columns = settings.sources
    .map((source, at) => ({ title: source.id, priority: source.priority, effective: masked[at] ?? {}, given: { ...given.sources[at] } }))
    .sort((a, b) => a.priority - b.priority);
  const perTable = Math.max(1, Math.floor((screen.columns - keyWidth) / narrowestColumn));
  const tables = Math.ceil(columns.length / perTable);
  return Array.from({ length: tables }, (_, at) =>
    settingsTable({ level: 'source', title: 'source key', columns: columns.slice(at * perTable, (at + 1) * perTable), screen }),
  );
}

/** The settings of the scope as a whole. */
export function scopeTable({ given, settings, screen }: SettingsTablesOptions): string {
  const columns = [{ title: 'value', effective: maskedSettings(settings), given: { ...given } }];
  return settingsTable({ level: 'scope', title: 'scope key', columns, screen });
}

interface SettingsTableOptions {
  readonly level: SettingRow['level'];
  readonly title: string;
  readonly columns: readonly Column[];
  readonly screen: Screen;
}

function settingsTable({ level, title, columns, screen }: SettingsTableOptions): string {
  const { paint } = screen;
  const width = Math.floor((screen.columns - keyWidth - 4) / columns.length) - 3;
  const rows = describeSettings().filter((row) => row.level === level);
  return table({
    head: [title, ...columns.map((column) => column.title)],
    rows: rows.map((row) => [shortKey(row.key), ...columns.map((column) => cell(row, column))]),
    widest: [undefined, ...columns.map(() => width)],
    paint,
  });
}

function cell({ field, default: fallback }: SettingRow, { effective, given }: Column): string {
  if (given[field] === undefined) return `(${fallback})`;
  const value = effective[field];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Without the placeholders of scope, provider and number. */
function shortKey(key: string): string {
  return key.replace(/^(<[A-Z]+>__)+/, '');
}
