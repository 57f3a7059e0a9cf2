import { createRequire } from 'node:module';

const Database = createRequire(import.meta.url)('better-sqlite3');

/**
 * Every request that the upstream saw has a row, and no more rows say that they were answered than there were requests. Each call is
 * looked at by itself. A request that the client sent again by itself, over a kept connection that had broken, has no row of its own.
 */
export function account({ seen, databaseFile, rowsAlone }) {
  const rows = [...rowsIn(databaseFile), ...rowsAlone];
  const byCall = new Map(seen.map(([call, { requests, again }]) => [call, { requests, again, rows: 0, answered: 0 }]));
  for (const { call, count = 1, answered } of rows) {
    const known = byCall.get(call) ?? { requests: 0, again: 0, rows: 0, answered: 0 };
    byCall.set(call, { ...known, rows: known.rows + count, answered: known.answered + answered });
  }
  const all = [...byCall].map(([call, counts]) => ({ call, ...counts }));
  const sum = (of) => all.reduce((total, counts) => total + of(counts), 0);
  return {
    requests: sum(({ requests }) => requests),
    rows: sum((counts) => counts.rows),
    again: sum(({ again }) => again),
    withoutRow: all.filter((counts) => counts.requests - counts.again > counts.rows),
    withoutRequest: all.filter(({ answered, requests }) => answered > requests),
  };
}

function rowsIn(databaseFile) {
  const database = new Database(databaseFile, { readonly: true });
  const rows = database
    .prepare(`SELECT cast(tags ->> 'call' AS INTEGER) AS call, count(*) AS count, sum(outcome = 'ok' OR http_status IS NOT NULL OR coalesce(increments, 0) > 0) AS answered FROM llm_attempts GROUP BY 1`)
    .all();
  database.close();
  return rows;
}
