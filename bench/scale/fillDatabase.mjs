// Fills a new SQLite database with so many plausible rows, through the product's own schema and rows:    node fillDatabase.mjs FILE ROWS
import { createRequire } from 'node:module';
import { importBuilt } from '../support/places.mjs';
import { plausibleCalls } from './plausibleCalls.mjs';

const [, , file, rows] = process.argv;
const [{ toRow }, { schemaStatements, insertSql, rowValues, columnNames, tableName }, { mulberry32 }] = await Promise.all(
  ['telemetry/attemptRow.js', 'telemetry/schema.js', 'lab/mulberry32.js'].map(importBuilt),
);
const untilMs = Date.UTC(2026, 10, 30);
const rowsATransaction = 50_000;
// More are copies of them: SQLite writes those in a tenth of the time.
const mostMadeRows = 1_000_000;

const db = new (createRequire(import.meta.url)('better-sqlite3'))(file);
// Nothing of it is worth keeping if the machine fails. What is read later is in WAL mode, as the product leaves it.
for (const pragma of ['page_size = 4096', 'journal_mode = OFF', 'synchronous = OFF', 'cache_size = -1500000', 'locking_mode = EXCLUSIVE']) db.pragma(pragma);
const [table, ...indexes] = schemaStatements('sqlite');
db.exec(table);
const insert = db.prepare(insertSql());
const calls = plausibleCalls({ random: mulberry32(1), untilMs });

const madeRows = Math.min(Number(rows), mostMadeRows);
for (let left = madeRows; left > 0; left -= rowsATransaction) db.transaction(insertRows)(Math.min(left, rowsATransaction));
for (let copy = 1; copy * madeRows < Number(rows); copy++) copyRows(copy, Math.min(madeRows, Number(rows) - copy * madeRows));
// Afterwards: to keep them sorted by ids that come in no order would take most of the time.
for (const statement of indexes) db.exec(statement);
db.pragma('locking_mode = NORMAL');
db.pragma('journal_mode = WAL');
db.close();
console.log(JSON.stringify({ rows: Number(rows) }));

// A call that would be cut in two is left out with its last rows.
function insertRows(count) {
  for (let left = count; left > 0; ) {
    for (const record of calls.next().value.slice(0, left)) {
      insert.run(rowValues(toRow(record, { nowMs: record.endedMs, date: new Date(record.endedMs), pid: 1, host: 'bench' })));
      left -= 1;
    }
  }
}

/** The same attempts under other ids, which come in another order, some hours later: their times are those of others too. */
function copyRows(copy, count) {
  const turned = `substr(substr(call_id, 25) || substr(call_id, 25), ${1 + copy}, 8) || substr(call_id, 9, 6) || '${copy.toString(16)}' || substr(call_id, 16)`;
  const changed = {
    id: `${turned} || substr(id, 37)`, call_id: turned,
    started_at: `strftime('%Y-%m-%dT%H:%M:%fZ', started_at, '-${copy} hours')`, created_at: `strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '-${copy} hours')`,
  };
  db.exec(`INSERT INTO ${tableName} SELECT ${columnNames.map((name) => changed[name] ?? name).join(', ')} FROM ${tableName} WHERE rowid <= ${count}`);
}
