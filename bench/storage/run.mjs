// What Redis and SQLite cost a call. Parts, all if none is named: redis, rows, rowParts, calls, postgres.
//   node bench/storage/run.mjs [redis rows …] [--rounds 5] [--quick] [--json FILE]
import { writeFileSync } from 'node:fs';
import { describe, watchOthers } from '../support/machine.mjs';
import { parseOptions } from '../support/options.mjs';
import { measureCalls } from './calls/calls.mjs';
import { measurePostgres } from './postgres/postgres.mjs';
import { measureRedis } from './redis/redis.mjs';
import { measureRowParts } from './rows/rowParts.mjs';
import { measureRows } from './rows/rows.mjs';

const parts = {
  redis: ['Redis: what is said to it, and what that adds to a call', measureRedis],
  rows: ['SQLite: what a row costs', measureRows],
  rowParts: ['Where the time of a row goes on the main thread', measureRowParts],
  calls: ['SQLite: what a row costs with the whole engine around it', measureCalls],
  postgres: ['Postgres: what a row costs', measurePostgres],
};
const names = Object.keys(parts);
const { words, json, ...given } = parseOptions({ rounds: 5, quick: false, json: undefined }, { takesWords: true, words: 'parts', about: `parts: ${names.join(', ')}` });
const unknown = words.find((word) => !names.includes(word));
if (unknown !== undefined) {
  console.error(`There is no part ${unknown}. Known parts: ${names.join(', ')}.`);
  process.exit(2);
}
const options = { ...given, rounds: given.quick ? 1 : given.rounds };

console.log(`${describe(['rxjs', 'ioredis', 'better-sqlite3', 'pg'])}\n- medians of ${options.rounds} rounds`);
const measured = {};
for (const name of words.length === 0 ? names : words) {
  const [title, measure] = parts[name];
  const others = watchOthers();
  const { raw, markdown } = await measure(options);
  measured[name] = raw;
  console.log(`\n## ${title}\n\n${markdown}\n\nOther programs used ${others.stop().toFixed(2)} cores meanwhile.`);
}
if (json !== undefined) writeFileSync(json, JSON.stringify(measured, undefined, 1));
process.exit();
