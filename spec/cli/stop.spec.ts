import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { schemaSql } from '../../lib/telemetry/schema.js';
import { sharedRedisUrl } from '../support/redisServer.js';
import { startCli } from './runCli.js';
import type { RunningCli } from './runCli.js';
import { sourceEnv } from './sourceEnv.js';

// Each test starts the program, perhaps on a busy machine.
jest.setTimeout(30_000);

const slow = 'open@0.02 d@0.05"Hel" hang';
let folder: string;
let file: string;
let cleanUps: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-stop-'));
  file = join(folder, 'telemetry.db');
  cleanUps = [() => rmSync(folder, { recursive: true })];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

async function upstream(...scripts: string[]): Promise<Upstream> {
  const started = await startUpstream({ scripts });
  cleanUps.push(started.close);
  return started;
}

function startChat(urls: Record<string, string>, more: Record<string, string> = {}): RunningCli {
  const cli = startCli(['chat', 'x'], { env: sourceEnv(urls, { LLM__TELEMETRY__URL: `sqlite:${file}`, ...more }) });
  cleanUps.push(() => cli.child.kill('SIGKILL'));
  return cli;
}

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`did not come true: ${holds.toString()}`);
    await sleep(10);
  }
}

async function lockFor(ms: number): Promise<void> {
  const holder = spawn(process.execPath, [join('spec', 'telemetry', 'holdLock.mjs'), file, String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUps.push(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
}

/** How the program ended, and how long after the signal. */
async function stop(cli: RunningCli, ...signals: NodeJS.Signals[]): Promise<{ code: number | null; output: string; tookMs: number }> {
  const startMs = performance.now();
  for (const signal of signals) cli.child.kill(signal);
  const { code, stdout, stderr } = await cli.ended;
  return { code, output: stdout + stderr, tookMs: performance.now() - startMs };
}

function stored(): unknown[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare('SELECT role, error_class, error_message FROM llm_attempts ORDER BY rowid').all();
  } finally {
    db.close();
  }
}

const left = (role: string): unknown => ({ role, error_class: 'caller_cancelled', error_message: expect.any(String) });

describe('E5: chat that is told to stop', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s in a stream: its row is stored, its connection closed, exit code %i, soon', async (signal, exitCode) => {
    const a = await upstream(slow);
    const cli = startChat({ a: a.url });
    await until(() => a.requests.length === 1);
    const { code, output, tookMs } = await stop(cli, signal);
    expect([code, output]).toEqual([exitCode, '']);
    expect(tookMs).toBeLessThan(3000);
    expect(stored()).toEqual([left('primary')]);
    await until(() => a.requests[0]!.closedByClientMs !== null);
  });

  test('over a shared backend: its lease is given back, not left to run out', async () => {
    const redis = new Redis(sharedRedisUrl());
    cleanUps.push(() => redis.disconnect());
    const scope = `STOP${process.pid}`;
    const leases = (): Promise<number> => redis.zcard(`polygateway:1:{${scope}/a%002f1}:leases`);
    const a = await upstream(slow);
    const env = Object.fromEntries(Object.entries(sourceEnv({ a: a.url }, { LLM__BACKEND__URL: sharedRedisUrl() })).map(([key, value]) => [key.replace('LLM', scope), value]));
    const cli = startCli(['chat', '--scope', scope, 'x'], { env });
    cleanUps.push(() => cli.child.kill('SIGKILL'));
    await until(() => a.requests.length === 1);
    expect(await leases()).toBe(1);
    expect(await stop(cli, 'SIGTERM')).toMatchObject({ code: 143, output: '' });
    expect(await leases()).toBe(0);
  });

  test('with a backup under way: both rows, both connections', async () => {
    const [a, b] = await Promise.all([upstream(slow), upstream(slow)]);
    const cli = startChat({ a: a.url, b: b.url }, { LLM__HEDGE__STALL_AFTER_S: '0.2' });
    await until(() => b.requests.length === 1);
    expect(await stop(cli, 'SIGTERM')).toMatchObject({ code: 143, output: '' });
    expect(stored()).toEqual([left('primary'), left('backup')]);
    await until(() => [a, b].every(({ requests }) => requests[0]!.closedByClientMs !== null));
  });

  test('between two tries: the row of the first is stored', async () => {
    const a = await upstream('500@0');
    const cli = startChat({ a: a.url }, { LLM__RETRY__BACKOFF_S: '60', LLM__RETRY__BACKOFF_MAX_S: '60' });
    await until(() => a.requests[0]?.finished === true);
    await sleep(300);
    const { code, output, tookMs } = await stop(cli, 'SIGTERM');
    expect([code, output]).toEqual([143, '']);
    expect(tookMs).toBeLessThan(3000);
    expect(stored()).toEqual([{ role: 'primary', error_class: 'transient', error_message: expect.any(String) }]);
  });

  test('while another process holds the lock of the database: its row is stored when that is gone', async () => {
    const a = await upstream(slow);
    const cli = startChat({ a: a.url });
    await until(() => a.requests.length === 1);
    await sleep(300);
    await lockFor(1000);
    expect(await stop(cli, 'SIGTERM')).toMatchObject({ code: 143, output: '' });
    expect(stored()).toEqual([left('primary')]);
  });

  test('a Ctrl-C that npx passes on as well counts once: the row is stored', async () => {
    const a = await upstream(slow);
    const cli = startChat({ a: a.url });
    await until(() => a.requests.length === 1);
    cli.child.kill('SIGINT');
    await sleep(1);
    expect(await stop(cli, 'SIGINT')).toMatchObject({ code: 130, output: '' });
    expect(stored()).toEqual([left('primary')]);
  });

  test('a second signal ends it at once, whatever it waits for', async () => {
    new Database(file).exec(schemaSql('sqlite')).close();
    const a = await upstream(slow);
    const cli = startChat({ a: a.url });
    await until(() => a.requests.length === 1);
    await sleep(300);
    await lockFor(8000);
    cli.child.kill('SIGINT');
    await sleep(1000);
    expect(cli.child.exitCode).toBeNull();
    const { code, output, tookMs } = await stop(cli, 'SIGTERM');
    expect([code, output]).toEqual([143, '']);
    expect(tookMs).toBeLessThan(1500);
    expect(stored()).toEqual([]);
  });
});
