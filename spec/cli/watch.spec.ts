import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createPaint } from '../../lib/cli/paint.js';
import { runWatch } from '../../lib/cli/watch/runWatch.js';
import { viewLines } from '../../lib/cli/watch/viewLines.js';
import { emptyView, eventLine, grownView } from '../../lib/cli/watch/watchView.js';
import type { WatchView } from '../../lib/cli/watch/watchView.js';
import { createGateway } from '../../lib/index.js';
import type { Gateway } from '../../lib/index.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { WatchEvent } from '../../lib/telemetry/watch/watchEvent.js';
import type { WatchHello, WatchMessage, WatchState, WatchedStream } from '../../lib/telemetry/watch/watchMessage.js';
import { until as untilAsked } from '../support/until.js';
import { memoryTerminal } from './memoryTerminal.js';
import { runCli, startCli } from './runCli.js';
import type { CliResult, RunningCli } from './runCli.js';

// Each test starts the program, perhaps on a busy machine.
jest.setTimeout(30_000);

const until = (what: string, ask: () => boolean): Promise<void> => untilAsked(what, () => Promise.resolve(ask()));
const runtimeBefore = process.env['XDG_RUNTIME_DIR'];
let folder: string;
let own: string;
let cleanUps: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-watch-'));
  own = join(folder, `polygateway-${process.getuid?.() ?? ''}`);
  process.env['XDG_RUNTIME_DIR'] = folder;
  cleanUps = [() => rmSync(folder, { recursive: true })];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  if (runtimeBefore === undefined) delete process.env['XDG_RUNTIME_DIR'];
  else process.env['XDG_RUNTIME_DIR'] = runtimeBefore;
});

const watch = (...args: string[]): Promise<CliResult> => runCli(['watch', ...args], { env: { XDG_RUNTIME_DIR: folder, TMPDIR: folder } });

function startWatch(...args: string[]): RunningCli {
  const cli = startCli(['watch', ...args], { env: { XDG_RUNTIME_DIR: folder, TMPDIR: folder } });
  cleanUps.push(() => cli.child.kill('SIGKILL'));
  return cli;
}

/** A gateway in this process whose first source falls silent for good; the second answers. */
async function open(scope = 'LLM', place?: string): Promise<Gateway> {
  const [silent, steady] = await Promise.all([startUpstream({ scripts: ['d@0.01"Wor" hang'] }), startUpstream({ scripts: ['d@0.05"Words" f@0.06'] })]);
  const gateway = createGateway({
    settings: { scope, sources: [silent, steady].map(({ url }, at) => ({ provider: 'ab'.charAt(at), baseUrl: url, model: 'm' })) },
    hedgeStallAfterS: 0.2,
    telemetryWatch: place ?? 'auto',
  });
  cleanUps.push(silent.close, steady.close, gateway.close);
  await until('the socket', () => existsSync(place ?? join(own, `${scope}-${process.pid}.sock`)));
  return gateway;
}

const ask = (gateway: Gateway): Promise<unknown> => gateway.chat({ messages: [{ role: 'user', content: 'x' }] });

describe('watch', () => {
  test('--once prints one snapshot; with --json as an object', async () => {
    await open();
    const [text, json] = await Promise.all([watch('--once'), watch('--once', '--json')]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(new RegExp(`^LLM {2}pid ${process.pid} on .+\\n0 calls, 0 attempts, 0 waiting\\nhedges seen: 0 fired`));
    expect(text.stdout).toMatch(/^a\/1 +closed +0 +- +- +0 +-$/m);
    expect(JSON.parse(json.stdout)).toMatchObject({ hello: { scope: 'LLM', pid: process.pid }, state: { calls: 0, streams: [], breakers: { 'a/1': 'closed' } } });
  });

  test('what is no terminal gets lines: with --json all of it, else what is out of the ordinary; the end is told, exit code 0; two at once', async () => {
    const gateway = await open();
    const [text, json] = [startWatch(), startWatch('--json')];
    await Promise.all([text.lines(1), json.lines(2)]);
    await ask(gateway);
    await until('the call was seen', () => json.stdout.includes('"call-ended"'));
    await gateway.close();
    const [lines, messages] = await Promise.all([text.ended, json.ended]);
    expect(lines).toMatchObject({ code: 0, stderr: '' });
    expect(lines.stdout.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'T'))).toEqual([
      expect.stringMatching(`^watching LLM, pid ${process.pid} on `), 'T a/1 silent for 0.2 s in mid-stream', 'T backup started at b/1', expect.stringMatching(/^T the backup at b\/1 won after 0\.\d s$/), `the gateway of process ${process.pid} was closed`, '',
    ]);
    expect(messages).toMatchObject({ code: 0, stderr: '' });
    const types = messages.stdout.trimEnd().split('\n').map((line) => (JSON.parse(line) as WatchMessage).type);
    expect([types[0], types[1], types.at(-1)]).toEqual(['hello', 'state', 'bye']);
  });

  test('a process that is killed has ended too', async () => {
    const fake = `const hello = ${JSON.stringify({ ...hello, pid: 4711 })}; require('net').createServer((s) => { s.write(JSON.stringify(hello) + '\\n'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300); }).listen(process.argv[1]);`;
    const path = join(folder, 'killed.sock');
    const child = spawn(process.execPath, ['-e', fake, path], { stdio: 'ignore' });
    cleanUps.push(() => child.kill('SIGKILL'));
    await until('the socket', () => existsSync(path));
    expect(await watch(path)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\nprocess 4711 has ended, /) });
  });

  test('none: one line with the remedy, exit code 1; what dead processes have left is cleared away, other files are not', async () => {
    mkdirSync(own, { mode: 0o700 });
    const left = join(own, 'LLM-1.sock');
    await once(spawn(process.execPath, ['-e', `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`]), 'exit');
    writeFileSync(join(own, 'LLM-2.sock'), 'no socket');
    expect(lstatSync(left).isSocket()).toBe(true);
    expect(await watch('--scope', 'LLM', '--pid', '1')).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^error nothing_to_watch - .+; start the process with LLM__TELEMETRY__WATCH=auto, .+\n$/) });
    expect(readdirSync(own)).toEqual(['LLM-2.sock']);
  });

  test('several: exit code 2, and what to write for each; --scope and --pid choose, and so does a socket', async () => {
    const path = join(folder, 'own.sock');
    await Promise.all([open('LLM'), open('Other'), open('Third', path)]);
    const results = await Promise.all([watch(), watch('--scope', 'other', '--once'), watch('--pid', String(process.pid), '--scope', 'LLM', '--once'), watch(path, '--once'), watch('--pid', '1', '--once')]);
    const [several, scoped, both, given, wrong] = results.map(({ code, stdout, stderr }) => `${code} ${stdout.split(' ', 1)[0]}${stderr}`);
    expect(several).toBe(`2 error wrong_use - 2 can be watched, name one: --scope LLM --pid ${process.pid}, --scope Other --pid ${process.pid}; see --help of the command\n`);
    expect([scoped, both, given]).toEqual(['0 Other', '0 LLM', '0 Third']);
    expect(wrong).toMatch(/^1 error nothing_to_watch - none of this scope or pid can be watched, only --scope LLM --pid \d+, --scope Other/);
  });

  test('a socket that is not there, or belongs to something else: one line, exit code 1', async () => {
    const path = join(folder, 'other.sock');
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await once(server.listen(path), 'listening');
    cleanUps.push(() => server.close());
    const [missing, other] = await Promise.all([watch(join(folder, 'none.sock')), watch(path)]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error nothing_to_watch - .+none\.sock cannot be watched: connect ENOENT.+\n$/) });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error nothing_to_watch - .+other\.sock is no gateway: .+\n$/) });
  });

  test('SIGINT ends it quietly', async () => {
    await open();
    const cli = startWatch();
    await cli.lines(1);
    cli.child.kill('SIGINT');
    expect(await cli.ended).toMatchObject({ code: 130, stderr: '' });
  });
});

describe('in a terminal', () => {
  test.each([['q', 0], ['\u0003', 130]])('%j ends it with %i; it has drawn what goes on, and leaves the keyboard as it was', async (key, code) => {
    const gateway = await open();
    const { terminal, input, raw, out: drawn } = memoryTerminal({ env: { XDG_RUNTIME_DIR: folder, NO_COLOR: '1' } });
    const running = runWatch({ address: undefined, scope: undefined, pid: undefined, json: false, once: false, terminal, signal: new AbortController().signal });
    await until('the first picture', () => drawn().includes('0 calls'));
    await ask(gateway);
    await until('the hedge', () => /hedges seen: 1 fired, 1 won/.test(drawn()) && drawn().includes('won after'));
    input.write(key);
    expect(await running).toBe(code);
    expect(raw).toEqual([true, false]);
    expect(drawn()).not.toContain('has ended');
  });

  test('the end of the process ends it with 0, and is told below the last picture', async () => {
    const gateway = await open();
    const { terminal, out: drawn } = memoryTerminal({ env: { XDG_RUNTIME_DIR: folder, NO_COLOR: '1' } });
    const running = runWatch({ address: undefined, scope: undefined, pid: undefined, json: false, once: false, terminal, signal: new AbortController().signal });
    await until('the first picture', () => drawn().includes('0 calls'));
    await gateway.close();
    expect(await running).toBe(0);
    expect(drawn()).toMatch(/the gateway of process \d+ was closed\n$/);
  });
});

const hello: WatchHello = {
  type: 'hello', protocol: 1, version: '1.2.3', scope: 'LLM', pid: 4711, host: 'box', startedAt: '2026-01-01T10:00:00.000Z', sentAt: '2026-01-01T12:10:00.000Z', atMs: 1000,
  thresholds: { stallThresholdMs: 1000, hedgeAfterMs: null, hedgeStallAfterMs: 20_000 },
  sources: [{ id: 'a/1', model: 'm', maxConcurrency: 8 }, { id: 'b/1', model: 'm', maxConcurrency: null }],
};
const state: WatchState = { type: 'state', atMs: 1000, missed: 0, unnamed: {}, calls: 3, attempts: 2, waiters: 1, streams: [], permits: { 'a/1': 2 }, parked: { 'b/1': 12_000 }, breakers: { 'a/1': 'closed', 'b/1': 'open' }, paced: { 'a/1': 4 } };
const stream = (fields: Partial<WatchedStream>): WatchedStream => ({ callId: 'c', attemptId: 'c-1', source: 'a/1', role: 'primary', round: 1, openMs: 5000, silentMs: 0, increments: 1, ...fields });
const record = { id: 'c-1', source: 'a/1', role: 'primary', round: 1, hedgeTrigger: null, won: false, outcome: 'ok', errorClass: null, httpStatus: null, ttftMs: null, latencyMs: 2000, increments: 3, stallMs: null, stallCount: null } as const;

function after(...messages: readonly WatchMessage[]): WatchView {
  return messages.reduce<WatchView>((view, message) => grownView(view, message, 0), emptyView);
}

const events = (...given: readonly WatchEvent[]): WatchMessage[] => given.map((event) => ({ type: 'event', event }));
const plain = { columns: 80, paint: createPaint(false) };

describe('view', () => {
  test('head, sources, and the open streams by their silence, each against what would ask for a backup', () => {
    const streams = [stream({ silentMs: 500 }), stream({ silentMs: 10_000, increments: 7, openMs: 200_000 }), stream({ source: 'b/1', silentMs: 25_000, role: 'backup' }), stream({ silentMs: 20_000 })];
    const lines = viewLines(after(hello, { ...state, streams }), plain);
    expect(lines.slice(0, 3)).toEqual(['LLM  pid 4711 on box, up 2 h 10 min, polygateway 1.2.3', '3 calls, 2 attempts, 1 waiting', 'hedges seen: 0 fired, 0 won, 0 lost, 0 refused']);
    expect(lines).toContain('a/1                 closed     2/8        4       -         3        20.0 s');
    expect(lines).toContain('b/1                 open       0          -       12.0 s    1        25.0 s');
    const bars = lines.slice(-4).map((line) => [line.slice(0, 40).replace(/ +/g, ' ').trim(), (line.match(/█/g) ?? []).length, (line.match(/·/g) ?? []).length, line.slice(61).replace(/ +/g, ' ').trim()]);
    expect(bars).toEqual([['b/1 backup 25.0 s', 19, 0, '1 5.0 s'], ['a/1 primary 20.0 s', 19, 0, '1 5.0 s'], ['a/1 primary 10.0 s', 10, 9, '7 200 s'], ['a/1 primary 0.5 s', 0, 19, '1 5.0 s']]);
  });

  test('streams that a snapshot only counts are counted', () => {
    const lines = viewLines(after(hello, { ...state, streams: [stream({})], unnamed: { 'a/1': 40, 'b/1': 2 } }), plain);
    expect(lines).toContain('a/1                 closed     2/8        4       -         41       0.0 s');
    expect(lines.at(-1)).toBe('and 42 more streams');
  });

  test('what a newer gateway says is passed over, and no control character of another process gets through', () => {
    const newer = { type: 'moon-rose', atMs: 1 } as unknown as WatchEvent;
    expect(after(hello, ...events(newer), { type: 'tide' } as unknown as WatchMessage).recent).toEqual([]);
    expect(eventLine(hello, { type: 'telemetry-trouble', atMs: 1, message: 'a\u001b[2J\nb\u0007', lost: 0 })).toMatch(/^\d\d:\d\d:\d\d telemetry: a \[2J b$/);
  });

  test('hedges are counted from when one began to watch, and what happened is told in words', () => {
    const of = { atMs: 6000, callId: 'c', attemptId: 'c-1', source: 'a/1' } as const;
    const view = after(hello, state, ...events(
      { ...of, type: 'silence-noticed', trigger: 'stall', silentMs: 20_000 },
      { ...of, type: 'attempt-started', source: 'b/1', round: 1, role: 'backup', trigger: 'stall', provider: 'b', model: 'm', waitedMs: 0 },
      { type: 'round-decided', atMs: 6000, callId: 'c', round: 1, records: [{ ...record, won: true }, { ...record, source: 'b/1', role: 'backup' }] },
      { ...of, type: 'hedge-refused', gate: 'hedge-cap', reason: 'too many' },
      { ...of, type: 'hedge-refused', gate: 'breaker', reason: 'open' },
      { ...of, type: 'attempt-ended', record: { ...record, outcome: 'error', errorClass: 'transient', httpStatus: 503 } },
      { type: 'call-ended', atMs: 6000, callId: 'c', outcome: 'ok', code: null, callMs: 1, source: 'a/1', attempts: 1, hedges: 0, waitedMs: 0 },
    ));
    expect(viewLines(view, plain)[2]).toBe('hedges seen: 1 fired, 0 won, 1 lost, 2 refused (hedge-cap 1, breaker 1)');
    const time = /^\d\d:10:05 /;
    expect(view.recent.every((line) => time.test(line))).toBe(true);
    expect(view.recent.map((line) => line.replace(time, ''))).toEqual([
      'a/1 silent for 20.0 s in mid-stream', 'backup started at b/1', 'the primary at a/1 won after 2.0 s', 'no backup for a/1: too many', 'no backup for a/1: open', 'a/1 failed after 2.0 s: transient (HTTP 503)',
    ]);
  });

  const crowd = after(
    { ...hello, sources: Array.from({ length: 30 }, (_, at) => ({ id: `${'provider'.repeat(6)}/${at}`, model: 'm', maxConcurrency: 100 })) },
    { ...state, missed: 12, streams: Array.from({ length: 200 }, (_, at) => stream({ source: `${'provider'.repeat(6)}/1`, silentMs: at * 1e6, openMs: at * 1e7, increments: at * 1000 })) },
    ...events(...Array.from({ length: 30 }, (): WatchEvent => ({ type: 'telemetry-trouble', atMs: 1, message: `trouble \u001b[2J${'x'.repeat(300)}`, lost: 0 }))),
  );

  test.each([[80, 24], [60, 12], [200, 60]])('fits %i x %i whatever goes on, painted or not, and passes no control code on', (columns, rows) => {
    for (const coloured of [false, true]) {
      const lines = viewLines(crowd, { columns, rows: rows - 1, paint: createPaint(coloured) });
      const bare = lines.map((line) => line.replace(/\u001b\[\d+m/g, ''));
      expect(bare.length).toBeLessThanOrEqual(rows - 1);
      expect(Math.max(...bare.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(bare.join('')).not.toMatch(/\p{Cc}/u);
      expect(lines.join('') === bare.join('')).toBe(!coloured);
    }
  });

  test('80 x 24 with a crowd: every part has its place, and what is left out is counted', () => {
    const lines = viewLines(crowd, { ...plain, rows: 23 });
    expect(lines).toHaveLength(23);
    expect(lines).toContain('and 24 more sources');
    expect(lines.filter((line) => line.includes('█'))).toHaveLength(2);
    expect(lines).toContain('and 198 more streams');
    expect(lines.filter((line) => line.includes('trouble'))).toHaveLength(5);
  });

  test('a process that sends nothing is said to be held up; one that was closed is not', () => {
    const late = grownView(after(hello, state), undefined, 4000);
    expect(viewLines(late, plain)[1]).toContain('no news for 4 s: the process is held up');
    expect(viewLines(grownView(late, { type: 'bye' }, 4000), plain)[1]).not.toContain('no news');
  });

  test('without hedging the bars compare the streams with each other', () => {
    const off = { ...hello, thresholds: { stallThresholdMs: 1000, hedgeAfterMs: null, hedgeStallAfterMs: null } };
    const lines = viewLines(after(off, { ...state, streams: [stream({ silentMs: 1000 }), stream({ silentMs: 2000 })] }), plain);
    expect(lines.join('\n')).toContain('no hedging');
    expect(lines.slice(-2).map((line) => (line.match(/█/g) ?? []).length)).toEqual([19, 10]);
  });
});
