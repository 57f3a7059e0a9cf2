import type Sqlite from 'better-sqlite3';
import type { Distribution, HourFigures, OutcomeCounts, ReportFigures, SlowCall, TimeSplit } from '../../lib/lab/report/reportFigures.js';

type Row = Record<string, unknown>;

/** The figures of a report as SQL tells them, each by a query of its own over the rows that `where` lets through. */
export function reportSql(db: Sqlite.Database, where: string): Omit<ReportFigures, 'madeAt' | 'database' | 'filter'> {
  const tables = {
    attempt: `SELECT *, CAST(round(unixepoch(started_at, 'subsec') * 1000) AS INTEGER) AS start FROM llm_attempts WHERE ${where}`,
    gap: `SELECT attempt.*, each.key AS place, each.value ->> 0 AS offset, each.value ->> 1 AS length, json_array_length(record_gaps) AS gaps
      FROM attempt, json_each(record_gaps) AS each
      WHERE ttft_ms IS NOT NULL AND NOT (each.key = 0 AND each.value ->> 0 = 0 AND each.value ->> 1 = ttft_ms)`,
    mid: "SELECT * FROM gap WHERE outcome = 'error' OR length <= max_inter_token_ms",
    longest: `SELECT attempt.*, CASE outcome WHEN 'ok' THEN max_inter_token_ms ELSE coalesce(silence, 0) END AS silence
      FROM attempt LEFT JOIN (SELECT id, max(length) AS silence FROM mid GROUP BY id) USING (id) WHERE streamed = 1 AND ttft_ms IS NOT NULL`,
    timed: `SELECT attempt.*, tail FROM attempt
      LEFT JOIN (SELECT id, length AS tail FROM mid WHERE streamed = 1 AND outcome = 'error' AND place = gaps - 1 AND offset + length >= latency_ms - 2) USING (id)`,
    entered: `SELECT *,
        first_value(start - waited_ms) OVER (PARTITION BY call_id ORDER BY start, round, role DESC, id) AS entry,
        max(start + latency_ms) OVER (PARTITION BY call_id) AS call_end,
        max(round) OVER (PARTITION BY call_id) AS last_round
      FROM attempt`,
    call: `SELECT call_id, entry, call_end - entry AS call_ms,
        max(outcome = 'ok' AND won = 1 AND round = last_round) AS answered,
        max(CASE WHEN outcome = 'ok' AND won = 1 AND round = last_round THEN stall_ms END) AS winner_stall
      FROM entered GROUP BY call_id`,
  };
  for (const [name, sql] of Object.entries(tables)) db.exec(`DROP TABLE IF EXISTS temp.${name}; CREATE TEMP TABLE ${name} AS ${sql}`);
  const rows = <T = Row>(sql: string): T[] => db.prepare<unknown[], T>(sql).all();
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- says what the query selects
  const one = <T = Row>(sql: string): T => rows<T>(sql)[0]!;
  const count = (sql: string): number => one<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`).n;
  const sum = (column: string, from: string): number => one<{ n: number }>(`SELECT total(${column}) AS n FROM ${from}`).n;

  const timeColumns = `count(*) AS attempts, coalesce(sum(latency_ms), 0) AS wallMs,
    count(stall_ms) AS measured, coalesce(sum(latency_ms) FILTER (WHERE stall_ms IS NOT NULL), 0) AS measuredMs,
    coalesce(sum(stall_ms), 0) AS stallMs, coalesce(sum(ttft_ms) FILTER (WHERE stall_ms IS NOT NULL), 0) AS firstWaitMs,
    count(*) FILTER (WHERE streamed = 1 AND outcome = 'error') AS cut,
    coalesce(sum(latency_ms) FILTER (WHERE streamed = 1 AND outcome = 'error'), 0) AS cutMs,
    count(*) FILTER (WHERE streamed = 1 AND outcome = 'error' AND ttft_ms IS NULL) AS neverSpoke,
    coalesce(sum(coalesce(ttft_ms, latency_ms)) FILTER (WHERE streamed = 1 AND outcome = 'error'), 0) AS cutFirstWaitMs,
    coalesce(sum(tail), 0) AS cutSilentMs,
    coalesce(sum(latency_ms) FILTER (WHERE stall_ms IS NULL AND NOT (streamed = 1 AND outcome = 'error')), 0) AS wholeMs`;
  const outcomeColumns = `count(*) FILTER (WHERE outcome = 'ok' AND won = 1) AS won, count(*) FILTER (WHERE outcome = 'ok' AND won = 0) AS lost, ${[
    'transient', 'rate_limited', 'source', 'request', 'hedge_cancelled', 'caller_cancelled', 'deadline',
  ].map((name) => `count(*) FILTER (WHERE error_class = '${name}') AS ${name}`).join(', ')}`;

  const distribution = (value: string, from: string): Distribution => {
    const values = `SELECT ${value} AS v FROM ${from}`;
    const shares = rows<{ v: number; share: number }>(`SELECT DISTINCT v, cume_dist() OVER (ORDER BY v) AS share FROM (${values}) WHERE v IS NOT NULL ORDER BY v`);
    const at = (share: number): number | null => one<{ v: number | null }>(`SELECT min(v) AS v FROM (SELECT v, cume_dist() OVER (ORDER BY v) AS share FROM (${values}) WHERE v IS NOT NULL) WHERE share >= ${share}`).v;
    const { n, mean, most } = one<{ n: number; mean: number | null; most: number | null }>(`SELECT count(v) AS n, avg(v) AS mean, max(v) AS most FROM (${values})`);
    return { count: n, meanMs: mean, p50Ms: at(0.5), p90Ms: at(0.9), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: most, cdf: shares.map(({ v, share }) => [v, share] as const) };
  };

  const sources = rows<{ source: string; provider: string }>('SELECT source, min(provider) AS provider FROM attempt GROUP BY source ORDER BY sum(latency_ms) DESC, source').map(({ source, provider }) => {
    const of = `source = '${source}'`;
    return {
      source,
      provider,
      models: rows<{ model: string }>(`SELECT DISTINCT model FROM attempt WHERE ${of} ORDER BY model`).map(({ model }) => model),
      time: one<TimeSplit>(`SELECT ${timeColumns} FROM timed WHERE ${of}`),
      ttft: distribution('ttft_ms', `attempt WHERE ${of}`),
      longestSilence: distribution('silence', `longest WHERE ${of}`),
      outcomes: one<OutcomeCounts>(`SELECT ${outcomeColumns} FROM attempt WHERE ${of}`),
    };
  });

  const backups = (condition: string): number => count(`attempt WHERE role = 'backup' AND ${condition}`);
  const loser = "((outcome = 'ok' AND won = 0) OR error_class = 'hedge_cancelled')";
  const iso = (ms: string): string => `strftime('%Y-%m-%dT%H:%M:%S', ${ms} / 1000, 'unixepoch') || printf('.%03dZ', ${ms} % 1000)`;
  const slowest = rows<{ call_id: string; entry: number; startedAt: string; call_ms: number; answered: number }>(`SELECT *, ${iso('entry')} AS startedAt FROM call ORDER BY call_ms DESC, call_id LIMIT 20`).map(
    ({ call_id, startedAt, call_ms, answered }): SlowCall => ({
      callId: call_id,
      startedAt,
      callMs: call_ms,
      answered: answered === 1,
      attempts: rows(`SELECT source, role, hedge_trigger AS "trigger", round, start - entry AS startMs, start - entry + latency_ms AS endMs, ttft_ms AS ttftMs, won, error_class AS errorClass,
        error_message AS errorMessage, record_gaps AS silences FROM entered WHERE call_id = '${call_id}' ORDER BY round, start, role DESC, id`).map((row) => ({
        ...(row as unknown as SlowCall['attempts'][number]),
        won: row['won'] === 1,
        silences: JSON.parse(row['silences'] as string) as [number, number][],
      })),
    }),
  );

  const hours = rows<Row & TimeSplit>(`SELECT strftime('%Y-%m-%dT%H:00:00.000Z', started_at) AS "from", ${timeColumns}, count(*) FILTER (WHERE role = 'backup') AS backups,
    count(*) FILTER (WHERE error_class IN ('transient', 'rate_limited', 'source', 'request', 'deadline')) AS failed FROM timed GROUP BY 1 ORDER BY 1`).map(
    ({ from, backups: started, failed, ...time }) => ({ from, time, backups: started, failed }) as HourFigures,
  );

  return {
    ...one<{ firstAt: string | null; lastAt: string | null }>('SELECT min(started_at) AS firstAt, max(started_at) AS lastAt FROM attempt'),
    overall: one<TimeSplit>(`SELECT ${timeColumns} FROM timed`),
    outcomes: one<OutcomeCounts>(`SELECT ${outcomeColumns} FROM attempt`),
    sources,
    ttft: distribution('ttft_ms', 'attempt'),
    longestSilence: distribution('silence', 'longest'),
    gaps: distribution('length', 'mid'),
    wall: distribution('latency_ms', 'attempt WHERE stall_ms IS NOT NULL'),
    net: distribution('max(0, latency_ms - stall_ms)', 'attempt WHERE stall_ms IS NOT NULL'),
    calls: {
      calls: count('call'),
      answered: count('call WHERE answered'),
      latency: distribution('call_ms', 'call WHERE answered'),
      net: distribution('max(0, call_ms - winner_stall)', 'call WHERE answered AND winner_stall IS NOT NULL'),
    },
    hedges: {
      calls: one<{ n: number }>("SELECT count(DISTINCT call_id) AS n FROM attempt WHERE role = 'backup'").n,
      started: { first_increment: backups("hedge_trigger = 'first_increment'"), stall: backups("hedge_trigger = 'stall'") },
      won: backups("outcome = 'ok' AND won = 1"),
      wasted: backups("(outcome = 'ok' AND won = 0 OR error_class IN ('hedge_cancelled', 'caller_cancelled', 'deadline'))"),
      failed: backups("error_class IN ('transient', 'rate_limited', 'source', 'request')"),
      losers: {
        attempts: count(`attempt WHERE ${loser}`),
        tokensReported: sum('total_tokens', `attempt WHERE ${loser}`),
        tokensEstimated: sum('estimated_tokens', `attempt WHERE ${loser} AND total_tokens IS NULL`),
        unknown: count(`attempt WHERE ${loser} AND total_tokens IS NULL AND estimated_tokens IS NULL`),
        wallMs: sum('latency_ms', `attempt WHERE ${loser}`),
      },
      winnersTokens: sum('total_tokens', "attempt WHERE outcome = 'ok' AND won = 1"),
    },
    slowest,
    step: 'hour',
    hours,
    blocked: count('attempt WHERE loop_lag_ms > 1000'),
  };
}
