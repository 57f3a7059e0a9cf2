import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { createGateway } from '../../lib/assemble/createGateway.js';
import type { Gateway } from '../../lib/assemble/createGateway.js';
import { settingsFromEnv } from '../../lib/config/settingsFromEnv.js';
import { createClientKeys, sha256 } from '../../lib/server/clientKeys.js';
import { createFrontDoor } from '../../lib/server/frontDoor.js';
import { startCli } from '../cli/runCli.js';
import { runHere } from '../cli/runHere.js';
import { sendRaw } from '../server/rawHttp.js';
import { startSdk } from '../telemetry/openTelemetryScene.js';
import { view } from '../telemetry/watchViewer.js';
import { startEchoPostgres, startEchoRedis } from './echoDatabases.js';
import { startEchoProvider, ways } from './echoProvider.js';
import type { EchoProvider } from './echoProvider.js';
import { createOutputs } from './outputs.js';
import type { Outputs } from './outputs.js';
import { leaksIn, plants } from './plants.js';

jest.setTimeout(30_000);

/** One of each kind, for what asks anew what the first test has asked already. */
const someWays = ['401', 'a text', 'an error frame', 'no HTTP'];
/** A source is left alone for a moment after it said that it is asked too much. */
const parkedMs = 10;
// Where an error was made shows nothing, and is dear to look up.
Error.stackTraceLimit = 1;

const folder = mkdtempSync(join(tmpdir(), 'polygateway-planted-'));
const proxyBefore = process.env['http_proxy'];
let provider: EchoProvider;
/** Begun first, since closing waits for a database that refuses. */
let databases: ReturnType<typeof askDatabases>;

beforeAll(async () => {
  provider = await startEchoProvider();
  process.env['http_proxy'] = proxy();
  databases = askDatabases();
  // Awaited by its test.
  databases.catch(() => undefined);
});

afterAll(async () => {
  await databases.catch(() => undefined);
  if (proxyBefore === undefined) delete process.env['http_proxy'];
  else process.env['http_proxy'] = proxyBefore;
  await provider.close();
  rmSync(folder, { recursive: true });
});

function proxy(): string {
  return `http://user:${encodeURIComponent(plants.proxy)}@${provider.origin.replace('http://', '')}`;
}

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    LLM__ECHO__1__BASE_URL: `http://echo.example/v1?sig=${encodeURIComponent(plants.query)}`,
    LLM__ECHO__1__MODEL: 'm',
    LLM__ECHO__1__API_KEY: plants.apiKey,
    LLM__ECHO__1__HEADERS: JSON.stringify({ 'x-team': plants.header }),
    LLM__RETRY__MAX_ATTEMPTS: '1',
    LLM__RETRY__BACKOFF_S: '0.001',
    LLM__BACKPRESSURE__MODE: 'fail_fast',
    LLM__BREAKER__FAILURES: '1000',
    LLM__BREAKER__MIN_CALLS: '1000',
    ...more,
  };
}

const ask = (way: string): { messages: { role: 'user'; content: string }[] } => ({ messages: [{ role: 'user', content: way }] });

async function askGateway(gateway: Gateway, outputs: Outputs): Promise<void> {
  for (const way of Object.keys(ways)) {
    await gateway.chat({ ...ask(way), stream: false }).then((response) => outputs.add('responses', JSON.stringify(response)), (error: unknown) => outputs.addError(`error of ${way}`, error));
    const read = async (): Promise<void> => {
      for await (const item of gateway.stream(ask(way))) outputs.add('items of streams', JSON.stringify(item));
    };
    await sleep(parkedMs);
    await read().catch((error: unknown) => outputs.addError(`error of stream, ${way}`, error));
    await sleep(parkedMs);
  }
  outputs.add('stats', JSON.stringify(gateway.stats()));
}

/** Each way in each delivery, with what a client may send by mistake; all bytes of the answers. */
async function askDoor(url: string, outputs: Outputs, asked = Object.keys(ways)): Promise<void> {
  const { port } = new URL(url);
  for (const way of asked) {
    for (const [stream, delivery] of [[false, 'commit'], [true, 'commit'], [true, 'buffered']] as const) {
      const body = JSON.stringify({ ...ask(way), stream, model: 'any' });
      const head = ['POST /v1/chat/completions HTTP/1.1', 'host: localhost', `authorization: Bearer ${plants.client}`, `x-polygateway-delivery: ${delivery}`, 'content-type: application/json', 'connection: close', `content-length: ${body.length}`];
      const { text } = await sendRaw(Number(port), `${head.join('\r\n')}\r\n\r\n${body}`);
      outputs.add(`front door, ${way}, ${stream ? delivery : 'whole'}`, text);
      await sleep(parkedMs);
    }
  }
  for (const [path, key] of [['/metrics', plants.client], ['/readyz', plants.client], ['/v1/models', plants.client], [`/v1/models?key=${plants.stranger}`, plants.stranger]]) {
    const { text } = await sendRaw(Number(port), `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`);
    outputs.add(`front door, ${path!.slice(0, 12)}`, text);
  }
}

test('R7 what a provider says of what it was sent: keys, headers, query and proxy show in no error, event, row, span, figure, answer or page', async () => {
  const outputs = createOutputs();
  const sdk = startSdk();
  const [file, socket] = [join(folder, 'own.db'), join(folder, 'watch.sock')];
  const gateway = createGateway({ settings: settingsFromEnv('LLM', environment()), telemetryUrl: `sqlite:${file}`, telemetryWatch: socket });
  gateway.events$.subscribe((event) => outputs.add('events', JSON.stringify(event)));
  const viewer = view(socket);
  const door = createFrontDoor({ chat: gateway, models: ['m'], keys: createClientKeys([sha256(plants.client)]), onRequest: (request) => outputs.add('requests', JSON.stringify(request)) });
  try {
    const { url } = await door.listen({ host: '127.0.0.1', port: 0 });
    await askGateway(gateway, outputs);
    await askDoor(url, outputs);
  } finally {
    await door.drain(0);
    await gateway.close();
  }
  outputs.add('watch', viewer.text());
  outputs.add('spans', JSON.stringify(sdk.spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))));
  outputs.add('metrics', JSON.stringify(await sdk.points()));
  outputs.add('rows', JSON.stringify(rowsIn(file)));
  await sdk.stop();
  viewer.socket.destroy();
  const reported = await runHere(['report', '--db', file, '--out', join(folder, 'page.html'), '--json']);
  outputs.add('report', reported.stdout + reported.stderr);

  // Each way in two ways by the gateway and in three by the front door: else what was not asked would leak nothing.
  expect(Object.keys(ways).filter((way) => (provider.asked.get(way) ?? 0) < 5)).toEqual([]);
  expect([...new Set(leaksIn(provider.told()))].sort()).toEqual(['apiKey', 'header', 'proxy', 'query']);
  expect(outputs.leaks()).toEqual({});
});

function rowsIn(file: string): unknown[] {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare('SELECT * FROM llm_attempts').all();
  } finally {
    database.close();
  }
}

test('R7 the commands: neither serve, nor chat, nor doctor shows a key that a provider or a client has told', async () => {
  const outputs = createOutputs();
  const env = { ...environment({ LLM__TELEMETRY__URL: `sqlite:${join(folder, 'served.db')}` }), http_proxy: proxy(), POLYGATEWAY_SERVE_KEYS: plants.client };
  const serve = startCli(['serve', '--port', '0', '--drain-s', '1', '--verbose'], { env });
  try {
    const [line = ''] = await serve.lines(1);
    const here = someWays.map(async (way) => {
      const { stdout, stderr } = await runHere(['chat', way], { env });
      outputs.add(`chat, ${way}`, stdout + stderr);
    });
    const verbose = startCli(['chat', '401', '--verbose'], { env }).ended.then(({ stdout, stderr }) => outputs.add('chat --verbose', stdout + stderr));
    const doctor = [['--probe'], ['--probe', '--json']].map(async (flags) => {
      const { stdout, stderr } = await runHere(['doctor', ...flags], { env });
      outputs.add(`doctor ${flags.join(' ')}`, stdout + stderr);
    });
    await Promise.all([...here, verbose, ...doctor, askDoor(line.replace('listening on ', ''), outputs, someWays)]);
  } finally {
    serve.child.kill('SIGTERM');
    await serve.ended;
  }
  outputs.add('serve', serve.stdout + serve.stderr);
  expect(serve.stderr).toContain('/v1/chat/completions');
  expect(outputs.leaks()).toEqual({});
});

test('R7 a database that quotes its password: neither Redis nor Postgres shows it', async () => {
  const { outputs, told } = await databases;
  expect(leaksIn(told)).toEqual(['redis', 'postgres']);
  expect(outputs.places()).toEqual(expect.arrayContaining(['error', 'events']));
  expect(outputs.leaks()).toEqual({});
});

async function askDatabases(): Promise<{ outputs: Outputs; told: string }> {
  const outputs = createOutputs();
  const [redis, postgres] = await Promise.all([startEchoRedis(), startEchoPostgres()]);
  const env = environment({
    LLM__BACKEND__URL: `redis://user:${encodeURIComponent(plants.redis)}@127.0.0.1:${redis.port}/0`,
    LLM__TELEMETRY__URL: `postgres://user:${encodeURIComponent(plants.postgres)}@127.0.0.1:${postgres.port}/db`,
  });
  try {
    const shared = createGateway({ settings: settingsFromEnv('LLM', { ...env, LLM__TELEMETRY__URL: '' }) });
    const recorded = createGateway({ settings: settingsFromEnv('LLM', { ...env, LLM__BACKEND__URL: '' }) });
    const calls = [shared, recorded].map(async (gateway) => {
      gateway.events$.subscribe((event) => outputs.add('events', JSON.stringify(event)));
      await gateway.chat(ask('an answer')).catch((error: unknown) => outputs.addError('error', error));
      await gateway.close();
    });
    const commands = [['doctor', '--probe', '--json'], ['chat', 'an answer'], ['report'], ['telemetry', 'migrate', '--db', env['LLM__TELEMETRY__URL']!]].map(async (args) => {
      const { stdout, stderr } = await runHere(args, { env });
      outputs.add(args.slice(0, 2).join(' '), stdout + stderr);
    });
    await Promise.all([...calls, ...commands]);
  } finally {
    await Promise.all([redis.close(), postgres.close()]);
  }
  return { outputs, told: redis.told() + postgres.told() };
}
