import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { OpenAI } from 'openai';
import { z } from 'zod';
import { AllSourcesExhausted, GovernanceBackendError, StreamInterrupted } from '../../lib/model/errors.js';
import { ask, chat, closeAll, frontDoorTo, until, upstream } from './frontDoorScene.js';
import type { Answer, AskOptions, FrontDoorScene, SceneOptions } from './frontDoorScene.js';

const shape = z.strictObject({ error: z.strictObject({ message: z.string().min(1), type: z.string().min(1), param: z.null(), code: z.string().min(1) }) });

function errorOf({ status, text }: Answer): { status: number; code: string; message: string; type: string } {
  const { code, message, type } = shape.parse(JSON.parse(text)).error;
  return { status, code, message, type };
}

async function doorTo(scripts: readonly string[], options?: SceneOptions): Promise<FrontDoorScene> {
  const places = await Promise.all(scripts.map(async (script) => (await upstream([script])).url));
  return frontDoorTo(places, { ...options, gateway: { maxAttempts: 1, ...options?.gateway } });
}

describe('the front door: errors of calls', () => {
  afterEach(closeAll);

  test.each<[string, string[], NonNullable<SceneOptions['gateway']>, object]>([
    ['a request that is wrong everywhere has the status of the source', ['422@0.01(bad_thing,"the field x is wrong")'], {}, { status: 422, type: 'invalid_request_error', message: expect.stringContaining('the field x is wrong') }],
    ['one that is too long has the code for it', ['400@0.01(context_length_exceeded,"too long")'], {}, { status: 400, code: 'context_length_exceeded' }],
    ['one that was filtered too', ['400@0.01(content_filter,"not allowed")'], {}, { status: 400, code: 'content_filter' }],
    ['one that is told in the stream has no status of its own', ['open@0.01 err@0.02(context_length_exceeded,"too long")'], {}, { status: 400, code: 'context_length_exceeded' }],
    ['sources that fail are a 503', ['500@0.01'], {}, { status: 503, code: 'all_sources_exhausted', type: 'server_error' }],
    ['sources that refuse our key are no 401', ['401@0.01', '403@0.01'], {}, { status: 502, type: 'server_error' }],
    ['a limit that nobody waits for is a 429', ['429@0.01(ra=7)'], { backpressure: 'fail_fast' }, { status: 429, code: 'rate_limit_exceeded' }],
    ['a deadline is a 504', ['hang'], { callDeadlineS: 0.1 }, { status: 504, code: 'call_deadline' }],
  ])('%s', async (_, scripts, gateway, expected) => {
    for (const stream of [false, true]) {
      const { url, finished } = await doorTo(scripts, { gateway });
      const answer = await ask(url, { body: chat({ stream }) });
      expect(errorOf(answer)).toMatchObject(expected);
      expect(answer.headers).toMatchObject({ 'content-type': expect.stringContaining('application/json'), 'x-polygateway-attempts': String(scripts.length), 'x-polygateway-call-id': expect.any(String) });
      await until(() => finished.length === 1, 'it was told');
      expect(finished[0]).toMatchObject({ ended: 'failed', status: answer.status, code: errorOf(answer).code, attempts: scripts.length });
    }
  });

  test('how long to wait is told in whole seconds, never too short', async () => {
    const { url } = await doorTo(['429@0.01(ra=7)'], { gateway: { backpressure: 'fail_fast' } });
    const { headers } = await ask(url, { body: chat() });
    expect(headers['retry-after']).toBe('7');
    const { url: other } = await doorTo(['hang'], { failWith: new AllSourcesExhausted('x', { reason: 'stalled', retryAfterS: 1.2 }) });
    expect(await ask(other, { body: chat() })).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    const { url: never } = await doorTo(['hang'], { failWith: new AllSourcesExhausted('x', { reason: 'stalled', retryAfterS: Infinity }) });
    expect((await ask(never, { body: chat() })).headers).not.toHaveProperty('retry-after');
  });

  test.each<[string, Error, object]>([
    ['a backend that is away', new GovernanceBackendError('redis is away'), { status: 503, code: 'governance_backend', message: 'redis is away' }],
    ['an answer that broke off', new StreamInterrupted('it broke off'), { status: 502, code: 'stream_interrupted' }],
    ['a key in a message', new AllSourcesExhausted('the key sk-abcdefgh12345678 was refused', { reason: 'no_runnable_source' }), { status: 503, message: 'the key [masked] was refused' }],
    ['what nobody expected', new TypeError('internals'), { status: 500, code: 'internal_error', message: expect.not.stringContaining('internals') }],
  ])('%s', async (_, error, expected) => {
    const { url } = await doorTo(['hang'], { failWith: error });
    expect(errorOf(await ask(url, { body: chat() }))).toMatchObject(expected);
  });

  test('R6: what has been tried again here is not tried again by the official client', async () => {
    const source = await upstream(['503@0.01']);
    const { url } = await frontDoorTo([source.url], { gateway: { maxAttempts: 3 } });
    await expect(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).chat.completions.create({ model: 'any', messages: [{ role: 'user', content: 'x' }] })).rejects.toMatchObject({ status: 503 });
    expect(source.requests).toHaveLength(3);
  });

  test('a gateway that was closed is a 503', async () => {
    const { url, gateway } = await doorTo(['hang']);
    await gateway.close();
    expect(errorOf(await ask(url, { body: chat() }))).toMatchObject({ status: 503, code: 'closed' });
  });
});

describe('the front door: requests that cannot be answered', () => {
  const json = { 'content-type': 'application/json' };
  let door: FrontDoorScene;

  beforeAll(async () => {
    door = await doorTo(['open@0.01 d@0.02"x" f@0.03'], { door: { maxBodyBytes: 4096 } });
  });
  afterAll(closeAll);

  test.each<[string, AskOptions, object]>([
    ['a body that is no JSON', { body: '{"messages":', headers: json }, { status: 400, code: 'invalid_json' }],
    ['an empty body', { headers: json }, { status: 400, code: 'invalid_json' }],
    ['no body', {}, { status: 400, message: expect.stringContaining('the body') }],
    ['a list for a body', { body: [[[]]] }, { status: 400, message: expect.stringContaining('the body') }],
    ['a poisoned key', { body: '{"__proto__":{"x":1},"messages":[]}', headers: json }, { status: 400, code: 'invalid_json' }],
    ['a poisoned key further in', { body: '{"messages":[{"role":"user","content":"x","constructor":{"prototype":{}}}]}', headers: json }, { status: 400, code: 'invalid_json' }],
    ['another type', { body: 'hello', headers: { 'content-type': 'text/plain' } }, { status: 415, code: 'unsupported_media_type', message: expect.stringContaining('application/json') }],
    ['a body that is too large', { body: chat({ pad: 'x'.repeat(5000) }) }, { status: 413, code: 'request_too_large' }],
    ['a path that there is not', { method: 'GET', path: '/v2/chat?key=secret' }, { status: 404, message: expect.stringMatching(/^there is no \/v2\/chat here; .*POST \/v1\/chat\/completions.*GET \/v1\/models/) }],
    ['a path that cannot be read', { method: 'GET', path: '/v1/%' }, { status: 400, code: 'invalid_url' }],
    ['a model that there is not', { method: 'GET', path: '/v1/models/other' }, { status: 404, code: 'model_not_found' }],
    ['embeddings without sources', { path: '/v1/embeddings', body: { input: 'x' } }, { status: 404, message: expect.stringContaining('EMBEDDING__') }],
    ['several answers at once', { body: chat({ n: 2 }) }, { status: 400, message: expect.stringContaining('n is 2') }],
  ])('%s', async (_, options, expected) => {
    expect(errorOf(await ask(door.url, options))).toMatchObject(expected);
  });

  test.each([
    ['messages', 'text'],
    ['messages', []],
    ['messages', [[]]],
    ['messages.0.role', [{ role: 1 }]],
    ['messages.0', [null]],
    ['model', 5],
    ['model', ['m']],
    ['stream', 'yes'],
    ['stream_options', 'all'],
    ['stream_options.include_usage', { include_usage: 1 }],
    ['n', 'two'],
    ['temperature', {}],
    ['max_tokens', -1],
    ['tools', [1]],
  ])('a wrong %s is named: %j', async (field, value) => {
    const answer = errorOf(await ask(door.url, { body: chat({ [field.split('.')[0]!]: value }) }));
    expect(answer).toMatchObject({ status: 400, type: 'invalid_request_error', message: expect.stringContaining(field) });
  });

  test('a wrong method says which are right', async () => {
    for (const [method, path, allow] of [['GET', '/v1/chat/completions', 'POST'], ['DELETE', '/v1/models', 'HEAD, GET'], ['OPTIONS', '/v1/models/m', 'HEAD, GET']] as const) {
      const answer = await ask(door.url, { method, path });
      expect(errorOf(answer)).toMatchObject({ status: 405, code: 'method_not_allowed' });
      expect(answer.headers.allow!.split(', ').sort()).toEqual(allow.split(', ').sort());
    }
    await until(() => door.finished.some(({ method }) => method === 'OPTIONS'), 'it was told');
    expect(door.finished.at(-1)).toMatchObject({ method: 'OPTIONS', path: '/v1/models/m', status: 405, ended: 'failed', code: 'method_not_allowed' });
  });

  test('what is refused asks no source', () => {
    expect(door.rows).toEqual([]);
  });
});
