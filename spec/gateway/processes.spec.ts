import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './children/startChild.js';
import type { Child } from './children/startChild.js';
import { closeAfterTest, closeAll, nothingInFlight, upstream } from './scene.js';

interface LongRun {
  counts: Record<string, number>;
  heapMb: [number, number];
  warnings: string[];
  toldByAbort: number;
  lanes: { listeners: object; rows: number; stats: object }[];
  processListeners: { before: number; after: number };
}

interface Strict {
  won: number;
  reasons: string[];
  rows: object;
}

interface OneCall {
  content: string;
  atMs: number;
  exitedMs: number;
}

type Ended<T> = Awaited<Child['ended']> & { told: T };

const folder = mkdtempSync(join(tmpdir(), 'processes-'));
const ok = 'd@0"ok" f@0';
const slow = process.env['SLOW'] === '1';
/** Of 500 calls each, a hundred at a time; `SLOW=1` makes it ten thousand. */
const batches = slow ? { scripted: 20, onSockets: 8 } : { scripted: 6, onSockets: 1 };

async function run<T>(child: Child): Promise<Ended<T>> {
  closeAfterTest(child.kill);
  const told = await child.message<T>();
  return { ...(await child.ended), told };
}

/** When the process ended is added to what it told. */
async function runOneCall(url: string, closes: boolean): Promise<Ended<OneCall>> {
  const ended = await run<OneCall>(startChild('oneCall.mjs', { url, closes, databaseFile: join(folder, `one-${closes}.db`) }));
  return { ...ended, told: { ...ended.told, exitedMs: Date.now() - ended.told.atMs } };
}

async function runLong(): Promise<Ended<LongRun>> {
  const [a, b] = await Promise.all([
    upstream([ok, ok, 'd@0"half" rst@0.005', ok, 'd@0"half" hang', ok, 'hang', ok, 'd@0"half" err@0(server_error)', ok], { order: 'cycle' }),
    upstream([ok, ok, 'd@0"half" eof@0'], { order: 'cycle' }),
  ]);
  const options = { urls: [a.url, b.url], databaseFile: join(folder, 'long.db'), batches };
  return run(startChild('longRun.mjs', options, { execArgv: ['--expose-gc'] }));
}

async function runStrict(): Promise<Ended<Strict>> {
  const [a, b] = await Promise.all([upstream(['hang']), upstream([ok])]);
  return run(startChild('hedgedStrict.mjs', { urls: [a.url, b.url] }, { execArgv: ['--unhandled-rejections=strict'] }));
}

let long: Ended<LongRun>;
let strict: Ended<Strict>;
let closing: Ended<OneCall>;
let leaving: Ended<OneCall>;

// Side by side, each in a process of its own.
beforeAll(async () => {
  const late = await upstream(['d@0.2"hello" f@0.2']);
  [strict, closing, leaving, long] = await Promise.all([runStrict(), runOneCall(late.url, true), runOneCall(late.url, false), runLong()]);
}, 240_000);

afterAll(async () => {
  await closeAll();
  rmSync(folder, { recursive: true });
});

describe(`${500 * batches.scripted} calls of every kind on one signal that outlives them, ${500 * batches.onSockets} over sockets on another`, () => {
  test('they were of every kind', () => {
    const { counts } = long.told;
    expect([long.code, long.stderr]).toEqual([0, '']);
    const enough = {
      answered: 1500,
      failed: 50,
      retry: 300,
      backup: 50,
      'thrown by the caller': 50,
      'killed by the watchdog': 20,
      'row ok': 1500,
      'row transient': 300,
      'row hedge_cancelled': 20,
      'row caller_cancelled': 30,
    };
    expect(Object.entries(enough).filter(([what, least]) => !((counts[what] ?? 0) >= least)).map(([what]) => [what, counts[what]])).toEqual([]);
  });

  test('CN-03: one listener however many calls watch the signal, none when none does, no warning; the last abort calls nothing', () => {
    expect(long.told.lanes.map(({ listeners }) => listeners)).toEqual([{ most: 1, left: 0 }, { most: 1, left: 0 }]);
    expect([long.told.warnings, long.told.toldByAbort]).toEqual([[], 0]);
  });

  test('MM-05: the heap does not grow with the calls, and nothing is left of them', () => {
    const { heapMb: [early, late], lanes, processListeners } = long.told;
    expect(late - early).toBeLessThan(2.5);
    const atRest = { ...nothingInFlight, breakers: { 'a/1': 'closed', 'b/1': 'closed' }, permits: { 'a/1': 0, 'b/1': 0 } };
    expect(lanes.map(({ stats }) => stats)).toEqual([atRest, atRest]);
    expect(processListeners.after).toBe(processListeners.before);
  });

  test('E1: every attempt over a socket left one row', () => {
    const rows = long.told.lanes[1]!.rows;
    expect(rows).toBeGreaterThan(500);
    expect(rowsIn('long.db')).toBe(rows);
  });
});

test('HG-13: late rejections of cancelled attempts reach nobody: strict process, 100 hedged calls, 20 that left, 10 aborted before', () => {
  expect(strict).toEqual({
    code: 0,
    signal: null,
    stderr: '',
    told: { won: 100, reasons: Array.from({ length: 10 }, () => 'before'), rows: { ok: 100, hedge_cancelled: 100, 'left, sent or not': 20 } },
  });
});

describe('CN-04: a script that makes one call with limits of minutes', () => {
  // Seconds, since a dozen processes may share two cores; a timer that was forgotten would take a minute.
  test('ends right after `close()`', () => {
    expect([closing.code, closing.stderr, closing.told.content]).toEqual([0, '', 'hello']);
    expect(closing.told.exitedMs).toBeLessThan(4000);
  });

  test('ends soon without it: neither a timer nor an idle connection keeps it up', () => {
    expect([leaving.code, leaving.stderr, leaving.told.content]).toEqual([0, '', 'hello']);
    expect(leaving.told.exitedMs).toBeLessThan(8000);
  });

  test('E5: either way its row is in the database', () => {
    expect([closing, leaving].map((_, i) => rowsIn(`one-${i === 0}.db`))).toEqual([1, 1]);
  });
});

function rowsIn(database: string): number {
  const db = new Database(join(folder, database), { readonly: true });
  const [rows, attempts] = db.prepare('SELECT count(*), count(DISTINCT id) FROM llm_attempts').raw().get() as [number, number];
  db.close();
  expect(rows).toBe(attempts);
  return rows;
}
