import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Sqlite from 'better-sqlite3';
import { createReport } from '../../lib/lab/report/createReport.js';
import { readReport } from './readReport.js';
import type { Distribution, ReportFigures } from '../../lib/lab/report/reportFigures.js';
import { openAttemptReader } from '../../lib/telemetry/attemptReader.js';
import type { AttemptFilter } from '../../lib/telemetry/attemptReader.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { createPostgresSink } from '../../lib/telemetry/postgresSink.js';
import { readColumns } from '../../lib/telemetry/readAttempt.js';
import { readCalls } from '../../lib/telemetry/readCalls.js';
import { insertSql, rowValues, schemaStatements } from '../../lib/telemetry/schema.js';
import { parseTelemetryUrl } from '../../lib/telemetry/telemetryUrl.js';
import { sharedPostgres } from '../support/postgresServer.js';
import type { SharedPostgres } from '../support/postgresServer.js';
import { rowOf } from '../telemetry/postgresScene.js';
import { oddTag, randomRows, rowsFrom } from './reportRows.js';
import { reportSql } from './reportSql.js';

jest.setTimeout(30_000);

const madeAt = new Date('2026-11-09T08:07:06.005Z');
const rows = randomRows({ seed: 7, calls: 2000 });
const at = (hours: number): Date => new Date(rowsFrom + hours * 3_600_000);

let folder: string;
let sqliteUrl: string;
let postgres: SharedPostgres;
let postgresUrl: string;
let db: Sqlite.Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-report-'));
  sqliteUrl = `sqlite:${join(folder, 'telemetry.db')}`;
  db = new Sqlite(join(folder, 'telemetry.db'));
  for (const statement of schemaStatements('sqlite')) db.exec(statement);
  const insert = db.prepare(insertSql());
  db.transaction(() => {
    for (const row of rows) insert.run(rowValues(row));
  })();
  postgres = await sharedPostgres();
  postgresUrl = await postgres.createDatabase();
  const sink = createPostgresSink({ url: postgresUrl });
  await sink.write(rows);
  await sink.close();
}, 60_000);
afterAll(async () => {
  db.close();
  rmSync(folder, { recursive: true });
  await postgres.stop();
});

async function reportOf(url: string, filter: AttemptFilter = {}): Promise<ReportFigures> {
  const reader = await openAttemptReader({ target: parseTelemetryUrl(url), filter });
  try {
    return await readReport({ reader, filter, madeAt });
  } finally {
    await reader.close();
  }
}

/** Figures without what the rows do not tell. */
function measuredIn(figures: ReportFigures): Partial<ReportFigures> {
  return Object.fromEntries(Object.entries(figures).filter(([name]) => !['madeAt', 'database', 'filter'].includes(name)));
}

/** The same figures, but of each CDF only the points at the values that `model` has too. */
function pointsOf(value: unknown, model: unknown, key?: string): unknown {
  if (key === 'cdf') {
    const values = new Set((model as Distribution['cdf']).map(([valueMs]) => valueMs));
    return (value as Distribution['cdf']).filter(([valueMs]) => values.has(valueMs));
  }
  if (Array.isArray(value)) return value.map((item, index) => pointsOf(item, (model as unknown[])[index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, pointsOf(part, (model as Record<string, unknown> | undefined)?.[name], name)]));
}

const filters: readonly (readonly [name: string, filter: AttemptFilter, where: string])[] = [
  ['no filter', {}, '1'],
  ['since and until', { since: at(12), until: at(30.5) }, "started_at >= '2026-11-01T12:00:00.000Z' AND started_at < '2026-11-02T06:30:00.000Z'"],
  ['source', { source: 'openai/1' }, "source = 'openai/1'"],
  ['a tag whose key has dots and quotes', { tags: { [oddTag]: 'y' } }, "tags LIKE '%a.b%:\"y\"%'"],
  ['all at once', { since: at(4), until: at(40), source: 'azure/1', tags: { tier: 'plain', [oddTag]: 'x' } }, "started_at >= '2026-11-01T04' AND started_at < '2026-11-02T16' AND source = 'azure/1' AND tags LIKE '%\"plain\"%' AND tags LIKE '%:\"x\"%'"],
  ['a filter that nothing matches', { source: "o'; DROP TABLE llm_attempts" }, '0'],
];

describe('the figures of a report', () => {
  test('the rows they are read from hold every outcome, hedges of both triggers, retries and whole answers', async () => {
    const { overall, outcomes, hedges, sources, gaps } = await reportOf(sqliteUrl);
    expect(rows.length).toBeGreaterThan(3000);
    expect(Object.values(outcomes).filter((count) => count < 10)).toEqual([]);
    expect(Object.values({ ...overall, ...hedges, ...hedges.started, ...hedges.losers }).filter((count) => count === 0)).toEqual([]);
    expect(sources.map(({ models }) => models.length).sort()).toEqual([1, 1, 2]);
    expect(gaps.count).toBeGreaterThan(4000);
  });

  test.each(filters)('equal what independent SQL tells of the same rows, and are identical from Postgres: %s', async (_name, filter, where) => {
    const { database, ...fromPostgres } = await reportOf(postgresUrl, filter);
    expect(database).toBe(postgresUrl.replace('postgres@', ''));
    const figures = await reportOf(sqliteUrl, filter);
    expect({ ...figures, database }).toEqual({ ...fromPostgres, database });
    const expected = reportSql(db, where);
    expect(measuredIn(figures)).toEqual(pointsOf(expected, figures));
    expect(figures.gaps.cdf.length).toBeLessThanOrEqual(200);
  });

  test('name what they were read from, by which filter and when', async () => {
    const filter = { since: at(1), source: 'azure/1', tags: { tier: 'gold' } };
    expect(await reportOf(sqliteUrl, filter)).toMatchObject({
      madeAt: '2026-11-09T08:07:06.005Z',
      database: sqliteUrl,
      filter: { since: '2026-11-01T01:00:00.000Z', until: null, source: 'azure/1', tags: { tier: 'gold' } },
    });
  });

  test('go by the day where there would be more than 1000 hours', async () => {
    const hourly = Array.from({ length: 1001 }, (_, hour) => rowOf({ id: String(hour), callId: String(hour), startedMs: 15_000, errorClass: null, outcome: 'ok' })).map((row, hour) => ({ ...row, started_at: at(hour).toISOString() }));
    const thousand = await figuresOf(hourly.slice(1));
    expect([thousand.step, thousand.hours.length]).toEqual(['hour', 1000]);
    const { step, hours, overall } = await figuresOf(hourly);
    expect([step, hours.length, hours[0]?.from, hours[0]?.time.attempts, hours.at(-1)?.time.attempts]).toEqual(['day', 42, '2026-11-01T00:00:00.000Z', 24, 17]);
    expect(hours.reduce((sumMs, { time }) => sumMs + time.wallMs, 0)).toBe(overall.wallMs);
  });

  test('a distribution of many values keeps 200 points, the first, the last and some of every size between', async () => {
    const { ttft } = await figuresOf(Array.from({ length: 5000 }, (_, ttftMs) => rowOf({ id: String(ttftMs), callId: String(ttftMs), ttftMs })));
    expect(ttft).toMatchObject({ count: 5000, meanMs: 2499.5, p50Ms: 2499, p90Ms: 4499, p95Ms: 4749, p99Ms: 4949, maxMs: 4999 });
    expect(ttft.cdf.length).toBeGreaterThan(140);
    expect(ttft.cdf.length).toBeLessThanOrEqual(200);
    expect([ttft.cdf[0], ttft.cdf.at(-1)]).toEqual([[0, 1 / 5000], [4999, 1]]);
    expect(ttft.cdf.filter(([valueMs, share]) => share !== (valueMs + 1) / 5000)).toEqual([]);
    expect(Math.max(...ttft.cdf.slice(2).map(([valueMs], index) => valueMs / ttft.cdf[index + 1]![0]))).toBeLessThan(2.001);
  });
});

describe('what counts as silence', () => {
  const example = { ttftMs: 500, latencyMs: 4100, maxInterTokenMs: 3000, stallMs: 3000, stallCount: 1, recordGaps: [[0, 500], [500, 400], [900, 3000]], outcome: 'ok', errorClass: null, won: true } as const;

  test('in an answered stream the gaps between increments, and its tail never (M1, M4)', async () => {
    const { overall, gaps, longestSilence, net } = await figuresOf([rowOf({ ...example, latencyMs: 8000, recordGaps: [...example.recordGaps, [4000, 4000]] })]);
    expect(overall).toMatchObject({ measured: 1, wallMs: 8000, stallMs: 3000, firstWaitMs: 500 });
    expect([gaps.count, gaps.maxMs, longestSilence.maxMs, net.maxMs]).toEqual([2, 3000, 3000, 5000]);
  });

  test('in a stream that was cut the tail too, for that is what a threshold would have seen', async () => {
    const cut = { ...example, outcome: 'error', errorClass: 'hedge_cancelled', won: false, stallMs: null, stallCount: null, maxInterTokenMs: null } as const;
    const { overall, gaps, longestSilence } = await figuresOf([rowOf({ ...cut, latencyMs: 8001, recordGaps: [...example.recordGaps, [4000, 4000]] })]);
    expect(overall).toMatchObject({ measured: 0, cut: 1, cutMs: 8001, cutSilentMs: 4000 });
    expect([gaps.count, longestSilence.maxMs]).toEqual([3, 4000]);
    // A tail that is shorter than the longest gap left no record.
    expect((await figuresOf([rowOf(cut)])).overall).toMatchObject({ cut: 1, cutMs: 4100, cutSilentMs: 0 });
  });

  test('waiting for the first increment is not silence in mid-stream, whether it ever came or not', async () => {
    const mute = { streamed: true, outcome: 'error', errorClass: 'transient', stallMs: null, stallCount: null, maxInterTokenMs: null, increments: 0 } as const;
    const { overall, gaps, longestSilence, ttft } = await figuresOf([
      rowOf({ ...mute, id: 'a', ttftMs: null, latencyMs: 9000, recordGaps: [[0, 9000]] }),
      rowOf({ ...mute, id: 'b', ttftMs: 7000, latencyMs: 7000, recordGaps: [[0, 7000]], increments: 1 }),
    ]);
    expect(overall).toMatchObject({ cut: 2, cutMs: 16_000, cutSilentMs: 0 });
    expect([gaps.count, ttft.count, longestSilence.count, longestSilence.maxMs]).toEqual([0, 1, 1, 0]);
  });

  test('an answer that came at once, and one from before stalls were stored, have none that is known', async () => {
    const unknown = { outcome: 'ok', errorClass: null, stallMs: null, stallCount: null } as const;
    const { overall, wall, longestSilence } = await figuresOf([
      rowOf({ ...unknown, id: 'whole', streamed: false, ttftMs: null, maxInterTokenMs: null, recordGaps: [[0, 4100]] }),
      rowOf({ ...unknown, id: 'old', maxInterTokenMs: 3000 }),
    ]);
    expect(overall).toMatchObject({ wallMs: 8200, wholeMs: 8200, measured: 0, cut: 0 });
    expect([wall.count, longestSilence.maxMs]).toEqual([0, 3000]);
  });
});

describe('what a call took', () => {
  test('begins with its entering, waits before the first attempt included, and ends with its last attempt', async () => {
    const start = (startMs: number): Pick<AttemptRow, 'started_at'> => ({ started_at: new Date(rowsFrom + startMs).toISOString() });
    const answered = { outcome: 'ok', errorClass: null, won: true, stallMs: 1500 } as const;
    const { calls, slowest } = await figuresOf([
      { ...rowOf({ id: 'late', round: 2, role: 'primary', hedgeTrigger: null, waitedMs: 900, latencyMs: 4000, ...answered }), ...start(5000) },
      { ...rowOf({ id: 'early', round: 1, role: 'primary', hedgeTrigger: null, waitedMs: 300, latencyMs: 4400, won: false }), ...start(0) },
    ]);
    expect(calls).toMatchObject({ calls: 1, answered: 1, latency: { maxMs: 9300 }, net: { maxMs: 7800 } });
    expect(slowest).toMatchObject([{ startedAt: '2026-10-31T23:59:59.700Z', callMs: 9300, answered: true, attempts: [{ round: 1, startMs: 300, endMs: 4700 }, { round: 2, startMs: 5300, endMs: 9300 }] }]);
  });

  test('is not answered where its last round failed, though an earlier one was: vectors came for a part only', async () => {
    const part = { streamed: false, stallMs: null } as const;
    const { calls } = await figuresOf([rowOf({ ...part, id: 'a', round: 1, outcome: 'ok', errorClass: null, won: true }), rowOf({ ...part, id: 'b', round: 2, won: false })]);
    expect(calls).toMatchObject({ calls: 1, answered: 0, latency: { count: 0, maxMs: null } });
  });
});

/** Of rows as they are, without a database. */
async function figuresOf(stored: readonly AttemptRow[]): Promise<ReportFigures> {
  const report = createReport();
  const byCall = [...stored].sort((a, b) => (a.call_id < b.call_id ? -1 : 1)).map((row) => readColumns.map((name) => row[name]));
  for await (const call of readCalls(Readable.from([byCall]))) report.add(call);
  return report.figures({ madeAt, database: 'here', filter: {} });
}
