import type { RowClass } from '../model/events.js';
import type { AttemptRow } from './attemptRow.js';
import { columnNames, missingColumns, tableName } from './schema.js';

/** An attempt as it was stored, the same from either database: figures are numbers, JSON is read, times are dates in ms. */
export type StoredAttempt = Omit<AttemptRow, 'streamed' | 'won' | 'tags' | 'record_gaps' | 'started_at' | 'created_at' | 'host' | 'pid'> & {
  readonly streamed: boolean;
  readonly won: boolean;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly record_gaps: readonly (readonly [number, number])[];
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
};

/** The values of `readColumns`, in the driver's own types: `pg` gives BIGINT as text, JSONB as objects and times as dates. */
export type RawRow = readonly unknown[];

type ReadColumn = Exclude<keyof AttemptRow, 'created_at' | 'host' | 'pid'>;

const unread: readonly string[] = ['created_at', 'host', 'pid'];
export const readColumns = columnNames.filter((name): name is ReadColumn => !unread.includes(name));
// A list is twice as quick to read as an object, which is felt at a million rows.
const at = Object.fromEntries(readColumns.map((name, place) => [name, place])) as Readonly<Record<ReadColumn, number>>;
// A report changes nothing, so it takes the tables of every version: these columns came after the first.
const later: readonly string[] = ['stall_ms', 'stall_count'] satisfies readonly (keyof AttemptRow)[];

/** What is selected from a table with the columns `present`: what came later reads as NULL. Throws `fail` of what is wrong and what to do if it is no such table. */
export function selectList(present: readonly string[], fail: (problem: string) => Error): string {
  if (present.length === 0) throw fail(`there is no table ${tableName}; name the database that TELEMETRY__URL of the gateway names`);
  const missing = missingColumns(present);
  const lacking = missing.filter((name) => !later.includes(name));
  if (lacking.length > 0) throw fail(`the table ${tableName} has no ${lacking.join(', ')}; \`polygateway telemetry migrate\` adds them, if the table is this library's`);
  return readColumns.map((name) => `${missing.includes(name) ? 'NULL' : name} AS ${name}`).join(', ');
}

/** The attempt of a row, whoever wrote it: a value that makes no sense reads as absent. `undefined` if nothing says when it was. */
export function storedAttempt(row: RawRow): StoredAttempt | undefined {
  const startedAtMs = timeMs(row[at.started_at]);
  if (startedAtMs === undefined) return undefined;
  return {
    id: text(row[at.id]),
    call_id: text(row[at.call_id]),
    scope: text(row[at.scope]),
    round: figure(row[at.round]),
    role: row[at.role] === 'backup' ? 'backup' : 'primary',
    hedge_trigger: oneOf(['first_increment', 'stall'], row[at.hedge_trigger]),
    source: text(row[at.source]),
    provider: text(row[at.provider]),
    model: text(row[at.model]),
    streamed: figure(row[at.streamed]) === 1,
    outcome: row[at.outcome] === 'ok' ? 'ok' : 'error',
    error_class: oneOf(rowClasses, row[at.error_class]),
    error_message: textOrNull(row[at.error_message]),
    http_status: figure(row[at.http_status]),
    retry_after_ms: figure(row[at.retry_after_ms]),
    finish_reason: textOrNull(row[at.finish_reason]),
    provider_request_id: textOrNull(row[at.provider_request_id]),
    won: figure(row[at.won]) === 1,
    waited_ms: figure(row[at.waited_ms]),
    ttft_ms: figure(row[at.ttft_ms]),
    latency_ms: figure(row[at.latency_ms]),
    max_inter_token_ms: figure(row[at.max_inter_token_ms]),
    increments: figure(row[at.increments]),
    prompt_tokens: figure(row[at.prompt_tokens]),
    completion_tokens: figure(row[at.completion_tokens]),
    reasoning_tokens: figure(row[at.reasoning_tokens]),
    cached_tokens: figure(row[at.cached_tokens]),
    total_tokens: figure(row[at.total_tokens]),
    estimated_tokens: figure(row[at.estimated_tokens]),
    tags: tagsOf(json(row[at.tags])),
    record_gaps: gapsOf(json(row[at.record_gaps])),
    loop_lag_ms: figure(row[at.loop_lag_ms]),
    startedAtMs,
    stall_ms: figure(row[at.stall_ms]),
    stall_count: figure(row[at.stall_count]),
  };
}

const rowClasses: readonly RowClass[] = Object.keys({
  transient: 0,
  rate_limited: 0,
  source: 0,
  request: 0,
  hedge_cancelled: 0,
  caller_cancelled: 0,
  deadline: 0,
} satisfies Record<RowClass, 0>) as RowClass[];

function oneOf<Word extends string>(words: readonly Word[], value: unknown): Word | null {
  return words.find((word) => word === value) ?? null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

// Thirty years in ms: a greater figure makes no sense, and with it a date could become none.
const greatestFigure = 1e12;
const greatestTimeMs = 1e14;

/** No figure of a row is below zero. */
function figure(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= greatestFigure ? Math.trunc(number) : null;
}

function timeMs(value: unknown): number | undefined {
  // Not asked for its class: a date that was made in another realm is not an instance of ours.
  const atMs = typeof value === 'string' ? dateMs(value) : typeof value === 'object' && value !== null ? new Date(value as Date).getTime() : NaN;
  return Math.abs(atMs) <= greatestTimeMs ? atMs : undefined;
}

/** ISO 8601, a blank for the T too; UTC where no zone is written, wherever this program runs. */
function dateMs(text: string): number {
  const [, date, time, zone = 'Z'] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  return date === undefined || time === undefined ? NaN : new Date(`${date}T${time}${zone}`).getTime();
}

function json(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function tagsOf(value: unknown): Readonly<Record<string, string>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function gapsOf(value: unknown): readonly (readonly [number, number])[] {
  return Array.isArray(value) ? value.filter(isGap) : [];
}

function isGap(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(isWhole);
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) && figure(value) !== null;
}
