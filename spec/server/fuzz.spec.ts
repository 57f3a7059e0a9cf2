import { readdirSync, readlinkSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mulberry32 } from '../../lib/lab/mulberry32.js';
import { startCli } from '../cli/runCli.js';
import type { RunningCli } from '../cli/runCli.js';
import { until } from '../support/until.js';
import { brokenBody } from './fuzz/brokenBody.js';
import { brokenHttp } from './fuzz/brokenHttp.js';
import { answersIn, faultOf } from './fuzz/checkedAnswer.js';
import { chooseFrom } from './fuzz/random.js';
import { parsePrometheus } from './parsePrometheus.js';

jest.setTimeout(120_000);

// A thousand requests of each kind; with SLOW=1 five times as many. FUZZ_SEED begins elsewhere.
const count = 1000;
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 6);
const seeds = Array.from({ length: process.env['SLOW'] === '1' ? 5 : 1 }, (_, n) => firstSeed + n);
const atOnce = 48;

let source: Server;
let cli: RunningCli;
let port: number;

beforeEach(async () => {
  source = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => source.once('listening', resolve));
  const baseUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}/v1`;
  const env = Object.fromEntries(['LLM', 'EMBEDDING'].flatMap((scope) => [[`${scope}__A__1__BASE_URL`, baseUrl], [`${scope}__A__1__MODEL`, 'm']]));
  cli = startCli(['serve', '--port', '0', '--quiet'], { env });
  const [line = ''] = await cli.lines(1);
  port = Number(line.split(':').at(-1));
});

afterEach(async () => {
  cli.child.kill('SIGKILL');
  source.closeAllConnections();
  source.close();
  await cli.ended;
});

/** A source that answers whatever it is asked, so that no failure is its own. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await readAll(request)) as { input?: unknown; dimensions?: unknown };
  if (request.url?.endsWith('/embeddings') === true) {
    const { dimensions = 2 } = body;
    if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1 || dimensions > 100) {
      response.writeHead(400).end('{"error":{"message":"dimensions must be from 1 to 100"}}');
      return;
    }
    const inputs = Array.isArray(body.input) && !body.input.every((one) => typeof one === 'number') ? body.input : [body.input];
    response.end(JSON.stringify({ model: 'm', data: inputs.map((_one, index) => ({ index, embedding: Array.from({ length: dimensions }, () => 1) })) }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
}

/** Runs jobs, many at once. */
async function many(job: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await job((next += 1));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** All that comes back for these bytes, after which nothing more is sent. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => undefined);
    socket.on('close', () => resolve(text)).setTimeout(20_000, () => socket.destroy(new Error('silence')));
    socket.end(Buffer.from(bytes, 'latin1'));
  });
}

function send(agent: Agent, { path, headers, body }: ReturnType<typeof brokenBody>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent, port, host: '127.0.0.1', path, method: 'POST', headers: { host: 'localhost', 'content-length': body.length, ...headers } }, (response) => {
      readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, body: text }), reject);
    });
    request.setTimeout(20_000, () => request.destroy(new Error('silence'))).on('error', reject);
    request.end(body);
  });
}

/** A good request is answered, no call is in flight, no connection is left open, and the process has not complained. */
async function atRest(): Promise<void> {
  const agent = new Agent();
  const asked = await send(agent, { path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body: Buffer.from('{"messages":[{"role":"user","content":"x"}]}') });
  expect(asked).toMatchObject({ status: 200, body: expect.stringContaining('"content":"ok"') });
  await until('nothing is in flight', async () => {
    const { valueOf } = parsePrometheus(await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text());
    return ['chat', 'embeddings'].every((operation) => ['calls', 'attempts'].every((what) => valueOf(`polygateway_${what}_in_flight`, { operation }) === 0));
  });
  await until('connections are closed', () => Promise.resolve(openSockets() <= atOnce));
  expect([cli.child.exitCode, cli.stderr]).toEqual([null, '']);
}

/** Of the server's process; those to its source are kept for further requests. */
function openSockets(): number {
  const folder = `/proc/${cli.child.pid}/fd`;
  return process.platform === 'linux' ? readdirSync(folder).filter((fd) => linkOf(`${folder}/${fd}`).startsWith('socket:')).length : 0;
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

describe('fuzz', () => {
  test.each(seeds)(`${count} times what is no request, seed %i: no crash, no 500, errors in OpenAI's shape`, async (seed) => {
    const choose = chooseFrom(mulberry32(seed));
    const statuses = new Map<number, number>();
    const faults: string[] = [];
    await many(async () => {
      const kind = choose.oneOf(Object.keys(brokenHttp));
      const bytes = brokenHttp[kind]!(choose);
      for (const given of answersIn(await exchange(bytes))) {
        statuses.set(given.status, (statuses.get(given.status) ?? 0) + 1);
        const fault = faultOf(given);
        if (fault !== undefined) faults.push(`${kind}: ${JSON.stringify(bytes.slice(0, 300))} ${fault}`);
      }
    });
    expect(faults.slice(0, 5)).toEqual([]);
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 403, 404, 405, 431]));
    await atRest();
  });

  test.each(seeds)(`${count} times a body that cannot be meant, seed %i: no crash, no 500, errors in OpenAI's shape`, async (seed) => {
    const choose = chooseFrom(mulberry32(seed));
    const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
    const statuses = new Map<number, number>();
    const faults: string[] = [];
    try {
      await many(async () => {
        const broken = brokenBody(choose);
        const fault = await send(agent, broken).then(
          (given) => {
            statuses.set(given.status, (statuses.get(given.status) ?? 0) + 1);
            return faultOf(given);
          },
          (error: unknown) => `no answer: ${String(error)}`,
        );
        if (fault !== undefined) faults.push(`${broken.path} ${JSON.stringify(broken.headers)} ${broken.body.toString('latin1', 0, 600)} ${fault}`);
      });
    } finally {
      agent.destroy();
    }
    expect(faults.slice(0, 5)).toEqual([]);
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 415]));
    await atRest();
  });
});
