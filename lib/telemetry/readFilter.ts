import type { Dialect } from './schema.js';

/**
 * Which attempts are looked at; each absent part means all. Every part looks at the attempt alone, as one WHERE does: of a
 * call that has others too, only those that match are there.
 */
export interface AttemptFilter {
  /** Bounds `started_at`. */
  readonly since?: Date;
  /** Bounds `started_at`; exclusive. */
  readonly until?: Date;
  /** Its id, such as `openai/1`. */
  readonly source?: string;
  /** All of them must be there, with this value. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Condition {
  /** Without a filter it is true. */
  readonly sql: string;
  readonly values: readonly string[];
}

type Term = readonly [sql: string, ...values: string[]];

/** The filter as a condition whose places are `?` in SQLite and `$1`, `$2` … in Postgres. */
export function conditionOf({ since, until, source, tags = {} }: AttemptFilter, dialect: Dialect): Condition {
  const terms: readonly Term[] = [
    ...(since === undefined ? [] : [['started_at >= ?', since.toISOString()] as const]),
    ...(until === undefined ? [] : [['started_at < ?', until.toISOString()] as const]),
    ...(source === undefined ? [] : [['source = ?', source] as const]),
    ...Object.entries(tags).map((tag) => hasTag[dialect](...tag)),
  ];
  const sql = terms.map(([term]) => term).join(' AND ') || 'true';
  return { sql: dialect === 'sqlite' ? sql : numbered(sql), values: terms.flatMap(([, ...values]) => values) };
}

const hasTag: Record<Dialect, (key: string, value: string) => Term> = {
  // Not json_extract, in whose paths a dot or a quote of the key has a meaning.
  sqlite: (key, value) => ['EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags END) WHERE key = ? AND value = ?)', key, value],
  postgres: (key, value) => ['tags @> ?::jsonb', JSON.stringify({ [key]: value })],
};

function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll('?', () => `$${++place}`);
}
