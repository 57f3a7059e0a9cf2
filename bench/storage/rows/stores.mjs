// Who stores rows, behind one interface: `put` takes the records that have come, `waiting` is what it still holds, `end` waits until all is stored.
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { importBuilt } from '../../support/places.mjs';

const Database = createRequire(import.meta.url)('better-sqlite3');
const [{ createRecorder }, { batched }, { createSqliteSink }, { createPostgresSink }, { toRow }, { insertSql, rowValues, schemaStatements }, { monotonicScheduler }] = await Promise.all(
  ['recorder', 'delivery', 'sqliteSink', 'postgresSink', 'attemptRow', 'schema'].map((name) => importBuilt(`telemetry/${name}.js`)).concat(importBuilt('clock/monotonicScheduler.js')),
);

export const stores = {
  nothing: () => ({ waiting: 0, put: () => undefined, end: () => undefined }),
  'polygateway, no database': () => recorded({ write: () => undefined }),
  polygateway: (file) => recorded(createSqliteSink({ file })),
  'polygateway, Postgres': (url) => recorded(createPostgresSink({ url })),
  'main thread, one by one': (file) => onMainThread(file, 1),
  'main thread, 100 a transaction': (file) => onMainThread(file, 100),
};

/** How many rows a store has put there; `undefined` where it keeps none. */
export async function rowsStored(name, place) {
  if (name.startsWith('nothing') || name.endsWith('no database')) return undefined;
  const count = 'SELECT count(*) AS stored FROM llm_attempts';
  if (!name.endsWith('Postgres')) return new Database(place, { readonly: true }).prepare(count).get().stored;
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  const { rows } = await client.query(count);
  await client.end();
  return Number(rows[0].stored);
}

/** The way of a row in the product: recorder, batches, worker thread. */
export async function recorded(sink) {
  const trouble = [];
  const recorder = createRecorder({ sink, report: ({ message }) => trouble.push(message), scheduler: monotonicScheduler, delivery: batched });
  // Its thread loads the driver.
  await sleep(200);
  return {
    get waiting() { return recorder.pending; },
    put: (records) => records.forEach((record) => recorder.record([record])),
    async end() {
      await recorder.close();
      if (trouble.length > 0) throw new Error(`The recorder had trouble: ${trouble[0]}`);
    },
  };
}

/** What one would write without a thread: the same rows, table and pragmas. */
function onMainThread(file, rowsPerTransaction) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  for (const statement of schemaStatements('sqlite')) database.exec(statement);
  const insert = database.prepare(insertSql());
  const insertAll = database.transaction((rows) => { for (const row of rows) insert.run(row); });
  let waiting = [];
  const flush = () => {
    if (waiting.length > 0) insertAll(waiting);
    waiting = [];
  };
  return {
    waiting: 0,
    put(records) {
      for (const record of records) {
        const row = rowValues(toRow(record, { nowMs: performance.now(), date: new Date(), pid: process.pid, host: hostname() }));
        if (rowsPerTransaction === 1) insert.run(row);
        else if (waiting.push(row) >= rowsPerTransaction) flush();
      }
    },
    end() {
      flush();
      database.close();
    },
  };
}
