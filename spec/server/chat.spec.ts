import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startJsonServer } from '../support/jsonServer.js';
import { ask, atRest, begin, chat, closeAfterTest, closeAll, eventsOf, frontDoorTo, until, upstream } from './frontDoorScene.js';

afterEach(closeAll);

const usage = z.strictObject({ prompt_tokens: z.literal(10), completion_tokens: z.literal(8), total_tokens: z.literal(18) });

const completion = z.strictObject({
  id: z.string().regex(/^chatcmpl-./),
  object: z.literal('chat.completion'),
  created: z.number().int().min(1_700_000_000),
  model: z.string(),
  choices: z.tuple([
    z.strictObject({
      index: z.literal(0),
      message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable(), refusal: z.null() }),
      logprobs: z.null(),
      finish_reason: z.string(),
    }),
  ]),
  usage: usage.optional(),
});

const whole = (text: string): z.infer<typeof completion> => completion.parse(JSON.parse(text));

describe('the front door: whole answers', () => {
  test('an answer has the shape of OpenAI, the model that gave it, and its facts as headers', async () => {
    const up = await upstream(['open@0.01 r@0.02"hm" d@0.03"Hello" d@0.04" world" f@0.05 u(10,8)'], { model: 'real' });
    const { url, finished, rows } = await frontDoorTo([up.url]);
    const { status, headers, text } = await ask(url, { body: chat({ stream: false }) });
    const { id, model, choices: [choice], usage: tokens } = whole(text);
    expect({ status, model, choice, tokens }).toMatchObject({
      status: 200,
      model: 'real',
      choice: { message: { content: 'Hello world', reasoning_content: 'hm' }, finish_reason: 'stop' },
      tokens: { total_tokens: 18 },
    });
    expect(headers).toMatchObject({ 'x-polygateway-source': 'a/1', 'x-polygateway-attempts': '1', 'x-polygateway-hedges': '0', 'x-polygateway-stall-ms': '0', 'x-polygateway-call-id': id.slice(9) });
    expect(up.requests[0]!.body).toMatchObject({ model: 'm', stream: true, stream_options: { include_usage: true } });
    await until(() => finished.length > 0, 'it was told');
    expect(finished).toEqual([{ method: 'POST', path: '/v1/chat/completions', status: 200, ended: 'ok', ms: expect.any(Number), callId: id.slice(9), source: 'a/1', attempts: 1, hedges: 0, stallMs: 0 }]);
    expect(rows).toHaveLength(1);
  });

  test('tool calls stand in the message, and tokens and stall that are not known are left out', async () => {
    const up = await upstream(['open@0.01 g(look)@0.02"{\\"a\\":" g@0.03"1}" g(see)@0.04"{}" f(tool_calls)@0.05']);
    const { url } = await frontDoorTo([up.url]);
    const answer = whole((await ask(url, { body: chat() })).text);
    const { message, finish_reason: reason } = answer.choices[0];
    expect({ ...message, reason }).toMatchObject({
      content: null,
      reason: 'tool_calls',
      tool_calls: [{ id: expect.any(String), type: 'function', function: { name: 'look', arguments: '{"a":1}' } }, { type: 'function', function: { name: 'see', arguments: '{}' } }],
    });
    expect(answer).not.toHaveProperty('usage');
    const short = await frontDoorTo([(await upstream(['open@0.01 d@0.02"one" f@0.03'])).url]);
    expect((await ask(short.url, { body: chat() })).headers).not.toHaveProperty('x-polygateway-stall-ms');
  });

  test('an end without a finish reason is told as unknown, never as a stop', async () => {
    const { url } = await frontDoorTo([(await upstream(['open@0.01 d@0.02"x" D@0.03'])).url]);
    expect(whole((await ask(url, { body: chat() })).text).choices[0].finish_reason).toBe('unknown');
    const streamed = await ask(url, { body: chat({ stream: true }) });
    expect(eventsOf(streamed.text).at(-2)).toMatchObject({ choices: [{ finish_reason: 'unknown' }] });
  });

  test('a silence in the middle of an answer is hedged although the client asked for no stream', async () => {
    const silent = await upstream(['open@0.01 d@0.02"lost" hang']);
    const good = await upstream(['open@0.01 d@0.02"found" f@0.03']);
    const { url } = await frontDoorTo([silent.url, good.url], { gateway: { hedgeStallAfterS: 0.1 } });
    const { headers, text } = await ask(url, { body: chat() });
    expect(whole(text).choices[0].message.content).toBe('found');
    expect(headers).toMatchObject({ 'x-polygateway-source': 'b/1', 'x-polygateway-attempts': '2', 'x-polygateway-hedges': '1' });
    await until(() => silent.requests[0]!.closedByClientMs !== null, 'the silent one is closed');
  });

  test('fields that are not known travel on, null and absent ones mean the usual, and tags are no way to fail', async () => {
    const up = await upstream(['open@0.01 d@0.02"x" f@0.03']);
    const { url, rows } = await frontDoorTo([up.url]);
    const travelled = { user: 'u', metadata: { a: 'b' }, store: true, made_up: [1, { x: null }], temperature: 0.5 };
    const fields = { ...travelled, stream: null, stream_options: null };
    for (const tags of [{ job: 'j' }, 'text', [1], { n: 1 }, null]) expect((await ask(url, { body: chat({ ...fields, tags }) })).status).toBe(200);
    expect(up.requests.map(({ body }) => body)).toEqual(Array(5).fill(expect.objectContaining({ ...travelled, model: 'm' })));
    expect(up.requests.every(({ body }) => !('tags' in body))).toBe(true);
    expect(rows.map(({ tags }) => tags)).toEqual(['{"job":"j"}', null, null, null, null]);
  });

  test('a client that leaves a whole answer ends its call at once, also while it waits for a place', async () => {
    const up = await upstream(['open@0.01 d@0.02"x" hang']);
    const scene = await frontDoorTo([{ baseUrl: up.url, maxConcurrency: 1 }]);
    const { url, gateway, finished } = scene;
    const first = begin(url, { body: chat() });
    await until(() => up.requests.length === 1, 'the first is asked');
    const second = begin(url, { body: chat() });
    await until(() => gateway.stats().waiters === 1, 'the second waits');
    second.request.destroy();
    await until(() => gateway.stats().waiters === 0, 'the waiter is gone');
    const leftMs = performance.now();
    first.request.destroy();
    await until(() => up.requests[0]!.closedByClientMs !== null, 'the upstream is closed');
    expect(up.requests[0]!.closedByClientMs! - leftMs).toBeLessThan(500);
    await atRest(scene);
    await until(() => finished.length === 2, 'both were told');
    expect(finished.map(({ ended, status, code }) => ({ ended, status, code }))).toEqual(Array(2).fill({ ended: 'client-gone', status: null, code: undefined }));
    expect(up.requests).toHaveLength(1);
  });

  test('a client that does not read its whole answer is cut off in the end', async () => {
    const message = { role: 'assistant', content: 'x'.repeat(20e6) };
    const source = await startJsonServer((response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })));
    closeAfterTest(() => source.close());
    const { url, finished } = await frontDoorTo([source.origin], { door: { slowClientS: 0.2 } });
    const asking = begin(url, { body: chat() });
    await until(asking.hasHead, 'the head');
    asking.pause();
    await until(() => finished.length === 1, 'it was cut off');
    expect(finished).toMatchObject([{ status: 200, ended: 'failed', code: 'slow_reader', source: 'a/1' }]);
  });

  test('the models are listed, each once, and found by their names', async () => {
    const { url } = await frontDoorTo([(await upstream(['hang'])).url], { door: { models: ['m', 'org/large', 'm'] } });
    const list = JSON.parse((await ask(url, { method: 'GET', path: '/v1/models' })).text) as unknown;
    expect(list).toEqual({ object: 'list', data: ['m', 'org/large'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'polygateway' })) });
    for (const path of ['/v1/models/org/large', '/v1/models/org%2Flarge']) {
      expect(JSON.parse((await ask(url, { method: 'GET', path })).text)).toMatchObject({ id: 'org/large', object: 'model' });
    }
    expect(await ask(url, { method: 'HEAD', path: '/v1/models' })).toMatchObject({ status: 200, text: '' });
  });
});
