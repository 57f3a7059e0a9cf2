import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import type { ChatResponse } from '../../lib/model/response.js';
import { readRecording } from '../../lib/testing/recording/readRecording.js';
import { runCli, startCli } from './runCli.js';
import { secret, sourceEnv } from './sourceEnv.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(30_000);

const running: Upstream[] = [];
const folder = mkdtempSync(join(tmpdir(), 'polygateway-spec-'));

afterAll(async () => {
  await Promise.all(running.splice(0).map((upstream) => upstream.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(...scripts: string[]): Promise<Upstream> {
  const upstream = await startUpstream({ scripts });
  running.push(upstream);
  return upstream;
}

const answer = 'open@0.02 d@0.05"Hello" d@0.1", world" u@0.1(7,2) f@0.1';

describe('chat', () => {
  test.concurrent('prints the text of the answer on standard output and nothing else', async () => {
    const upstream = await start(answer);
    const result = await runCli(['chat', 'Say hello'], { env: sourceEnv({ sim: upstream.url }) });
    expect(result).toEqual({ code: 0, stdout: 'Hello, world\n', stderr: '' });
    expect(upstream.requests[0]?.body).toMatchObject({ stream: true, model: 'sim', messages: [{ role: 'user', content: 'Say hello' }] });
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  test.concurrent('--json prints the whole response with its figures; --no-stream asks for one piece', async () => {
    const upstream = await start(answer);
    const env = sourceEnv({ sim: upstream.url });
    const [streamed, whole] = await Promise.all([runCli(['chat', '--json', 'x'], { env }), runCli(['chat', '--json', '--no-stream', 'x'], { env })]);
    const response = JSON.parse(streamed.stdout) as ChatResponse;
    expect(response).toMatchObject({
      content: 'Hello, world',
      finishReason: 'stop',
      source: 'sim/1',
      increments: 2,
      usage: { promptTokens: 7, completionTokens: 2 },
      stats: { stallMs: 0, stallCount: 0, hedges: 0, hedgeWon: false, attempts: 1 },
    });
    expect(response.stats.generationMs).toBe(response.latencyMs);
    expect(JSON.parse(whole.stdout)).toMatchObject({ content: 'Hello, world', ttftMs: null, stats: { stallMs: null } });
    expect(upstream.requests.filter(({ body }) => body['stream'] === false)).toHaveLength(1);
  });

  test.concurrent('the text comes from standard input for "-", and where none is given and something is piped in', async () => {
    const upstream = await start(answer);
    const env = sourceEnv({ sim: upstream.url });
    const dash = await runCli(['chat', '-'], { env, input: 'one\ntwo\n' });
    const piped = await runCli(['chat'], { env, input: 'three' });
    expect([dash.code, piped.code]).toEqual([0, 0]);
    expect(upstream.requests.map(({ body }) => body['messages'])).toEqual([
      [{ role: 'user', content: 'one\ntwo\n' }],
      [{ role: 'user', content: 'three' }],
    ]);
  });

  test.concurrent('--env-file reads settings below those of the environment, --scope says which count', async () => {
    const upstream = await start(answer);
    const file = join(folder, 'settings.env');
    writeFileSync(file, `SUMMARY__SIM__1__BASE_URL=${upstream.url}\nSUMMARY__SIM__1__MODEL=from-file\nSUMMARY__SIM__1__API_KEY=k-from-file\n`);
    const { code } = await runCli(['chat', '--scope', 'SUMMARY', '--env-file', file, 'x'], { env: { SUMMARY__SIM__1__MODEL: 'from-outside' } });
    expect(code).toBe(0);
    expect(upstream.requests[0]?.body['model']).toBe('from-outside');
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer k-from-file');
  });

  test.concurrent('a hedge is told in the figures: the backup won', async () => {
    const silent = await start('open@0.02 d@0.05"Hel" hang');
    const steady = await start(answer);
    const env = sourceEnv({ silent: silent.url, steady: steady.url }, { LLM__HEDGE__STALL_AFTER_S: '0.3' });
    const { stdout } = await runCli(['chat', '--json', 'x'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ content: 'Hello, world', source: 'steady/1', stats: { hedges: 1, hedgeWon: true, attempts: 2 } });
  });
});

describe('chat --record', () => {
  test.concurrent('saves the timeline of every request and tells where; --no-text saves nothing of what was said', async () => {
    const silent = await start('open@0.02 d@0.05"Hel" hang');
    const steady = await start(answer);
    const env = sourceEnv({ silent: silent.url, steady: steady.url }, { LLM__HEDGE__STALL_AFTER_S: '0.3' });
    const [file, mute] = [join(folder, 'call.json'), join(folder, 'mute.json')];
    const [whole, blank] = await Promise.all([runCli(['chat', '--record', file, 'pineapple'], { env }), runCli(['chat', 'pineapple', '--record', mute, '--no-text'], { env })]);

    expect(whole).toEqual({ code: 0, stdout: 'Hello, world\n', stderr: `recorded 2 requests in ${file}\n` });
    expect(blank).toEqual({ code: 0, stdout: 'Hello, world\n', stderr: `recorded 2 requests, without their text, in ${mute}\n` });
    for (const [recording, said] of [[readRecording(file), ['Hello', ', world']], [readRecording(mute), ['xxxxx', 'xxxxxxx']]] as const) {
      expect(recording.requests).toMatchObject([{ source: 'silent/1', end: { type: 'left' } }, { source: 'steady/1', end: { type: 'completed' } }]);
      expect(recording.requests[1]?.deltas.flatMap((delta) => (delta.type === 'content' ? [delta.text] : []))).toEqual(said);
    }
    const written = [file, mute].map((name) => readFileSync(name, 'utf8')).join('\n');
    expect(written).not.toContain('pineapple');
    expect(written).not.toContain(secret);
  });

  test.concurrent('a call that fails is saved too, and an older recording overwritten', async () => {
    const upstream = await start('401@0.02(invalid_api_key,"no")');
    const file = join(folder, 'failed.json');
    writeFileSync(file, '{ "format": "polygateway-recording" }');
    const { code, stderr } = await runCli(['chat', 'x', '--record', file], { env: sourceEnv({ sim: upstream.url }) });
    expect(code).toBe(1);
    expect(stderr).toContain(`recorded 1 request in ${file}\n`);
    expect(readRecording(file).requests).toMatchObject([{ source: 'sim/1', end: { type: 'failed', error: { code: 'source', httpStatus: 401 } } }]);
  });

  test.concurrent('where it can no longer be written after a call that failed, both are told, and the exit code is that of the call', async () => {
    const upstream = await start('401@0.3(invalid_api_key,"no")');
    const file = join(folder, 'taken.json');
    const cli = startCli(['chat', 'x', '--record', file], { env: sourceEnv({ sim: upstream.url }) });
    while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    mkdirSync(file);
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error wrong_use - --record .+taken\.json cannot be written: EISDIR.+\nerror all_sources_exhausted: no_runnable_source - .+\n$/);
  });

  test.concurrent('a place that cannot take it is refused before anything is asked', async () => {
    const upstream = await start(answer);
    const env = sourceEnv({ sim: upstream.url });
    const notes = join(folder, 'notes.txt');
    writeFileSync(notes, 'mine');
    const [nowhere, other] = await Promise.all([runCli(['chat', 'x', '--record', join(folder, 'none', 'x.json')], { env }), runCli(['chat', 'x', '--record', notes], { env })]);
    expect([nowhere.code, other.code]).toEqual([2, 2]);
    expect(nowhere.stderr).toMatch(/wrong_use - --record .+x\.json cannot be written: its folder is not there; name a file in a folder that is there and yours/);
    expect(other.stderr).toMatch(/notes\.txt is there and is no recording: name another file, or remove it first/);
    expect([readFileSync(notes, 'utf8'), upstream.requests.length]).toEqual(['mine', 0]);
  });
});

describe('chat that fails', () => {
  test.concurrent('refused settings: 3, every bad key, never the secret', async () => {
    const env = sourceEnv({ sim: 'http://127.0.0.1:9/v1' }, { LLM__SIM__1__TIMEOUT_S: 'soon', LLM__HEDGE__STALL_AFTERS: '20', LLM__RETRY__MAX_ATTEMPTS: '0', LLM__SIM__1__API_KEY: `${secret} with a space` });
    const { code, stdout, stderr } = await runCli(['chat', 'x'], { env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    for (const key of ['LLM__SIM__1__TIMEOUT_S', 'LLM__HEDGE__STALL_AFTERS', 'LLM__RETRY__MAX_ATTEMPTS']) expect(stderr).toContain(key);
    expect(stderr).toMatch(/^error config - 3 settings are wrong; `polygateway doctor` .+\n( {2}- LLM__.+\n){3}$/);
    expect(stderr).not.toContain(secret);
  });

  test.concurrent('nothing set: 3, and how to begin', async () => {
    const { code, stderr } = await runCli(['chat', 'x']);
    expect(code).toBe(3);
    expect(stderr).toContain('to begin, set LLM__OPENAI__1__BASE_URL=');
  });

  test.concurrent('no source answers: 1, with code, root and what to do in one line, every cause with --verbose; never a key', async () => {
    const upstream = await start(`401@0.02(invalid_api_key,"Incorrect API key: ${secret}")`);
    const env = sourceEnv({ sim: upstream.url });
    const [text, json, verbose] = await Promise.all([['x'], ['--json', 'x'], ['--verbose', 'x']].map((args) => runCli(['chat', ...args], { env })));
    if (text === undefined || json === undefined || verbose === undefined) throw new Error('not run');
    expect({ code: text.code, stdout: text.stdout }).toEqual({ code: 1, stdout: '' });
    expect(text.stderr).toMatch(/^error all_sources_exhausted: no_runnable_source - every source is out for this call; the last one said: .+Incorrect API key.+; look at the causes.+\n$/);
    expect(verbose.stderr).toMatch(/^error all_sources_exhausted.+\n {2}cause: source - .+\n/);
    expect(json).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'all_sources_exhausted', reason: 'no_runnable_source' } });
    for (const output of [text.stderr, json.stdout, verbose.stderr]) expect(output).not.toContain(secret);
  });

  test.concurrent.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('E5 %s ends the call, closes its connection and writes its row; exit code %i', async (signal, code) => {
    const upstream = await start('open@0.02 d@0.05"Hel" hang');
    const file = join(folder, `${signal}.db`);
    const cli = startCli(['chat', 'x'], { env: sourceEnv({ sim: upstream.url }, { LLM__TELEMETRY__URL: `sqlite:${file}` }) });
    while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    cli.child.kill(signal);
    expect(await cli.ended).toEqual({ code, stdout: '', stderr: '' });
    expect(upstream.requests[0]?.closedByClientMs).not.toBeNull();
    const database = new Database(file, { readonly: true });
    expect(database.prepare('SELECT source, outcome, error_class FROM llm_attempts').all()).toEqual([{ source: 'sim/1', outcome: 'error', error_class: 'caller_cancelled' }]);
    database.close();
  });
});
