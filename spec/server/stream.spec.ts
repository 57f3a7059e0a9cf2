import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OpenAI } from 'openai';
import { map } from 'rxjs';
import { z } from 'zod';
import type { Gateway } from '../../lib/index.js';
import { ask, atRest, begin, chat, closeAfterTest, closeAll, eventsOf, frontDoorTo, until, upstream } from './frontDoorScene.js';
import { gatewayTo } from '../gateway/scene.js';
import { startJsonServer } from '../support/jsonServer.js';

afterEach(closeAll);

const chunk = z.strictObject({
  id: z.string().regex(/^chatcmpl-./),
  object: z.literal('chat.completion.chunk'),
  created: z.number().int().min(1_700_000_000),
  model: z.string(),
  choices: z.array(z.strictObject({ index: z.literal(0), delta: z.record(z.string(), z.unknown()), logprobs: z.null(), finish_reason: z.string().nullable() })).max(1),
  usage: z.record(z.string(), z.unknown()).nullish(),
});

/** What the chunks of a whole stream bring, and its end. */
function chunksOf(text: string): { deltas: unknown[]; finish: unknown[]; usage: unknown[]; models: unknown[] } {
  const events = eventsOf(text).filter((event) => event !== ': keepalive');
  expect(events.at(-1)).toBe('data: [DONE]');
  const chunks = events.slice(0, -1).map((event) => chunk.parse(event));
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  return {
    deltas: chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta)),
    finish: chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason)),
    usage: chunks.map(({ usage }) => usage),
    models: [...new Set(chunks.map(({ model }) => model))],
  };
}

const postOf = (body: string, version = '1.1'): string =>
  `POST /v1/chat/completions HTTP/${version}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const streamed = (fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => chat({ stream: true, ...fields });
const buffered = { 'x-polygateway-delivery': 'buffered' };
const slow = 'open@0.01 d@0.02"Hel" d@0.3"lo" f@0.32 u(10,8)';

/** Waits until a figure has not grown for a while. */
async function stopped(figure: () => number): Promise<void> {
  for (let before = -1; before !== figure();) {
    before = figure();
    await sleep(150);
  }
}

describe('the front door: streams as they come', () => {
  test('H12: the head comes with the first increment, then each delta in its turn, then finish, tokens and end', async () => {
    const up = await upstream(['open@0.01 d@0.15"Hel" d@0.3"lo" f@0.32 u(10,8)'], { model: 'real' });
    const { url, finished } = await frontDoorTo([up.url]);
    const asking = begin(url, { body: streamed({ stream_options: { include_usage: true } }) });
    await until(() => up.requests.length === 1, 'it is asked');
    expect(asking.hasHead()).toBe(false);
    await until(asking.hasHead, 'the head');
    await until(() => asking.text() !== '', 'the first delta');
    expect(eventsOf(asking.text())).toMatchObject([{ model: 'real', choices: [{ delta: { role: 'assistant', content: 'Hel' } }] }]);

    const { status, headers, trailers, text } = await asking.answer;
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no', 'x-polygateway-source': 'a/1', 'x-polygateway-attempts': '1', 'x-polygateway-hedges': '0', trailer: 'x-polygateway-stall-ms' },
    });
    expect(trailers).toEqual({ 'x-polygateway-stall-ms': '0' });
    expect(chunksOf(text)).toEqual({
      deltas: [{ role: 'assistant', content: 'Hel' }, { content: 'lo' }, {}],
      finish: [null, null, 'stop'],
      usage: [null, null, null, { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 }],
      models: ['real'],
    });
    await until(() => finished.length === 1, 'it was told');
    expect(finished).toMatchObject([{ status: 200, ended: 'ok', source: 'a/1', attempts: 1, hedges: 0, callId: headers['x-polygateway-call-id'] }]);
  });

  test('tokens that were not asked for are not told, reasoning and tool calls come in their fields', async () => {
    const up = await upstream(['open@0.01 r@0.02"hm" g(look)@0.03"{\\"a\\":" g@0.04"1}" f(stop)@0.06 u(1,2)']);
    const { url } = await frontDoorTo([up.url]);
    const { deltas, finish, usage } = chunksOf((await ask(url, { body: streamed() })).text);
    expect(deltas).toEqual([
      { role: 'assistant', reasoning_content: 'hm' },
      { tool_calls: [{ index: 0, id: expect.any(String), type: 'function', function: { name: 'look', arguments: '{"a":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
      {},
    ]);
    expect(finish.at(-1)).toBe('tool_calls');
    expect(usage.every((tokens) => tokens === undefined)).toBe(true);
  });

  test('a frame that brings several things is one chunk, a call without an id gets one, and a name is told once', async () => {
    const frames = [
      { content: 'a', reasoning_content: 'b', tool_calls: [{ index: 0, type: 'function', function: { name: 'look', arguments: '{' } }] },
      { tool_calls: [{ index: 0, function: { name: 'look', arguments: '}' }, extra_content: { sign: 's' } }] },
    ];
    const source = await startJsonServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of frames) response.write(`data: ${JSON.stringify({ model: 'late', choices: [{ index: 0, delta }] })}\n\n`);
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n');
    });
    closeAfterTest(() => source.close());
    const { url } = await frontDoorTo([source.origin]);
    const { headers, text } = await ask(url, { body: streamed() });
    expect(chunksOf(text)).toMatchObject({
      models: ['late'],
      deltas: [
        { role: 'assistant', content: 'a', reasoning_content: 'b', tool_calls: [{ index: 0, id: `call_${headers['x-polygateway-call-id'] as string}_0`, type: 'function', function: { name: 'look', arguments: '{' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '}' }, extra_content: { sign: 's' } }] },
        {},
      ],
    });
    expect(text).not.toMatch(/"name":"look".*"name":"look"/s);
  });

  test('an error before the first increment has its own status; one after it is an event, and neither finish nor end mark follow', async () => {
    const down = await frontDoorTo([(await upstream(['500@0.01'])).url], { gateway: { maxAttempts: 1 } });
    const before = await ask(down.url, { body: streamed() });
    expect(before).toMatchObject({ status: 503, headers: { 'x-polygateway-source': 'a/1', 'x-polygateway-attempts': '1', 'x-polygateway-call-id': expect.any(String) } });
    expect(JSON.parse(before.text)).toMatchObject({ error: { code: 'all_sources_exhausted' } });

    const cut = await frontDoorTo([(await upstream(['open@0.01 d@0.02"Hel" rst@0.1'])).url]);
    const after = await ask(cut.url, { body: streamed() });
    const [first, error, ...more] = eventsOf(after.text);
    expect([after.status, first, error, more]).toMatchObject([200, { choices: [{ delta: { content: 'Hel' }, finish_reason: null }] }, { error: { type: 'server_error', code: 'stream_interrupted', param: null, message: expect.any(String) } }, []]);
    await until(() => cut.finished.length === 1, 'it was told');
    expect(cut.finished).toMatchObject([{ status: 200, ended: 'failed', code: 'stream_interrupted', source: 'a/1' }]);

    const official = new OpenAI({ baseURL: `${cut.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const read = async (): Promise<void> => {
      const stream = await official.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true });
      for await (const piece of stream) expect(piece.choices[0]?.finish_reason).toBeNull();
    };
    await expect(read()).rejects.toMatchObject({ code: 'stream_interrupted' });
  });

  test('where there is nothing to say a comment goes out, with the head; then an error is an event, and the facts stand behind the body', async () => {
    const patient = await frontDoorTo([(await upstream(['open@0.01 d@0.35"x" f@0.4'])).url], { door: { keepaliveS: 0.1 } });
    const { headers, trailers, text } = await ask(patient.url, { body: streamed() });
    expect(eventsOf(text).slice(0, 2)).toEqual([': keepalive', ': keepalive']);
    expect(chunksOf(text).deltas).toEqual([{ role: 'assistant', content: 'x' }, {}]);
    expect(headers).not.toHaveProperty('x-polygateway-source');
    expect(trailers).toMatchObject({ 'x-polygateway-source': 'a/1', 'x-polygateway-attempts': '1', 'x-polygateway-call-id': expect.any(String) });

    const failing = await frontDoorTo([(await upstream(['500@0.2'])).url], { door: { keepaliveS: 0.1 }, gateway: { maxAttempts: 1 } });
    const answer = await ask(failing.url, { body: streamed() });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer.text)[0]).toBe(': keepalive');
    expect(eventsOf(answer.text).filter((event) => event !== ': keepalive')).toMatchObject([{ error: { code: 'all_sources_exhausted' } }]);
  });

  test.each([
    ['before the first increment', 'open@0.01 hang', ''],
    ['in the middle', 'open@0.01 d@0.02"x" hang', 'x'],
  ])('a client that leaves %s has everything closed at once', async (_, script, seen) => {
    const up = await upstream([script]);
    const scene = await frontDoorTo([up.url]);
    const asking = begin(scene.url, { body: streamed() });
    await until(() => up.requests.length === 1 && asking.text().includes(seen), 'it has come so far');
    const leftMs = performance.now();
    asking.request.destroy();
    await until(() => up.requests[0]!.closedByClientMs !== null, 'the upstream is closed');
    expect(up.requests[0]!.closedByClientMs! - leftMs).toBeLessThan(500);
    await atRest(scene);
    expect(scene.finished).toMatchObject([{ ended: 'client-gone', status: seen === '' ? null : 200 }]);
    expect(scene.rows).toMatchObject([{ error_class: 'caller_cancelled' }]);
  });

  test.each([
    ['is cut off in the end', 0.5, 'slow_reader'],
    ['has everything closed when it leaves', 60, undefined],
  ])('a client that does not read stops the source, and %s', async (_, slowClientS, code) => {
    let offered = 0;
    const source = await startJsonServer((response) => {
      const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) } }] })}\n\n`;
      const pour = (): void => {
        while (offered < 200e6 && !response.destroyed) {
          offered += frame.length;
          if (!response.write(frame)) return void response.once('drain', pour);
        }
      };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      pour();
    });
    closeAfterTest(() => source.close());
    const scene = await frontDoorTo([source.origin], { door: { slowClientS } });
    const asking = begin(scene.url, { body: streamed() });
    await until(asking.hasHead, 'the head');
    asking.pause();
    if (code === undefined) {
      await stopped(() => offered);
      asking.request.destroy();
    }
    await until(() => scene.finished.length === 1, 'it was cut off');
    expect(scene.finished).toMatchObject([{ ended: code === undefined ? 'client-gone' : 'failed', status: 200 }]);
    expect(scene.finished[0]!.code).toBe(code);
    expect(offered).toBeLessThan(25e6);
    await atRest(scene);
    await until(() => source.open.size === 0, 'the source is closed');
  });

  test('a client that stops for a while and then reads gets all of it', async () => {
    const text = 'y'.repeat(200_000);
    const script = ['open@0.01', ...Array.from({ length: 40 }, () => `d@0.02${JSON.stringify(text)}`), 'f@0.03'].join(' ');
    const { url } = await frontDoorTo([(await upstream([script])).url]);
    const asking = begin(url, { body: streamed() });
    await until(asking.hasHead, 'the head');
    asking.pause();
    await sleep(300);
    asking.resume();
    const { deltas } = chunksOf((await asking.answer).text);
    expect((deltas as { content?: string }[]).map(({ content = '' }) => content).join('')).toBe(text.repeat(40));
  });

  test.each<[string, object, Readonly<Record<string, string>>]>([
    ['held back', streamed(), buffered],
    ['whole', chat(), {}],
  ])('an answer that cannot be written, %s, fails alone', async (_, body, headers) => {
    const places = [(await upstream([slow])).url];
    const { gateway } = gatewayTo(places);
    // As one that is longer than texts can be, which would take a gigabyte here.
    const unwritable: Gateway['chat$'] = (request) => gateway.chat$(request).pipe(map((response) => ({ ...response, logprobs: { content: [1n] } })));
    const { url } = await frontDoorTo(places, { door: { chat: { ...gateway, chat$: unwritable } } });
    const { text } = await ask(url, { body, headers });
    expect(text).toContain('internal_error');
    expect(text).not.toMatch(/finish_reason":"|DONE/);
  });

  test('requests sent ahead on one connection are answered in their order, and closed with the first when the client leaves', async () => {
    const up = await upstream([slow, slow, 'open@0.01 d@0.02"x" hang']);
    const scene = await frontDoorTo([up.url]);
    const socket = connect(Number(new URL(scene.url).port), '127.0.0.1').setEncoding('latin1');
    closeAfterTest(() => socket.destroy());
    let text = '';
    socket.on('data', (piece: string) => { text += piece; });
    const askAhead = (...bodies: object[]): void => void socket.write(bodies.map((body) => postOf(JSON.stringify(body))).join(''));
    askAhead(streamed(), chat());
    await until(() => text.includes('"chat.completion"'), 'the second answer');
    expect(text.match(/\[DONE\]|^HTTP.*$|"object":"chat\.completion"/gm)).toEqual(['HTTP/1.1 200 OK', '[DONE]', 'HTTP/1.1 200 OK', '"object":"chat.completion"']);
    askAhead(streamed(), streamed(), chat());
    await until(() => scene.gateway.stats().attempts === 3, 'all are asked');
    socket.destroy();
    await atRest(scene);
    await until(() => scene.finished.length === 5, 'all were told');
    expect(scene.finished.slice(2).map(({ ended }) => ended)).toEqual(Array(3).fill('client-gone'));
    await until(() => up.requests.slice(2).every(({ closedByClientMs }) => closedByClientMs !== null), 'the upstream is closed');
  });

  test('HTTP/1.0, which has no place behind the body, is served all the same', async () => {
    const { url } = await frontDoorTo([(await upstream(['open@0.01 d@0.02"x" f@0.03'])).url]);
    const text = await new Promise<string>((resolve, reject) => {
      let read = '';
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('data', (piece) => { read += piece.toString(); }).on('error', reject).on('close', () => resolve(read));
      socket.write(postOf(JSON.stringify(streamed()), '1.0'));
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*data: \[DONE\]\n\n$/s);
    expect(text).not.toMatch(/trailer/i);
  });
});

describe('the front door: streams held back', () => {
  test('a silence in the middle is hedged, and the answer comes as one stream with all its facts in the head', async () => {
    const silent = await upstream(['open@0.01 d@0.02"lost" hang']);
    const good = await upstream(['open@0.01 r@0.02"hm" g(look)@0.03"{}" d@0.04"fo" d@0.05"und" f@0.06 u(3,4)']);
    const { url } = await frontDoorTo([silent.url, good.url], { gateway: { hedgeStallAfterS: 0.1 } });
    const { status, headers, text } = await ask(url, { body: streamed({ stream_options: { include_usage: true } }), headers: buffered });
    expect({ status, headers }).toMatchObject({ status: 200, headers: { 'x-polygateway-source': 'b/1', 'x-polygateway-attempts': '2', 'x-polygateway-hedges': '1', 'x-polygateway-stall-ms': '0' } });
    expect(headers).not.toHaveProperty('trailer');
    const { deltas, finish, usage } = chunksOf(text);
    const call = { index: 0, id: expect.any(String), type: 'function', function: { name: 'look', arguments: '{}' } };
    expect(deltas).toEqual([{ role: 'assistant', reasoning_content: 'hm' }, { content: 'found' }, { tool_calls: [call] }, {}]);
    expect(finish.at(-1)).toBe('tool_calls');
    expect(usage.at(-1)).toEqual({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
  });

  test('it is the setting that decides, unless the header does; comments keep the client waiting', async () => {
    const { url } = await frontDoorTo([(await upstream([slow])).url], { door: { delivery: 'buffered', keepaliveS: 0.1 } });
    const held = await ask(url, { body: streamed() });
    expect(eventsOf(held.text)[0]).toBe(': keepalive');
    expect(chunksOf(held.text).deltas).toEqual([{ role: 'assistant', content: 'Hello' }, {}]);
    expect(held.trailers).toMatchObject({ 'x-polygateway-stall-ms': '0', 'x-polygateway-source': 'a/1' });
    const passed = await ask(url, { body: streamed(), headers: { 'x-polygateway-delivery': 'commit' } });
    expect(chunksOf(passed.text).deltas).toEqual([{ role: 'assistant', content: 'Hel' }, { content: 'lo' }, {}]);
    const wrong = await ask(url, { body: streamed(), headers: { 'x-polygateway-delivery': 'fast' } });
    expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('x-polygateway-delivery') });
  });

  test('an error has its status, and a client that leaves has everything closed', async () => {
    const refused = await frontDoorTo([(await upstream(['400@0.01'])).url]);
    expect(await ask(refused.url, { body: streamed(), headers: buffered })).toMatchObject({ status: 400 });
    const up = await upstream(['open@0.01 d@0.02"x" hang']);
    const scene = await frontDoorTo([up.url]);
    const asking = begin(scene.url, { body: streamed(), headers: buffered });
    await until(() => scene.gateway.stats().streams[0]?.increments === 1, 'an increment has come');
    expect(asking.hasHead()).toBe(false);
    asking.request.destroy();
    await until(() => up.requests[0]!.closedByClientMs !== null, 'the upstream is closed');
    await atRest(scene);
  });
});
