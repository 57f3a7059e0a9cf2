import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttemptRow, Gateway, GatewayError, GatewayOptions } from '../../lib/index.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { asks, closeAll, gatewayTo, until, upstream } from './scene.js';

const ok = 'd@0.02"hello" d@0.04" world" f@0.05 u(7,2)';

/** One call each, and the rows that it must leave. */
interface Case {
  /** What the upstreams play, first asked first. */
  scripts: string[];
  options?: Partial<GatewayOptions>;
  /** Leaves in mid-stream. */
  leaves?: true;
  rows: Partial<AttemptRow>[];
}

const cases: Record<string, Case> = {
  ok: { scripts: [ok], rows: [{ outcome: 'ok', error_class: null, won: 1, increments: 2, finish_reason: 'stop', prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, stall_ms: 0, stall_count: 0, round: 1, role: 'primary', streamed: 1 }] },
  transient: { scripts: ['503@0', ok], rows: [{ error_class: 'transient', http_status: 503, round: 1, won: 0, increments: 0, ttft_ms: null, provider_request_id: 'req_chatcmpl-sim1' }, { error_class: null, round: 2, won: 1, source: 'b/1' }] },
  rate_limited: { scripts: ['429@0(ra=7)', ok], rows: [{ error_class: 'rate_limited', http_status: 429, retry_after_ms: 7000, round: 1 }, { error_class: null, round: 2 }] },
  source: { scripts: ['401@0', ok], rows: [{ error_class: 'source', http_status: 401, round: 1 }, { error_class: null, round: 2 }] },
  request: { scripts: ['400@0', ok], rows: [{ error_class: 'request', http_status: 400, round: 1 }] },
  hedge_cancelled: {
    scripts: ['d@0.02"half" hang', ok],
    options: { hedgeStallAfterS: 0.15 },
    rows: [{ error_class: 'hedge_cancelled', role: 'primary', hedge_trigger: null, won: 0, stall_ms: null, increments: 1, round: 1 }, { error_class: null, role: 'backup', hedge_trigger: 'stall', won: 1, round: 1 }],
  },
  caller_cancelled: { scripts: ['d@0.02"half" hang'], leaves: true, rows: [{ error_class: 'caller_cancelled', outcome: 'error', won: 0, stall_ms: null }] },
  deadline: { scripts: ['d@0.02"half" hang'], options: { callDeadlineS: 0.2 }, rows: [{ error_class: 'deadline', outcome: 'error', won: 0, stall_ms: null }] },
};

const folder = mkdtempSync(join(tmpdir(), 'rows-'));
const databaseFile = join(folder, 'telemetry.db');
const toDatabase = { telemetryUrl: `sqlite:${databaseFile}` };
let sent = 0;

afterEach(closeAll);
afterAll(() => rmSync(folder, { recursive: true }));

async function runCase(name: string, { scripts, options = {}, leaves }: Case): Promise<void> {
  const upstreams = await Promise.all(scripts.map((script) => upstream([script])));
  const { gateway } = gatewayTo(upstreams.map(({ url }) => url), { ...toDatabase, ...options });
  const request = asks('hello', { tags: { case: name } });
  if (leaves === true) await leaveInMidStream(gateway, request, upstreams[0]!);
  else await gateway.chat(request).catch(() => undefined);
  // At once, before any batch is due.
  await gateway.close();
  sent += upstreams.reduce((sum, { requests }) => sum + requests.length, 0);
}

async function leaveInMidStream(gateway: Gateway, request: ReturnType<typeof asks>, { requests }: Upstream): Promise<void> {
  const call = gateway.chat$(request).subscribe();
  await until(() => requests.length === 1 && performance.now() - requests[0]!.startedMs > 200, 'the first increment');
  call.unsubscribe();
}

function storedRows(): AttemptRow[] {
  const db = new Database(databaseFile, { readonly: true });
  const rows = db.prepare('SELECT * FROM llm_attempts ORDER BY round, role DESC').all() as AttemptRow[];
  db.close();
  return rows;
}

describe('E1: each attempt leaves its row in the database, whatever its end', () => {
  let rows: AttemptRow[];
  // Eight gateways write to one database, and close right after their call (E5).
  beforeAll(async () => {
    await Promise.all(Object.entries(cases).map(([name, given]) => runCase(name, given)));
    rows = storedRows();
  }, 30_000);

  test.each(Object.keys(cases))('%s', (name) => {
    const mine = rows.filter(({ tags }) => tags === JSON.stringify({ case: name }));
    expect(mine).toEqual(cases[name]!.rows.map((row) => expect.objectContaining(row)));
    expect(new Set(mine.map(({ call_id }) => call_id)).size).toBe(1);
  });

  test('exactly one for each request that the upstreams have seen', () => {
    expect(rows).toHaveLength(sent);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(sent);
  });

  test('every row says where, when and how long; a request is never in it', () => {
    for (const row of rows) {
      expect(row).toMatchObject({ scope: 'LLM', provider: expect.stringMatching(/^[ab]$/), source: `${row.provider}/1`, pid: process.pid, estimated_tokens: null });
      expect(row.latency_ms).toBeGreaterThanOrEqual(row.ttft_ms ?? 0);
      expect(Date.parse(row.created_at) - Date.parse(row.started_at)).toBeGreaterThanOrEqual(row.latency_ms! - 2);
      const gaps = JSON.parse(row.record_gaps) as [number, number][];
      expect(gaps.length).toBeGreaterThan(0);
      expect(JSON.stringify(row)).not.toContain('messages');
    }
  });
});

test('E5: `close` ends the calls in flight and stores their rows', async () => {
  const a = await upstream(['d@0.02..9/0.02"tick "']);
  const { gateway, events } = gatewayTo([a.url], toDatabase);
  const tags = { case: 'closed' };
  const errors: unknown[] = [];
  for (let i = 0; i < 5; i += 1) gateway.chat$(asks('hello', { tags })).subscribe({ error: (error: unknown) => errors.push((error as GatewayError).code) });
  await until(() => a.requests.length === 5, 'five that stream');

  await gateway.close();

  expect(errors).toEqual(['closed', 'closed', 'closed', 'closed', 'closed']);
  const mine = storedRows().filter((row) => row.tags === JSON.stringify(tags));
  expect(mine.map(({ error_class, error_message }) => [error_class, error_message])).toEqual(Array.from({ length: 5 }, () => ['caller_cancelled', 'the gateway was closed']));
  expect(events.filter(({ type }) => type === 'telemetry-trouble')).toEqual([]);
  await expect(gateway.chat(asks('too late'))).rejects.toMatchObject({ code: 'closed' });
  expect(a.requests).toHaveLength(5);
});
