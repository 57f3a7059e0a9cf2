import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, request as undiciRequest } from 'undici';
import { randomTimeline } from '../../../lib/lab/upstream/randomTimeline.js';
import { mulberry32 } from '../../../lib/lab/mulberry32.js';
import { startUpstream } from '../../../lib/lab/upstream/upstream.js';
import type { Upstream, UpstreamOptions } from '../../../lib/lab/upstream/upstream.js';

interface Exchange {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  /** What arrived, with the time since the request was sent. */
  pieces: { atMs: number; text: string }[];
  body: string;
  /** `end`, or the code of the error that cut the answer. */
  ended: string;
  endedMs: number;
}

const running: Upstream[] = [];

async function start(options: UpstreamOptions): Promise<Upstream> {
  const upstream = await startUpstream(options);
  running.push(upstream);
  return upstream;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((upstream) => upstream.close()));
});

function post(upstream: Upstream, body: unknown = { stream: true }, { path = '/v1/chat/completions', ...rest }: Partial<Outgoing> = {}): Promise<Exchange> {
  return send({ method: 'POST', port: upstream.port, path, body: typeof body === 'string' ? body : JSON.stringify(body), ...rest });
}

async function seen({ requests }: Upstream, count: number): Promise<void> {
  while (requests.length < count) await sleep(1);
}

interface Outgoing {
  method: string;
  port: number;
  path: string;
  body?: string;
  signal?: AbortSignal;
  onHeaders?: () => void;
}

function send({ method, port, path, body, signal, onHeaders }: Outgoing): Promise<Exchange> {
  const sentMs = performance.now();
  const since = (): number => performance.now() - sentMs;
  const exchange: Exchange = { status: 0, headers: {}, pieces: [], body: '', ended: '', endedMs: 0 };
  return new Promise((resolve) => {
    const end = (ended: string): void => resolve({ ...exchange, body: exchange.pieces.map(({ text }) => text).join(''), ended, endedMs: since() });
    const failed = (error: NodeJS.ErrnoException): void => end(error.code ?? error.name);
    const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-secret' };
    const outgoing = httpRequest({ method, port, path, host: '127.0.0.1', headers, agent: false, ...(signal ? { signal } : {}) }, (response) => {
      exchange.status = response.statusCode ?? 0;
      exchange.headers = response.headers;
      onHeaders?.();
      response.setEncoding('utf8');
      response.on('data', (text: string) => exchange.pieces.push({ atMs: since(), text }));
      response.on('end', () => end('end'));
      response.on('error', failed);
    });
    outgoing.on('error', failed);
    outgoing.end(body);
  });
}

/** The frames of an answer, without what all of them share. */
function framesOf({ body }: Exchange): unknown[] {
  return body.split('\n\n').slice(0, -1).map((frame) => {
    if (!frame.startsWith('data: {') || !frame.endsWith('}')) return frame;
    const { id, object, created, model, system_fingerprint: fingerprint, ...own } = JSON.parse(frame.slice(6)) as Record<string, unknown>;
    if (own['error'] === undefined) {
      expect([id, object, model, fingerprint]).toEqual([expect.stringMatching(/^chatcmpl-/), 'chat.completion.chunk', 'sim', null]);
      expect(created).toBeGreaterThan(1.7e9);
    }
    return own;
  });
}

const delta = (fields: object, finishReason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finishReason }],
});
const role = delta({ role: 'assistant', content: '', refusal: null });

async function play(script: string, body: object = { stream: true }): Promise<Exchange> {
  return post(await start({ scripts: [script] }), body);
}

describe('a step on the wire', () => {
  test.each<[string, unknown[]]>([
    ['d@0"Hel\\"lo\\n"', [role, delta({ content: 'Hel"lo\n' })]],
    ['r@0"hm"', [role, delta({ reasoning_content: 'hm' })]],
    ['e@0', [role, delta({ content: '' })]],
    ['e(role)@0', [role, role]],
    ['e(choices)@0', [role, { choices: [] }]],
    ['k@0', [role, ': keep-alive']],
    ['u@0(12,34)', [role, { choices: [], usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 } }]],
    ['D@0', [role, 'data: [DONE]']],
    ['bad@0', [role, 'data: {"cho']],
    ['bad@0"oops"', [role, 'data: oops']],
    ['err@0(overloaded,"busy")', [role, { error: { message: 'busy', type: 'server_error', param: null, code: 'overloaded' } }]],
    ['open(bare)@0 d@0"x"', [delta({ content: 'x' })]],
    ['open(bare)@0', []],
  ])('%s', async (script, frames) => {
    const exchange = await play(`${script} eof`);
    expect(framesOf(exchange)).toEqual(frames);
    expect(exchange).toMatchObject({ status: 200, ended: 'end', headers: { 'content-type': 'text/event-stream; charset=utf-8', 'transfer-encoding': 'chunked' } });
  });

  test('open(bare): the headers come at once, without a frame', async () => {
    const upstream = await start({ scripts: ['open(bare)@0 hang'] });
    const leaving = new AbortController();
    const open = post(upstream, { stream: true }, { signal: leaving.signal, onHeaders: () => leaving.abort() });
    expect(await open).toMatchObject({ status: 200, body: '' });
  });

  test('f: finish reason, end marker, clean end', async () => {
    const exchange = await play('d@0"x" f@0');
    expect(framesOf(exchange)).toEqual([role, delta({ content: 'x' }), delta({}, 'stop'), 'data: [DONE]']);
    expect(exchange.ended).toBe('end');
  });

  test('g: the first fragment names the call, the next continue it, a name begins another', async () => {
    const exchange = await play('g(lookup)@0"{\\"a" g@0"\\":1}" g(other)@0"{}" f(tool_calls)@0');
    const id = expect.stringMatching(/^call_/);
    expect(framesOf(exchange)).toEqual([
      role,
      delta({ tool_calls: [{ index: 0, id, type: 'function', function: { name: 'lookup', arguments: '{"a' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
      delta({ tool_calls: [{ index: 1, id, type: 'function', function: { name: 'other', arguments: '{}' } }] }),
      delta({}, 'tool_calls'),
      'data: [DONE]',
    ]);
  });

  test('rst: the connection is reset, and what was written before has arrived', async () => {
    const upstream = await start({ scripts: ['d@0"x" rst@0', 'rst@0'] });
    const exchange = await post(upstream);
    expect(framesOf(exchange)).toEqual([role, delta({ content: 'x' })]);
    expect(exchange.ended).toBe('ECONNRESET');
    expect(await post(upstream)).toMatchObject({ status: 0, ended: 'ECONNRESET' });
    expect(upstream.requests).toMatchObject([{ finished: true, closedByClientMs: null }, { finished: true, closedByClientMs: null }]);
  });

  test.each([
    ['503@0', 503, { message: 'simulated failure 503', type: 'server_error', param: null, code: null }],
    ['401@0(invalid_api_key,"no such key")', 401, { message: 'no such key', type: 'invalid_request_error', param: null, code: 'invalid_api_key' }],
    ['429@0(ra=7)', 429, { message: 'simulated failure 429', type: 'requests', param: null, code: 'rate_limit_exceeded' }],
  ])('%s is an HTTP answer', async (script, status, error) => {
    const exchange = await play(script);
    expect(exchange).toMatchObject({ status, ended: 'end', headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(exchange.body)).toEqual({ error });
    expect(exchange.headers['retry-after']).toBe(status === 429 ? '7' : undefined);
    expect(exchange.headers['x-request-id']).toMatch(/^req_/);
  });

  test.each(['hang', 'd@0"x"', 'f@0 D@0'])('%s leaves the connection open', async (script) => {
    const upstream = await start({ scripts: [script] });
    const open = post(upstream);
    await seen(upstream, 1);
    await sleep(30);
    expect(upstream.requests).toMatchObject([{ finished: false, closedByClientMs: null }]);
    await upstream.close();
    expect((await open).ended).toBe('ECONNRESET');
  });
});

describe('time', () => {
  test('each step comes at its own time after the arrival, not later and later', async () => {
    const exchange = await play('open@0 d@0.01..0.4/0.01"x" eof@0.4');
    const increments = exchange.pieces.flatMap(({ atMs, text }) => Array.from(text.matchAll(/"content":"x"/g), () => atMs));
    expect(increments).toHaveLength(40);
    increments.forEach((atMs, at) => expect(atMs).toBeGreaterThanOrEqual((at + 1) * 10));
    expect(exchange.endedMs).toBeLessThan(400 + 600);
  });

  test('steps that became due while the process was blocked come at once, in order', async () => {
    const upstream = await start({ scripts: ['open@0 d@0.05"a" d@0.1"b" d@0.6"c" f@0.6'] });
    const answer = post(upstream);
    await seen(upstream, 1);
    const until = performance.now() + 400;
    while (performance.now() < until);
    const exchange = await answer;
    expect(framesOf(exchange).slice(1, 4)).toEqual(['a', 'b', 'c'].map((content) => delta({ content })));
    const lastAtMs = exchange.pieces.find(({ text }) => text.includes('"c"'))?.atMs;
    expect(lastAtMs).toBeGreaterThanOrEqual(600);
    expect(lastAtMs).toBeLessThan(600 + 300);
  });
});

describe('what it saw', () => {
  test('a client that closes is seen with its time', async () => {
    const ended: boolean[] = [];
    const upstream = await start({ scripts: ['d@0"x" hang', 'hang'], onEnd: ({ finished }) => ended.push(finished) });
    for (const n of [0, 1]) {
      const leaving = new AbortController();
      const cut = post(upstream, { stream: true }, { signal: leaving.signal });
      await seen(upstream, n + 1);
      await sleep(50);
      const leftMs = performance.now();
      leaving.abort();
      await cut;
      while (ended.length === n) await sleep(2);
      expect(upstream.requests[n]?.closedByClientMs).toBeGreaterThanOrEqual(leftMs);
      expect(upstream.requests[n]?.closedByClientMs).toBeLessThan(leftMs + 500);
    }
    expect(ended).toEqual([false, false]);
  });

  test('the script of a client that left is not played on', async () => {
    const upstream = await start({ scripts: ['d@0"x" eof@0.5'] });
    const leaving = new AbortController();
    const cut = post(upstream, { stream: true }, { signal: leaving.signal });
    await seen(upstream, 1);
    leaving.abort();
    await cut;
    await sleep(550);
    expect(upstream.requests).toMatchObject([{ finished: false, closedByClientMs: expect.any(Number) }]);
  });

  test('an undici client that aborts is seen too', async () => {
    const upstream = await start({ scripts: ['d@0..2/0.01'] });
    const dispatcher = new Agent();
    const leaving = new AbortController();
    const { body } = await undiciRequest(`${upstream.url}/chat/completions`, { method: 'POST', body: '{"stream":true}', signal: leaving.signal, dispatcher });
    body.on('error', () => undefined);
    body.once('data', () => leaving.abort());
    while (upstream.requests[0]?.closedByClientMs == null) await sleep(2);
    expect(upstream.requests[0].finished).toBe(false);
    await dispatcher.close();
  });

  test('an answer that was ended is finished, and a client that leaves afterwards did not cut it', async () => {
    const upstream = await start({ scripts: ['d@0"x" f@0'] });
    await post(upstream);
    expect(upstream.requests).toMatchObject([{ finished: true, closedByClientMs: null }]);
  });

  test('body, script and headers are there; the key can be read but is not printed', async () => {
    const arrived: unknown[] = [];
    const upstream = await start({ scripts: ['f@0'], onRequest: ({ body, finished }) => arrived.push({ body, finished }) });
    await post(upstream, { stream: true, messages: [], model: 'any' });
    expect(arrived).toEqual([{ body: { stream: true, messages: [], model: 'any' }, finished: false }]);
    const [request] = upstream.requests;
    expect(request).toMatchObject({ script: 'f@0', headers: { 'content-type': 'application/json' } });
    expect(request?.headers.authorization).toBe('Bearer sk-secret');
    expect(JSON.stringify(request)).not.toContain('sk-secret');
  });
});

describe('order of scripts', () => {
  const scripts = ['f@0 u@0(1,0)', 'f@0 u@0(2,0)', 'f@0 u@0(3,0)'];
  const played = async (options: Partial<UpstreamOptions>, count = 5): Promise<string[]> => {
    const upstream = await start({ scripts, ...options });
    for (let n = 0; n < count; n += 1) await post(upstream);
    return upstream.requests.map(({ script }) => script.slice(8, 9)).map((n, at) => (upstream.requests[at]?.finished ? n : '?'));
  };

  test('the last one repeats', async () => {
    expect(await played({})).toEqual(['1', '2', '3', '3', '3']);
  });

  test('cycle begins again', async () => {
    expect(await played({ order: 'cycle' })).toEqual(['1', '2', '3', '1', '2']);
  });

  test('random takes any, by the given numbers', async () => {
    const numbers = [0.99, 0, 0.5, 1, 0.34];
    expect(await played({ order: 'random', random: () => numbers.shift() ?? 0 })).toEqual(['3', '1', '2', '3', '2']);
  });

  test('a function makes one for each request', async () => {
    expect(await played({ scripts: (n) => `f@0 u@0(${n + 4},0)` }, 2)).toEqual(['4', '5']);
  });

  test('a random timeline can be played', async () => {
    const upstream = await start({ scripts: () => randomTimeline({ random: mulberry32(1), increments: 5, firstMs: 5, gapMs: 1, stallShare: 0 }) });
    const exchange = await post(upstream);
    expect(framesOf(exchange)).toHaveLength(1 + 5 + 3);
    expect(exchange.body.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('stream: false', () => {
  test('the answer comes whole at the finish time', async () => {
    const exchange = await play('d@0.02"Hel" r@0.03"hm" d@0.05"lo" f(length)@0.15 u@0.15(3,4) hang', {});
    expect(exchange.endedMs).toBeGreaterThanOrEqual(150);
    expect(exchange).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(exchange.body)).toMatchObject({
      object: 'chat.completion',
      model: 'sim',
      choices: [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'Hello', reasoning_content: 'hm' } }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
  });

  test('tool calls are joined, and content is null beside them', async () => {
    const { body } = await play('g(one)@0"{" g@0"}" g(two)@0"[]" f(tool_calls)@0', { stream: false });
    const answer = JSON.parse(body) as { choices: { message: object }[]; usage?: object };
    expect(answer.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [
        { type: 'function', function: { name: 'one', arguments: '{}' } },
        { type: 'function', function: { name: 'two', arguments: '[]' } },
      ],
    });
    expect(answer.usage).toBeUndefined();
  });

  test.each([
    ['err@0(overloaded,"busy")', 500, '"code":"overloaded"'],
    ['429@0(ra=1)', 429, 'rate_limit_exceeded'],
    ['bad@0', 200, '{"cho'],
    ['d@0"x" D@0', 200, '"finish_reason":null'],
  ])('%s', async (script, status, part) => {
    const exchange = await play(script, { stream: false });
    expect(exchange).toMatchObject({ status, ended: 'end' });
    expect(exchange.body).toContain(part);
  });

  test.each(['d@0"x" rst@0.02', 'd@0"x" eof@0.02'])('%s cuts the connection without an answer', async (script) => {
    expect(await play(script, { stream: false })).toMatchObject({ status: 0, ended: 'ECONNRESET' });
  });
});

describe('server', () => {
  test('any prefix will do; other paths and methods are 404, broken bodies 400, and use up no script', async () => {
    const upstream = await start({ scripts: ['f@0', 'hang'] });
    const { port } = upstream;
    expect(await send({ method: 'GET', port, path: '/v1/chat/completions' })).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } });
    expect((await post(upstream, {}, { path: '/v1/embeddings' })).body).toContain('there is no POST /v1/embeddings here');
    expect(await post(upstream, {}, { path: '//' })).toMatchObject({ status: 404 });
    expect(await post(upstream, '{"stream"')).toMatchObject({ status: 400 });
    expect(await post(upstream, '[]')).toMatchObject({ status: 400 });
    expect(upstream.requests).toHaveLength(0);
    expect(await post(upstream, { stream: true }, { path: '/openai/deployments/x/chat/completions?api-version=1' })).toMatchObject({ status: 200, ended: 'end' });
  });

  test('lists its model', async () => {
    const upstream = await start({ scripts: ['hang'], model: 'mine' });
    const { status, body } = await send({ method: 'GET', port: upstream.port, path: '/v1/models' });
    expect([status, JSON.parse(body)]).toMatchObject([200, { object: 'list', data: [{ id: 'mine', object: 'model' }] }]);
    expect(upstream.url).toBe(`http://127.0.0.1:${upstream.port}/v1`);
  });

  test('close cuts hanging requests, frees the port, and may be called twice', async () => {
    let ended = 0;
    const upstream = await start({ scripts: ['d@0"x" hang', 'hang', 'd@0..5/0.01'], onEnd: () => (ended += 1) });
    const open = [post(upstream), post(upstream), post(upstream)];
    await seen(upstream, 3);
    await Promise.all([upstream.close(), upstream.close()]);
    expect(ended).toBe(3);
    for (const { ended } of await Promise.all(open)) expect(ended).toBe('ECONNRESET');
    expect(upstream.requests.map(({ closedByClientMs, finished }) => [closedByClientMs, finished])).toEqual([[null, false], [null, false], [null, false]]);
    expect((await post(upstream)).ended).toBe('ECONNREFUSED');
    const again = await start({ scripts: ['f@0'], port: upstream.port });
    expect(await post(again)).toMatchObject({ status: 200, ended: 'end' });
  });

  test('a port that is taken, a script that cannot be played and an empty list are refused at the start', async () => {
    const { port } = await start({ scripts: ['hang'] });
    await expect(startUpstream({ scripts: ['hang'], port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await expect(startUpstream({ scripts: ['f@0', 'd@x'] })).rejects.toMatchObject({ code: 'timeline', column: 3 });
    await expect(startUpstream({ scripts: [] })).rejects.toMatchObject({ code: 'timeline' });
  });
});
