import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, settingsFromEnv } from '../../lib/index.js';
import type { ChatRequest, ConfigError, RequestError } from '../../lib/index.js';
import { startChild } from './children/startChild.js';
import { asks, closeAll, gatewayTo, rejection, upstream } from './scene.js';

const ok = 'd@0"ok" f@0';

afterEach(closeAll);

describe('a request that cannot be meant', () => {
  test.each<[string, unknown]>([
    ['no messages', {}],
    ['messages that are a text', { messages: 'hello' }],
    ['an empty list of messages', { messages: [] }],
    ['more than one choice', asks('hello', { n: 2 })],
    ['tags that are no texts', { ...asks('hello'), tags: { a: 1 } }],
    ['nothing at all', undefined],
  ])('%s: RequestError before anything is sent', async (_what, request) => {
    const a = await upstream([ok]);
    const { gateway, rows } = gatewayTo([a.url]);

    const error = await rejection<RequestError>(gateway.chat(request as ChatRequest));

    expect(error).toMatchObject({ name: 'RequestError', code: 'request', retryable: false });
    expect(error.message).not.toBe('');
    await gateway.chat(asks('a good one'));
    expect([a.requests.length, rows.length]).toEqual([1, 1]);
  });

  test('what the upstream refuses as wrong comes through at once, and no other source is asked', async () => {
    const [a, b] = await Promise.all([upstream(['400@0(context_length_exceeded,"too long")']), upstream([ok])]);
    const { gateway, rows } = gatewayTo([a.url, b.url]);

    const error = await rejection<RequestError>(gateway.chat(asks('hello')));

    expect(error).toMatchObject({ name: 'RequestError', httpStatus: 400, source: 'a/1', attempts: 1 });
    expect([a.requests.length, b.requests.length, rows.length]).toEqual([1, 0, 1]);
  });

  test('X3: the request is copied when `chat$` is called; what becomes of it later is not sent', async () => {
    const a = await upstream([ok]);
    const { gateway } = gatewayTo([a.url]);
    const request = { messages: [{ role: 'user' as const, content: 'as it was' }], temperature: 0.5 };
    const answer = gateway.chat(request);
    request.messages[0]!.content = 'changed';
    request.temperature = 2;
    await answer;
    expect(a.requests[0]!.body).toMatchObject({ messages: [{ role: 'user', content: 'as it was' }], temperature: 0.5 });
  });
});

describe('settings that cannot work', () => {
  test('ConfigError at once, with every key, and no secret in it', () => {
    const key = 'sk-EXAMPLE-0123456789abcdef';
    const settings = {
      scope: 'LLM',
      sources: [
        { provider: 'a', baseUrl: 'not an address', model: 'm', apiKey: key, timeoutS: -1 },
        { provider: 'b', baseUrl: 'http://127.0.0.1:9/v1', model: 'm', interTokenTimeoutS: 5 },
      ],
      maxAttempts: 0,
    };

    const error = thrownBy(() => createGateway({ settings, hedgeStallAfterS: 10, callDeadlineS: 8, stallThresholdMs: 0.5 })) as ConfigError;

    expect(error).toMatchObject({ name: 'ConfigError', code: 'config' });
    const wrong = ['BASE_URL', 'TIMEOUT_S', 'RETRY__MAX_ATTEMPTS', 'STREAM__STALL_THRESHOLD_MS', 'C2', 'C4'];
    expect(wrong.filter((name) => !error.problems.some((problem) => problem.includes(name)))).toEqual([]);
    expect(error.message).toContain(error.problems.at(-1)!);
    expect(JSON.stringify(error) + error.message + error.stack!).not.toContain(key);
  });

  test('from the environment: all at once too', () => {
    const env = { LLM__A__1__BASE_URL: 'http://127.0.0.1:9/v1', LLM__A__1__TIMEOUT_S: 'soon', LLM__HEDGE__AFTR_S: '3', LLM__BACKPRESSURE__MODE: 'hope' };
    const error = thrownBy(() => createGateway({ settings: settingsFromEnv('LLM', env) })) as ConfigError;
    expect(['LLM__A__1__MODEL', 'LLM__A__1__TIMEOUT_S', 'LLM__HEDGE__AFTR_S', 'LLM__BACKPRESSURE__MODE'].filter((name) => !error.message.includes(name))).toEqual([]);
  });
});

describe('a telemetry database that cannot be written', () => {
  let folder: string;
  let there: Record<'nowhere' | 'no database' | 'a folder', Run>;
  let readOnly: Run & { changed: boolean };

  // Closing goes on trying for some seconds, so all at once.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'unwritable-'));
    chmodSync(folder, 0o755);
    const text = join(folder, 'notes.db');
    writeFileSync(text, 'this is no database '.repeat(100));
    const [a, b, c, d] = await Promise.all([threeCalls(join(folder, 'nowhere', 'telemetry.db')), threeCalls(text), threeCalls(folder), threeCallsReadOnly(join(folder, 'read-only'))]);
    there = { nowhere: a, 'no database': b, 'a folder': c };
    readOnly = d;
  }, 30_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(['nowhere', 'no database', 'a folder'] as const)('its path leads to %s: calls go on, the trouble is told once, and `close` comes to an end', (place) => {
    expectGoesOn(there[place]);
  });

  test('it may only be read: likewise, and it is left as it was', () => {
    expectGoesOn(readOnly);
    expect(readOnly.changed).toBe(false);
  });
});

interface Run {
  contents: string[];
  troubles: string[];
}

function expectGoesOn({ contents, troubles }: Run): void {
  expect(contents).toEqual(['ok', 'ok', 'ok']);
  expect(troubles.filter((message) => message.startsWith('telemetry cannot be written; rows are held and tried again, calls go on: '))).toHaveLength(1);
  expect(troubles[0]).toMatch(/cannot be written/);
  // Told when `close` gives up: the first loss, and their number if it grew since.
  expect(troubles.at(-1)).toMatch(/(lost so far|rows lost): 3$/);
  expect(troubles.length).toBeLessThanOrEqual(3);
}

async function threeCalls(databaseFile: string): Promise<Run> {
  const a = await upstream([ok]);
  const { gateway, events } = gatewayTo([a.url], { telemetryUrl: `sqlite:${databaseFile}` });
  const contents: string[] = [];
  for (let i = 0; i < 3; i += 1) contents.push((await gateway.chat(asks('hello'))).content);
  await gateway.close();
  return { contents, troubles: events.flatMap((event) => (event.type === 'telemetry-trouble' ? [event.message] : [])) };
}

/** Root may write every file, but not on a file system that is mounted read-only; where none can be mounted, another user asks. */
async function threeCallsReadOnly(place: string): Promise<Run & { changed: boolean }> {
  const databaseFile = join(place, 'telemetry.db');
  mkdirSync(place);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]).status === 0;
  new Database(databaseFile).exec('CREATE TABLE other (x)').close();
  const before = statSync(databaseFile).mtimeMs;
  chmodSync(databaseFile, 0o444);
  chmodSync(place, 0o555);
  if (mounted) spawnSync('mount', ['-o', 'remount,ro', place]);
  const run = mounted || process.getuid?.() !== 0 ? await threeCalls(databaseFile) : await threeCallsOfAnotherUser(databaseFile);
  const changed = statSync(databaseFile).mtimeMs !== before;
  if (mounted) spawnSync('umount', [place]);
  else chmodSync(place, 0o755);
  return { ...run, changed };
}

async function threeCallsOfAnotherUser(databaseFile: string): Promise<Run> {
  const a = await upstream([ok]);
  const child = startChild('readOnlyDatabase.mjs', { url: a.url, databaseFile }, { uid: 65534, gid: 65534 });
  const run = await child.message<Run>();
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: '' });
  return run;
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
