import type { AttemptRow } from './attemptRow.js';

export type Dialect = 'sqlite' | 'postgres';
/** `auto`: missing columns are added at start; `manual`: they are named, with the SQL to run. */
export type SchemaMode = 'auto' | 'manual';

interface Column {
  readonly type: 'text' | 'json' | 'time' | 'integer' | 'flag';
  readonly constraint?: string;
}

// A flag is a number in both, so that the 0 or 1 of a row goes in unchanged and the same queries read it.
const sqlTypes: Record<Dialect, Record<Column['type'], string>> = {
  sqlite: { text: 'TEXT', json: 'TEXT', time: 'TEXT', integer: 'INTEGER', flag: 'INTEGER' },
  postgres: { text: 'TEXT', json: 'JSONB', time: 'TIMESTAMPTZ', integer: 'BIGINT', flag: 'SMALLINT' },
};

const key: Column = { type: 'text', constraint: 'NOT NULL PRIMARY KEY' };
const text: Column = { type: 'text', constraint: 'NOT NULL' };
const optionalText: Column = { type: 'text' };
const optionalJson: Column = { type: 'json' };
const time: Column = { type: 'time', constraint: 'NOT NULL' };
const flag: Column = { type: 'flag', constraint: 'NOT NULL' };
const figure: Column = { type: 'integer' };

/** The one definition, in the table's order; DDL, inserts and migration are made from it. New columns go to the end (E2). */
const columns = {
  id: key,
  call_id: text,
  scope: text,
  round: figure,
  role: text,
  hedge_trigger: optionalText,
  source: text,
  provider: text,
  model: text,
  streamed: flag,
  outcome: text,
  error_class: optionalText,
  error_message: optionalText,
  http_status: figure,
  retry_after_ms: figure,
  finish_reason: optionalText,
  provider_request_id: optionalText,
  won: flag,
  waited_ms: figure,
  ttft_ms: figure,
  latency_ms: figure,
  max_inter_token_ms: figure,
  increments: figure,
  prompt_tokens: figure,
  completion_tokens: figure,
  reasoning_tokens: figure,
  cached_tokens: figure,
  total_tokens: figure,
  estimated_tokens: figure,
  tags: optionalJson,
  record_gaps: optionalJson,
  loop_lag_ms: figure,
  pid: figure,
  host: optionalText,
  started_at: time,
  created_at: time,
  stall_ms: figure,
  stall_count: figure,
} as const satisfies Record<keyof AttemptRow, Column>;

export const tableName = 'llm_attempts';
export const columnNames = Object.keys(columns) as readonly (keyof AttemptRow)[];

/** The columns that each version after the first added, the newest version last. A database keeps no version: its columns tell. */
const additions = [['stall_ms', 'stall_count']] as const satisfies readonly (readonly (keyof AttemptRow)[])[];
export const schemaVersion = additions.length + 1;

const indexed = ['created_at', 'call_id'] as const satisfies readonly (keyof AttemptRow)[];

/** The statements that make the table and its indexes; harmless where they exist. */
export function schemaStatements(dialect: Dialect): readonly string[] {
  const lines = columnNames.map((name) => `  ${columnSql(dialect, name)}`);
  return [`CREATE TABLE IF NOT EXISTS ${tableName} (\n${lines.join(',\n')}\n)`, ...indexStatements];
}

/** What `polygateway telemetry schema` prints. */
export function schemaSql(dialect: Dialect): string {
  return script(schemaStatements(dialect));
}

/** The statements that bring a table with the columns `present` up to date; an empty `present` means: no table yet. */
export function upgradeStatements(dialect: Dialect, present: readonly string[]): readonly string[] {
  if (present.length === 0) return schemaStatements(dialect);
  const missing = missingColumns(present);
  if (missing.length === 0) return [];
  // Never NOT NULL: rows from before have no value, and NULL says so (E2).
  return [...missing.map((name) => `${addColumn[dialect]} ${name} ${sqlTypes[dialect][columns[name].type]}`), ...indexStatements];
}

/** The statements that bring a table of an older version, from 1, up to date; none for the newest. */
export function upgradeSince(dialect: Dialect, version: number): readonly string[] {
  const added: ReadonlySet<string> = new Set(additions.slice(version - 1).flat());
  return upgradeStatements(dialect, columnNames.filter((name) => !added.has(name)));
}

export function missingColumns(present: readonly string[]): readonly (keyof AttemptRow)[] {
  // Identifiers of SQL are the same in upper and lower case.
  const known = new Set(present.map((name) => name.toLowerCase()));
  return columnNames.filter((name) => !known.has(name));
}

/** Statements as one text that can be pasted into a database shell. */
export function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join('');
}

/** A row whose id is there already is left alone, so that a repeated write is harmless (E4). */
export function insertSql(): string {
  return `INSERT OR IGNORE INTO ${tableName} (${columnNames.join(', ')}) VALUES (${columnNames.map(() => '?').join(', ')})`;
}

/** The most rows of one `insertRowsSql`: the protocol counts parameters in 16 bits. */
export const maxInsertRows = Math.floor(65_535 / columnNames.length);

/** The same for several rows at once in Postgres, which takes the type of a parameter without one from its column. */
export function insertRowsSql(rows: number): string {
  const places = Array.from({ length: rows }, (_, row) => `(${columnNames.map((_name, at) => `$${row * columnNames.length + at + 1}`).join(', ')})`);
  return `INSERT INTO ${tableName} (${columnNames.join(', ')}) VALUES ${places.join(', ')} ON CONFLICT (id) DO NOTHING`;
}

/**
 * The values of a row in the order of its insert, which is that in which `toRow` makes it. The list is filled by `push` since
 * one that `map` made may have holes in V8's eyes, which doubles what it costs to hand it to another thread.
 */
export function rowValues(row: AttemptRow): readonly (string | number | null)[] {
  const values: (string | number | null)[] = [];
  for (const name in row) values.push(row[name as keyof AttemptRow]);
  return values;
}

const addColumn: Record<Dialect, string> = {
  // SQLite has no IF NOT EXISTS here.
  sqlite: `ALTER TABLE ${tableName} ADD COLUMN`,
  postgres: `ALTER TABLE ${tableName} ADD COLUMN IF NOT EXISTS`,
};

const indexStatements = indexed.map((name) => `CREATE INDEX IF NOT EXISTS ${tableName}_${name} ON ${tableName} (${name})`);

function columnSql(dialect: Dialect, name: keyof AttemptRow): string {
  const { type, constraint }: Column = columns[name];
  return [name, sqlTypes[dialect][type], constraint].filter(Boolean).join(' ');
}
