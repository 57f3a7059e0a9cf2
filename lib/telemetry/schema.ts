import type { AttemptRow } from './attemptRow.js';

export type Dialect = 'sqlite';
/** `auto`: missing columns are added at start; `manual`: they are named, with the SQL to run. */
export type SchemaMode = 'auto' | 'manual';

interface Column {
  readonly type: 'text' | 'integer';
  readonly constraint?: string;
}

const sqlTypes: Record<Dialect, Record<Column['type'], string>> = {
  sqlite: { text: 'TEXT', integer: 'INTEGER' },
};

const key: Column = { type: 'text', constraint: 'NOT NULL PRIMARY KEY' };
const text: Column = { type: 'text', constraint: 'NOT NULL' };
const optionalText: Column = { type: 'text' };
const flag: Column = { type: 'integer', constraint: 'NOT NULL' };
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
  tags: optionalText,
  record_gaps: optionalText,
  loop_lag_ms: figure,
  pid: figure,
  host: optionalText,
  started_at: text,
  created_at: text,
  stall_ms: figure,
  stall_count: figure,
} as const satisfies Record<keyof AttemptRow, Column>;

export const tableName = 'llm_attempts';
export const columnNames = Object.keys(columns) as readonly (keyof AttemptRow)[];

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
  return [...missing.map((name) => `ALTER TABLE ${tableName} ADD COLUMN ${name} ${sqlTypes[dialect][columns[name].type]}`), ...indexStatements];
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

/** The values of a row in the order of `insertSql`. */
export function rowValues(row: AttemptRow): readonly (string | number | null)[] {
  return columnNames.map((name) => row[name]);
}

const indexStatements = indexed.map((name) => `CREATE INDEX IF NOT EXISTS ${tableName}_${name} ON ${tableName} (${name})`);

function columnSql(dialect: Dialect, name: keyof AttemptRow): string {
  const { type, constraint }: Column = columns[name];
  return [name, sqlTypes[dialect][type], constraint].filter(Boolean).join(' ');
}
