import Database from 'better-sqlite3';
import type { AttemptRecord } from '../../lib/model/events.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { insertSql, rowValues, schemaStatements } from '../../lib/telemetry/schema.js';
import { attemptRecord } from '../telemetry/attemptRecord.js';

export const firstAt = Date.parse('2026-11-01T08:00:00.000Z');

/** Writes rows into a new SQLite file. */
export function writeTelemetryFile(file: string, rows: readonly AttemptRow[]): string {
  const db = new Database(file);
  for (const statement of schemaStatements('sqlite')) db.exec(statement);
  const insert = db.prepare(insertSql());
  db.transaction(() => {
    for (const row of rows) insert.run(rowValues(row));
  })();
  db.close();
  return file;
}

/**
 * 400 unhedged calls, one a minute, each of 10 s and 100 tokens: 100 at `fast/1`, and 300 at `slow/1`, of which every tenth is
 * silent for 20, 40 or 60 s more in turn. So 20 min of 86 min 40 s are silence.
 */
export function knownRows(): AttemptRow[] {
  return Array.from({ length: 400 }, (_, at) => callRow(at, at % 4 === 3 ? { source: 'fast/1', silentMs: 0 } : { source: 'slow/1', silentMs: silenceOf(at - Math.floor(at / 4)) }));
}

function silenceOf(slowCall: number): number {
  return slowCall % 10 === 0 ? (1 + ((slowCall / 10) % 3)) * 20_000 : 0;
}

export function callRow(at: number, { source, silentMs, ...over }: { source: string; silentMs: number } & Partial<AttemptRecord>): AttemptRow {
  const latencyMs = 10_000 + silentMs;
  const record = attemptRecord({
    id: `attempt-${at}`,
    callId: `call-${String(at).padStart(6, '0')}`,
    round: 1,
    role: 'primary',
    hedgeTrigger: null,
    source,
    provider: source.split('/')[0] ?? '',
    outcome: 'ok',
    errorClass: null,
    errorMessage: null,
    httpStatus: 200,
    retryAfterMs: null,
    waitedMs: 0,
    ttftMs: 400,
    latencyMs,
    maxInterTokenMs: silentMs || 300,
    increments: 30,
    usage: { promptTokens: 20, completionTokens: 80, totalTokens: 100, reasoningTokens: null, cachedTokens: null },
    tags: { team: at % 2 === 0 ? 'search' : 'chat' },
    recordGaps: silentMs > 0 ? [[0, 400], [400, 300], [2000, silentMs]] : [[0, 400], [400, 300]],
    startedMs: 0,
    endedMs: latencyMs,
    stallMs: silentMs,
    stallCount: silentMs > 0 ? 1 : 0,
    ...over,
  });
  return toRow(record, { nowMs: record.latencyMs, date: new Date(firstAt + at * 60_000 + record.latencyMs), pid: 1, host: 'h' });
}
