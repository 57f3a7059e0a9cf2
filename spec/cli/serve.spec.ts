import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { requestLine } from '../../lib/cli/serve/requestLine.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { until } from '../support/until.js';
import { startCli } from './runCli.js';
import type { RunningCli } from './runCli.js';
import { runHere } from './runHere.js';
import { secret, sourceEnv } from './sourceEnv.js';

// Each test starts the program, perhaps on a busy machine.
jest.setTimeout(60_000);

const clientKey = 'ck-0123456789abcdef';
let folder: string;
let cleanUps: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-serve-'));
  cleanUps = [() => rmSync(folder, { recursive: true })];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Serving {
  readonly cli: RunningCli;
  readonly url: string;
  readonly upstream: Upstream;
}

async function serve(script: string, args: readonly string[] = [], more: Record<string, string> = {}): Promise<Serving> {
  const upstream = await startUpstream({ scripts: [script] });
  cleanUps.push(upstream.close);
  const env = sourceEnv({ a: upstream.url }, { LLM__TELEMETRY__URL: `sqlite:${join(folder, 'telemetry.db')}`, ...more });
  const cli = startCli(['serve', '--port', '0', ...args], { env });
  cleanUps.push(async () => {
    cli.child.kill('SIGKILL');
    await cli.ended;
  });
  const [first = ''] = await cli.lines(1);
  expect(first).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  return { cli, url: first.replace('listening on ', ''), upstream };
}

/** A source whose one answer has begun, and ends when the test says so. */
async function heldSource(): Promise<{ url: string; finish: () => void }> {
  let finish = (): void => undefined;
  const chunk = (choice: object): string => `data: ${JSON.stringify({ model: 'sim', choices: [{ index: 0, ...choice }] })}\n\n`;
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ delta: { content: 'begun' } }));
    finish = () => response.end(`${chunk({ delta: { content: ' and whole' }, finish_reason: 'stop' })}data: [DONE]\n\n`);
  }).listen(0, '127.0.0.1');
  cleanUps.push(() => server.closeAllConnections(), () => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, finish: () => finish() };
}

function ask(url: string, { stream = false, key }: { stream?: boolean; key?: string } = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content: 'hi' }] }) });
}

function refused(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(false)).on('error', () => resolve(true));
    cleanUps.push(() => socket.destroy());
  });
}

function rows(): unknown[] {
  const db = new Database(join(folder, 'telemetry.db'), { readonly: true });
  try {
    return db.prepare('SELECT outcome, error_class FROM llm_attempts ORDER BY rowid').all();
  } finally {
    db.close();
  }
}

describe('serve', () => {
  test('says its address first; answers, asks for keys, counts; one line for each request, and no key anywhere', async () => {
    const { cli, url, upstream } = await serve('d@0.02"one" d@0.03" two" f@0.04 u(10,8)', [], { POLYGATEWAY_SERVE_KEYS: clientKey });
    const answer = (await (await ask(url, { key: clientKey })).json()) as { model: string; choices: { message: { content: string } }[] };
    expect([answer.model, answer.choices[0]!.message.content]).toEqual(['sim', 'one two']);
    expect((await ask(url)).status).toBe(401);
    const metrics = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': clientKey } })).text();
    expect(metrics).toMatch(/^polygateway_attempts_total\{operation="chat",source="a\/1",outcome="ok",error_class=""\} 1$/m);
    expect(metrics).toMatch(/^polygateway_http_requests_total\{method="POST",path="\/v1\/chat\/completions",status="401",ended="failed"\} 1$/m);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(upstream.requests[0]!.body).not.toHaveProperty('key');
    expect(JSON.stringify(upstream.requests)).not.toContain(clientKey);

    cli.child.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    expect([code, stdout]).toEqual([130, `listening on ${url}\n`]);
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    const told = [`${time} POST /v1/chat/completions 200 a/1, 1 attempt, \\d+\\.\\d\\d s`, `${time} POST /v1/chat/completions 401 \\d\\.\\d\\d s, invalid_api_key`, `${time} GET /metrics 200 \\d\\.\\d\\d s`, `${time} GET /readyz 200 \\d\\.\\d\\d s`];
    expect(stderr).toMatch(new RegExp(`^${told.join('\\n')}\\n$`));
    for (const key of [clientKey, secret]) expect(stdout + stderr + metrics).not.toContain(key);
  });

  test('E5: an answer in flight at SIGTERM arrives whole, a new connection is refused, its row is stored', async () => {
    const source = await heldSource();
    const { cli, url } = await serve('hang', ['--quiet'], { LLM__A__1__BASE_URL: source.url });
    const response = await ask(url, { stream: true });
    cli.child.kill('SIGTERM');
    await until('nobody listens', () => refused(url));
    source.finish();
    const text = await response.text();
    expect(text).toContain(' and whole');
    expect(text).toMatch(/"finish_reason":"stop"[^]*data: \[DONE\]\s*$/);
    const { code, stderr } = await cli.ended;
    expect([code, stderr]).toEqual([143, '']);
    expect(rows()).toEqual([{ outcome: 'ok', error_class: null }]);
  });

  test('E5: an answer that is not over after --drain-s ends with its error, and its row is stored', async () => {
    const { cli, url, upstream } = await serve('d@0.02"begun" hang', ['--drain-s', '0.3', '--quiet']);
    const response = await ask(url, { stream: true });
    cli.child.kill('SIGTERM');
    const text = await response.text();
    expect(text).toContain('"code":"closed"');
    expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
    expect((await cli.ended).code).toBe(143);
    expect(rows()).toEqual([{ outcome: 'error', error_class: 'caller_cancelled' }]);
    await until('the source is let go', () => Promise.resolve(upstream.requests[0]!.closedByClientMs !== null));
  });

  test('a second signal ends it at once', async () => {
    const { cli, url } = await serve('d@0.02"begun" hang');
    const response = await ask(url, { stream: true });
    const broken = response.text().catch(() => 'broken');
    cli.child.kill('SIGTERM');
    await until('nobody listens', () => refused(url));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(cli.child.exitCode).toBeNull();
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(143);
    expect(await broken).toBe('broken');
  });

  test('a port that is taken: 1, and what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    cleanUps.push(() => taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { code, stdout, stderr } = await runHere(['serve', '--port', String((taken.address() as AddressInfo).port)], { env: sourceEnv({ a: 'http://127.0.0.1:9/v1' }) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error EADDRINUSE - .+; another program has this port.+\n$/);
  });

  const refusals: [string, string[], Record<string, string>, RegExp][] = [
    ['an address that others reach, without keys', ['--host', '0.0.0.0'], {}, /--host 0\.0\.0\.0 can be reached.+POLYGATEWAY_SERVE_KEYS/],
    ['a key that can be guessed', [], { POLYGATEWAY_SERVE_KEYS: 'guess-me-12345' }, /key 1 of POLYGATEWAY_SERVE_KEYS \(gue…45\) has 14 characters/],
    ['a file of keys that is not there', ['--keys-file', '/nowhere/keys'], {}, /--keys-file \/nowhere\/keys cannot be read/],
    ['settings of embeddings that cannot work', [], { EMBEDDING__A__1__BASE_URL: 'ftp://x' }, /2 settings are wrong/],
  ];
  test.each(refusals)('%s: 3, in one line', async (_what, args, more, why) => {
    const { code, stdout, stderr } = await runHere(['serve', '--port', '0', ...args], { env: sourceEnv({ a: 'http://127.0.0.1:9/v1' }, more) });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^error config - /);
    expect(stderr).toMatch(why);
    expect(stderr).not.toContain('guess-me');
  });

  test('--keys-file and --env-file; embeddings are served where they have settings', async () => {
    writeFileSync(join(folder, 'keys'), `# one\n${clientKey}\n`);
    writeFileSync(join(folder, '.env'), 'EMBEDDING__E__1__BASE_URL=http://127.0.0.1:9/v1\nEMBEDDING__E__1__MODEL=vectors\n');
    const { url } = await serve('d@0"x" f@0', ['--keys-file', join(folder, 'keys'), '--env-file', join(folder, '.env')]);
    const headers = { authorization: `Bearer ${clientKey}` };
    const { data } = (await (await fetch(`${url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['sim', 'vectors']);
    expect((await fetch(`${url}/v1/models`)).status).toBe(401);
  });

  test('a line tells hedges, errors and clients that left, and nothing that could steer a terminal or be a key', () => {
    const paint = (_style: unknown, text: string): string => text;
    const date = new Date(0);
    expect(requestLine({ method: 'POST', path: '/v1/chat/completions', status: 200, ended: 'failed', ms: 1234, callId: 'c', source: 'b/1', attempts: 3, hedges: 1, code: 'stream_interrupted' }, { paint, date })).toBe(
      '1970-01-01T00:00:00.000Z POST /v1/chat/completions 200 b/1, 3 attempts, 1 hedge, 1.23 s, stream_interrupted',
    );
    expect(requestLine({ method: 'GET', path: `/\u001b[31m\n/sk-${'A1b2C3d4'.repeat(4)}/${'x'.repeat(500)}`, status: null, ended: 'client-gone', ms: 5 }, { paint, date })).toMatch(/^1970\S+ GET \/ \[31m \/\[masked\]\/x{50,}\.\.\. - 0\.01 s, the client left$/);
  });

  test('help teaches the keys, the options and their defaults, and how a client is pointed at it', async () => {
    const { code, stdout, stderr } = await runHere(['serve', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of ['POLYGATEWAY_SERVE_KEYS', '--scope <name>', '(default: "LLM")', '(default: 8787)', '(choices: "commit", "buffered", default: "commit")', '--drain-s <s>', 'baseURL:', 'curl ']) expect(stdout.replace(/\s+/g, ' ')).toContain(word);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });
});
