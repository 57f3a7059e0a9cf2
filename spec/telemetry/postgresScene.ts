import { asyncScheduler } from 'rxjs';
import pg from 'pg';
import type { AttemptRecord, GatewayEventBody } from '../../lib/model/events.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { batched } from '../../lib/telemetry/delivery.js';
import type { Delivery } from '../../lib/telemetry/delivery.js';
import { createPostgresSink } from '../../lib/telemetry/postgresSink.js';
import type { PostgresSink, PostgresSinkOptions } from '../../lib/telemetry/postgresSink.js';
import { createRecorder } from '../../lib/telemetry/recorder.js';
import type { Recorder } from '../../lib/telemetry/recorder.js';
import { columnNames } from '../../lib/telemetry/schema.js';
import { query } from '../support/postgresServer.js';
import { until } from '../support/until.js';
import { attemptRecord } from './attemptRecord.js';

const quick: Delivery = { ...batched, batchMs: 10, retryMs: 30, retryMaxMs: 100, maxTries: 1000 };

export interface RecorderScene {
  readonly recorder: Recorder;
  readonly troubles: string[];
  readonly record: (...ids: string[]) => void;
  /** Until everything recorded is stored or lost. */
  readonly settled: () => Promise<void>;
}

export type SceneOptions = Omit<PostgresSinkOptions, 'url'>;

/** What a test opens on a telemetry database; `close` ends all of it. */
export interface PostgresScene {
  openSink(options?: SceneOptions): PostgresSink;
  startRecorder(options?: SceneOptions, delivery?: Partial<Delivery>): RecorderScene;
  /** Another session, in which a transaction may stay open. */
  openSession(): Promise<pg.Client>;
  close(): Promise<void>;
}

export function createPostgresScene(url: string): PostgresScene {
  const cleanUps: (() => Promise<unknown>)[] = [];
  return {
    openSink(options = {}) {
      const sink = createPostgresSink({ url, ...options });
      cleanUps.push(() => sink.close());
      return sink;
    },
    startRecorder(options = {}, delivery = {}) {
      const troubles: string[] = [];
      const report = (event: GatewayEventBody): unknown => event.type === 'telemetry-trouble' && troubles.push(event.message);
      const recorder = createRecorder({ sink: createPostgresSink({ url, ...options }), report, scheduler: asyncScheduler, delivery: { ...quick, ...delivery } });
      cleanUps.push(() => recorder.close());
      return {
        recorder,
        troubles,
        record: (...ids) => recorder.record(ids.map((id) => attemptRecord({ id }))),
        settled: () => until('all rows are settled', () => Promise.resolve(recorder.pending === 0), { everyMs: 10 }),
      };
    },
    async openSession() {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      cleanUps.push(() => client.end());
      return client;
    },
    async close() {
      for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    },
  };
}

export function rowOf(over: Partial<AttemptRecord> = {}): AttemptRow {
  return toRow(attemptRecord(over), { nowMs: 15_000, date: new Date(), pid: 1, host: 'h' });
}

export function rowsIn<Row extends pg.QueryResultRow = Record<string, unknown>>(url: string, columns = '*'): Promise<Row[]> {
  return query<Row>(url, `SELECT ${columns} FROM llm_attempts ORDER BY id`);
}

export async function idsIn(url: string): Promise<string[]> {
  return (await rowsIn<{ id: string }>(url, 'id')).map(({ id }) => id);
}

/** Such as `r000`, so that they sort as they were made. */
export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `r${String(at).padStart(3, '0')}`);
}

/** A table as it was before the stall columns, with three rows. */
export async function makeOldTable(url: string): Promise<void> {
  const flags = ['streamed', 'won'];
  const figures = columnNames.filter((name) => /_ms$|_tokens$|^(round|http_status|increments|pid)$/.test(name));
  const typeOf = (name: string): string => (name.endsWith('_at') ? 'timestamptz' : flags.includes(name) ? 'smallint' : (figures as string[]).includes(name) ? 'bigint' : 'text');
  const columns = columnNames.filter((name) => !name.startsWith('stall_')).map((name) => (name === 'id' ? 'id text NOT NULL PRIMARY KEY' : `${name} ${typeOf(name)}`));
  await query(url, `CREATE TABLE llm_attempts (${columns.join(', ')}); INSERT INTO llm_attempts (id, call_id, latency_ms) VALUES ('old-1', 'c', 9), ('old-2', 'c', 9), ('old-3', 'c', 9)`);
}

/** What the sessions of this library are doing on the database. */
export function sessions(url: string): Promise<{ pid: number; state: string; wait_event_type: string | null; query: string }[]> {
  return query(url, "SELECT pid, state, wait_event_type, query FROM pg_stat_activity WHERE application_name = 'polygateway' AND datname = current_database()");
}

/** Until an insert of this library is under way and waits. */
export function untilInserting(url: string): Promise<void> {
  return until('an insert waits', async () => (await sessions(url)).some(({ state, query: sql }) => state === 'active' && sql.startsWith('INSERT')), { everyMs: 10 });
}
