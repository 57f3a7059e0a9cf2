import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Subject } from 'rxjs';
import { createGateway } from '../../lib/index.js';
import type { Gateway, GatewayEvent, GatewayOptions } from '../../lib/index.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import type { Upstream } from '../../lib/lab/upstream/upstream.js';
import { createAudience } from '../../lib/telemetry/watch/audience.js';
import type { WatchedStats, WatchHello, WatchState } from '../../lib/telemetry/watch/watchMessage.js';
import { until as untilAsked } from '../support/until.js';
import { view as connectTo } from './watchViewer.js';
import type { Viewer } from './watchViewer.js';

jest.setTimeout(30_000);

const until = (what: string, ask: () => boolean): Promise<void> => untilAsked(what, () => Promise.resolve(ask()), { everyMs: 10 });
const runtimeBefore = process.env['XDG_RUNTIME_DIR'];
let folder: string;
let cleanUps: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polygateway-watch-'));
  process.env['XDG_RUNTIME_DIR'] = folder;
  cleanUps = [() => rmSync(folder, { recursive: true })];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  if (runtimeBefore === undefined) delete process.env['XDG_RUNTIME_DIR'];
  else process.env['XDG_RUNTIME_DIR'] = runtimeBefore;
});

const own = (): string => join(folder, `polygateway-${process.getuid?.() ?? ''}`);
const sockets = (): string[] => (existsSync(own()) ? readdirSync(own()).sort() : []);

async function upstream(...scripts: string[]): Promise<Upstream> {
  const started = await startUpstream({ scripts });
  cleanUps.push(started.close);
  return started;
}

interface Watched {
  readonly gateway: Gateway;
  readonly troubles: string[];
}

function open(sources: readonly Upstream[], options: Partial<GatewayOptions> = {}): Watched {
  const troubles: string[] = [];
  const gateway = createGateway({
    settings: { scope: 'LLM', sources: sources.map(({ url }, at) => ({ provider: 'ab'.charAt(at), baseUrl: url, model: 'm', apiKey: 'sk-geheim-1234567890' })) },
    telemetryWatch: 'auto',
    ...options,
  });
  gateway.events$.subscribe((event) => { if (event.type === 'telemetry-trouble') troubles.push(event.message); });
  cleanUps.push(gateway.close);
  return { gateway, troubles };
}

function view(path: string): Viewer {
  const viewer = connectTo(path);
  cleanUps.push(() => viewer.socket.destroy());
  return viewer;
}

async function viewAuto(): Promise<Viewer> {
  await until('the socket', () => sockets().length === 1);
  return view(join(own(), sockets()[0]!));
}

const ask = (gateway: Gateway): Promise<unknown> => gateway.chat({ messages: [{ role: 'user', content: 'tell me a secret' }], tags: { user: 'Mallory' } }).catch(() => undefined);

describe('a process that can be watched', () => {
  test('says who it is, shows how the silence of a stream grows, and tells of the hedge; no prompt, no answer, no tag, no key', async () => {
    const [silent, steady] = await Promise.all([upstream('open@0.01 d@0.02"Wor" hang'), upstream('d@0.3"Words" f@0.31')]);
    const { gateway, troubles } = open([silent, steady], { hedgeStallAfterS: 0.8, hedgeAfterS: 5, stallThresholdMs: 300 });
    const viewer = await viewAuto();
    await until('hello', () => viewer.hello() !== undefined);
    expect(viewer.hello()).toMatchObject({
      type: 'hello', protocol: 1, version: expect.stringMatching(/^\d+\./), scope: 'LLM', pid: process.pid, host: expect.any(String), startedAt: expect.stringMatching(/Z$/),
      thresholds: { stallThresholdMs: 300, hedgeAfterMs: 5000, hedgeStallAfterMs: 800 },
      sources: [{ id: 'a/1', model: 'm', maxConcurrency: null }, { id: 'b/1', model: 'm', maxConcurrency: null }],
    });
    await ask(gateway);
    await until('the call in the events', () => viewer.events().some(({ type }) => type === 'call-ended'));

    const silences = viewer.states().flatMap(({ streams }) => streams.filter(({ source, increments }) => source === 'a/1' && increments === 1).map(({ silentMs }) => silentMs));
    expect(silences.length).toBeGreaterThanOrEqual(3);
    expect(silences).toEqual([...silences].sort((x, y) => x - y));
    expect(Math.max(...silences)).toBeGreaterThan(500);
    expect(viewer.states().some(({ streams }) => streams.some(({ role, source }) => role === 'backup' && source === 'b/1'))).toBe(true);
    expect(viewer.states()[0]).toMatchObject({ calls: 0, attempts: 0, waiters: 0, streams: [], breakers: { 'a/1': 'closed', 'b/1': 'closed' }, missed: 0 });
    expect(viewer.events()).toEqual(expect.arrayContaining([
      expect.objectContaining({ type: 'silence-noticed', source: 'a/1', trigger: 'stall' }),
      expect.objectContaining({ type: 'attempt-started', source: 'b/1', role: 'backup' }),
      expect.objectContaining({ type: 'round-decided', records: [expect.objectContaining({ source: 'b/1', won: true }), expect.objectContaining({ source: 'a/1', won: false, errorClass: 'hedge_cancelled' })] }),
    ]));
    expect(viewer.text()).not.toMatch(/secret|Wor|Mallory|geheim/);
    expect(troubles).toEqual([]);
  });

  test('two can watch at once, one may go; only its user may look, and close removes the socket and says good-bye', async () => {
    const { gateway } = open([await upstream('hang')]);
    const first = await viewAuto();
    const path = join(own(), sockets()[0]!);
    expect([statSync(own()).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
    const second = view(path);
    await until('both see', () => first.states().length > 1 && second.states().length > 1);
    first.socket.destroy();
    const seen = second.states().length;
    await until('the second goes on', () => second.states().length > seen + 1);
    await gateway.close();
    await until('good-bye', () => second.gone());
    expect(second.messages().at(-1)).toEqual({ type: 'bye' });
    expect(sockets()).toEqual([]);
  });

  test('two gateways of one scope in one process have a socket each', async () => {
    const a = await upstream('hang');
    open([a]);
    open([a]);
    await until('both', () => sockets().length === 2);
    expect(sockets()).toEqual([`LLM-${process.pid}-2.sock`, `LLM-${process.pid}.sock`]);
  });

  test('two that come to one path at the same time: whoever goes first takes no socket away but its own', async () => {
    const path = join(folder, 'own.sock');
    await leaveSocket(path);
    const a = await upstream('hang');
    const both = [open([a], { telemetryWatch: path }), open([a], { telemetryWatch: path })];
    await until('the socket', () => existsSync(path) && (statSync(path).mode & 0o777) === 0o600);
    await both[0]!.gateway.close();
    const left = existsSync(path);
    expect(left || both[1]!.troubles.length === 1).toBe(true);
    if (left) await until('it is served', () => view(path).hello() !== undefined || true);
    await both[1]!.gateway.close();
    expect([existsSync(path), readdirSync(folder).filter((name) => name.startsWith('.'))]).toEqual([false, []]);
  });

  test('a snapshot of a great many streams names those that have been silent longest, and counts the others', () => {
    const written: string[] = [];
    const socket = { unref: () => socket, on: () => socket, resume: () => socket, write: (text: string) => written.push(text), writableLength: 0, setTimeout: () => socket, end: () => socket };
    const streams = Array.from({ length: 1000 }, (_, at) => ({ callId: 'c', attemptId: `c-${at}`, source: at % 4 === 0 ? 'a/1' : 'b/1', role: 'primary' as const, round: 1, openMs: at, silentMs: at, increments: 0 }));
    const stats: WatchedStats = { calls: 1000, attempts: 1000, waiters: 0, streams, permits: {}, parked: {}, breakers: {}, paced: {} };
    const audience = createAudience({ hello: () => ({ type: 'hello' }) as WatchHello, stats: () => stats, events$: new Subject<GatewayEvent>(), now: () => 0 });
    audience.add(socket as unknown as Socket);
    audience.close();
    const state = JSON.parse(written[1]!) as WatchState;
    expect([state.streams.length, state.streams[0]!.silentMs, state.streams.at(-1)!.silentMs, state.unnamed]).toEqual([300, 999, 700, { 'a/1': 175, 'b/1': 525 }]);
  });

  test('a socket that a dead process has left is replaced, at auto and at a path', async () => {
    const path = join(folder, 'own.sock');
    mkdirSync(own(), { mode: 0o700 });
    const auto = join(own(), `LLM-${process.pid}.sock`);
    await Promise.all([leaveSocket(path), leaveSocket(auto)]);
    const a = await upstream('hang');
    open([a], { telemetryWatch: path });
    open([a]);
    await until('both are ours alone, as the old ones were not', () => [path, auto].every((at) => existsSync(at) && (statSync(at).mode & 0o777) === 0o600));
    const viewers = [path, auto].map(view);
    await until('both answer', () => viewers.every((viewer) => viewer.hello() !== undefined));
    expect(sockets()).toHaveLength(1);
  });

  test('ends by itself although somebody watches', async () => {
    const a = await upstream('open@0.01 d@0.02"Hel" d@1"lo" f@1.1');
    const path = join(folder, 'child.sock');
    const child = fork(fileURLToPath(new URL('watched.mjs', import.meta.url)), [JSON.stringify({ url: a.url, place: path })], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    cleanUps.push(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await until('the socket', () => existsSync(path));
    const viewer = view(path);
    expect(await ended).toEqual([0, null]);
    await until('the viewer is let go', () => viewer.gone());
    expect(viewer.states().some(({ streams }) => streams.length === 1)).toBe(true);
  });
});

describe('where nobody can listen', () => {
  const places: [string, (path: string) => string, RegExp][] = [
    ['a folder that others can look into', () => { mkdirSync(own(), { mode: 0o700 }); chmodSync(own(), 0o755); return 'auto'; }, /is open to others.+set TELEMETRY__WATCH to another path/],
    ['a link that somebody else may have laid out', () => { symlinkSync(folder, own()); return 'auto'; }, /is no folder/],
    ['a file that is no socket, which stays', (path) => { writeFileSync(path, 'mine'); return path; }, /is taken/],
    ['a folder that is not there', (path) => join(path, 'x.sock'), /ENOENT|EACCES/],
  ];
  test.each(places)('%s: trouble is told, calls go on', async (_what, prepare, why) => {
    const path = join(folder, 'x');
    const { gateway, troubles } = open([await upstream('d@0.01"Hi" f@0.02')], { telemetryWatch: prepare(path) });
    await until('trouble', () => troubles.length > 0);
    expect(troubles).toEqual([expect.stringMatching(why)]);
    if (existsSync(path)) expect(lstatSync(path).isFile()).toBe(true);
    await expect(gateway.chat({ messages: [{ role: 'user', content: 'x' }] })).resolves.toMatchObject({ content: 'Hi' });
  });

  test('a path at which another process is watched is not taken from it', async () => {
    const a = await upstream('hang');
    const path = join(folder, 'one.sock');
    open([a], { telemetryWatch: path });
    await until('the first', () => existsSync(path));
    const { troubles } = open([a], { telemetryWatch: path });
    await until('trouble', () => troubles.length > 0);
    const viewer = view(path);
    await until('the first still answers', () => viewer.hello() !== undefined);
  });
});

describe('audience', () => {
  const hello: WatchHello = { type: 'hello', protocol: 1, version: '0', scope: 'LLM', pid: 1, host: 'h', startedAt: '', sentAt: '', atMs: 0, thresholds: { stallThresholdMs: 1, hedgeAfterMs: null, hedgeStallAfterMs: null }, sources: [] };
  const stats: WatchedStats = { calls: 0, attempts: 0, waiters: 0, streams: [], permits: {}, parked: {}, breakers: {}, paced: {} };
  const event: GatewayEvent = { type: 'telemetry-trouble', atMs: 1, message: 'x'.repeat(1000), lost: 0 };

  async function serve(look: () => WatchedStats): Promise<{ path: string; server: Server; events$: Subject<GatewayEvent> }> {
    const events$ = new Subject<GatewayEvent>();
    const audience = createAudience({ hello: () => hello, stats: look, events$, now: () => 0, everyMs: 10 });
    const server = createServer(audience.add);
    const path = join(folder, 'audience.sock');
    await once(server.listen(path), 'listening');
    cleanUps.push(() => { audience.close(); server.close(); });
    return { path, server, events$ };
  }

  test('nobody listens and no timer runs while nobody watches', async () => {
    let looks = 0;
    const { path, events$ } = await serve(() => { looks += 1; return stats; });
    expect(events$.observed).toBe(false);
    const viewer = view(path);
    await until('snapshots', () => looks > 3);
    expect(events$.observed).toBe(true);
    viewer.socket.destroy();
    await until('nobody listens', () => !events$.observed);
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(looks).toBe(before);
  });

  test('one that is slow misses what it had no room for, and is told how much', async () => {
    const { path, events$ } = await serve(() => stats);
    const viewer = view(path);
    await until('hello', () => viewer.states().length > 0);
    viewer.socket.pause();
    for (let at = 0; at < 3000; at += 1) events$.next(event);
    viewer.socket.resume();
    await until('it has caught up', () => (viewer.states().at(-1)?.missed ?? 0) > 0);
    expect(viewer.events().length + viewer.states().at(-1)!.missed).toBe(3000);
  });

  test('one that never reads costs bounded memory and is cut off; the others go on', async () => {
    const large = { ...stats, permits: { ['x'.repeat(50_000)]: 1 } };
    const { path, server } = await serve(() => large);
    const held: { writableLength: number; destroyed: boolean }[] = [];
    server.on('connection', (socket) => held.push(socket));
    const lazy = view(path);
    lazy.socket.pause();
    const eager = view(path);
    let most = 0;
    await until('it is cut off', () => {
      most = Math.max(most, ...held.map(({ writableLength }) => writableLength));
      return held.some(({ destroyed }) => destroyed);
    });
    expect(most).toBeGreaterThan(200_000);
    expect(most).toBeLessThan(400_000);
    expect(held.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    const seen = eager.states().length;
    await until('the other goes on', () => eager.states().length > seen);
  });
});

/** A socket whose process is gone. */
async function leaveSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'exit');
  expect(lstatSync(path).isSocket()).toBe(true);
}
