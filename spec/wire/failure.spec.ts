import { describe, expect, test } from '@jest/globals';
import { parseRequest } from '../../lib/model/request.js';
import { chatRequestBody } from '../../lib/wire/chatRequestBody.js';
import { failure } from '../../lib/wire/failure.js';
import { retryAfterS } from '../../lib/wire/retryAfter.js';

const noon = Date.parse('2026-03-01T12:00:00Z');
const httpDate = (offsetS: number): string => new Date(noon + offsetS * 1000).toUTCString();

function fail(status: number, body: unknown, headers: Record<string, string> = {}, secrets: string[] = []): ReturnType<typeof failure> {
  return failure({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body), receivedAtMs: noon, secrets });
}

const error = (fields: object): object => ({ error: fields });

describe('Retry-After (BO-02)', () => {
  test.each<[string, number | undefined]>([
    ['5', 5], ['0', 0], ['1.5', 1.5], [' 7 ', 7], ['9e9', 9e9],
    ['-1', undefined], ['soon', undefined], ['', undefined], ['5, 10', undefined], ['NaN', undefined], ['Infinity', undefined], ['0x10', undefined],
    [httpDate(8), 8], [httpDate(-60), 0], ['Sunday, 01-Mar-26 12:00:09 GMT', 9], ['Sun Mar  1 12:00:10 2026', 10], ['2026-03-01T12:00:11Z', 11],
    ['Sun, 99 Foo 2026 12:00:00 GMT', undefined],
  ])('%j is %p seconds', (value, seconds) => {
    expect(retryAfterS({ 'retry-after': value }, { receivedAtMs: noon, rateLimited: true })).toBe(seconds);
  });

  test('a date is measured against the response\'s own date, not against a clock that is fast', () => {
    expect(retryAfterS({ 'retry-after': httpDate(8), date: httpDate(0) }, { receivedAtMs: noon + 60_000, rateLimited: true })).toBe(8);
    expect(retryAfterS({ 'retry-after': httpDate(8), date: 'today' }, { receivedAtMs: noon, rateLimited: true })).toBe(8);
  });

  test('the finer header goes before the coarser', () => {
    expect(retryAfterS({ 'retry-after-ms': '1250', 'retry-after': '2' }, { receivedAtMs: noon, rateLimited: false })).toBe(1.25);
    expect(retryAfterS({ 'retry-after-ms': 'x', 'retry-after': '2' }, { receivedAtMs: noon, rateLimited: false })).toBe(2);
  });

  test.each<[string, number]>([
    ['120ms', 0.12], ['1m12.5s', 72.5], ['6m0s', 360], ['2h', 7200], ['30', 30], ['1.5', 1.5],
    [String(noon / 1000 + 20), 20], [String(noon + 21_000), 21], [new Date(noon + 22_000).toISOString(), 22],
  ])('a spent budget that resets in %j is %p seconds', (value, seconds) => {
    expect(retryAfterS({ 'x-ratelimit-reset-tokens': value }, { receivedAtMs: noon, rateLimited: true })).toBeCloseTo(seconds, 6);
  });

  test('a reset that cannot be read is no wait', () => {
    expect(retryAfterS({ 'x-ratelimit-reset-tokens': 'later' }, { receivedAtMs: noon, rateLimited: true })).toBeUndefined();
  });

  test('only spent budgets count, only for a rate limit, and the latest of them', () => {
    const headers = {
      'x-ratelimit-remaining-requests': '9', 'x-ratelimit-reset-requests': '1h',
      'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '3s',
      'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2',
    };
    expect(retryAfterS(headers, { receivedAtMs: noon, rateLimited: true })).toBe(3);
    expect(retryAfterS(headers, { receivedAtMs: noon, rateLimited: false })).toBeUndefined();
  });

  test('a relay may quote the headers of its upstream', () => {
    expect(fail(429, error({ message: 'm', metadata: { headers: { 'X-RateLimit-Reset': String(noon + 30_000) } } })).retryAfterS).toBe(30);
  });
});

describe('the class of a failure (R1)', () => {
  test.each([
    [301, 'source'], [401, 'source'], [402, 'source'], [403, 'source'], [404, 'source'], [405, 'source'], [407, 'source'],
    [408, 'transient'], [409, 'transient'], [425, 'transient'], [500, 'transient'], [503, 'transient'], [529, 'transient'], [599, 'transient'],
    [429, 'rate_limited'], [400, 'request'], [413, 'request'], [422, 'request'], [418, 'request'],
  ])('status %i alone is %s', (status, code) => {
    expect(fail(status, '')).toMatchObject({ code, httpStatus: status });
    expect(fail(status, '<html>')).toMatchObject({ code });
  });

  test.each([
    [429, { code: 'insufficient_quota' }, 'source'],
    [429, { type: 'exceeded_current_quota_error' }, 'source'],
    [403, { code: 'AccountOverdueError' }, 'source'],
    [429, { code: '1310' }, 'source'],
    [429, { code: 'engine_overloaded_error' }, 'transient'],
    [400, { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }, 'source'],
    [400, { code: 'DeploymentNotFound' }, 'source'],
    [400, { message: 'The model `x` does not exist' }, 'source'],
    [400, { code: 'ThrottlingException' }, 'rate_limited'],
    [413, { code: 'rate_limit_exceeded' }, 'request'],
    [403, { code: 'content_policy_violation' }, 'request'],
    [400, { code: 'data_inspection_failed' }, 'request'],
    [500, { type: 'exceed_context_size_error' }, 'request'],
    [500, { message: 'insufficient balance (1008)' }, 'source'],
    [400, { message: 'insufficient balance between the two columns' }, 'request'],
    [200, { code: 429 }, 'rate_limited'],
    [200, { code: '503' }, 'transient'],
    [200, { code: 401 }, 'source'],
    [200, { message: 'boom' }, 'transient'],
    [200, { message: 'maximum context length is 8192 tokens' }, 'request'],
    [200, { message: 'Error: {\'code\': \'content_filter\'}' }, 'request'],
    [200, { message: 'Error: {\'code\': \'rate_limit_exceeded\'}' }, 'transient'],
    [400, { code: 400, message: 'acme/none is not a valid model ID' }, 'source'],
    [400, { code: '1211', message: 'no such thing' }, 'source'],
    [400, { message: 'Unknown Model, please check the model code.' }, 'source'],
    [400, { code: '400', type: 'None', message: '{\'error\': \'/chat/completions: Invalid model name passed in model=none. Call `/v1/models` to view available models for your key.\'}' }, 'source'],
    [400, { message: 'the message is not valid for this model' }, 'request'],
    [429, { message: 'Your team has either used all available credits or reached its monthly spending limit.' }, 'source'],
    [429, { status: 'RESOURCE_EXHAUSTED', message: 'the spending limit of this key is reached' }, 'source'],
    [429, { status: 'RESOURCE_EXHAUSTED', message: 'too fast' }, 'rate_limited'],
    [200, { type: 'invalid_request_error', message: 'bad tool' }, 'request'],
    [200, { type: 'invalid_request_error', message: 'The model `x` does not exist' }, 'source'],
    [200, { type: 'permission_error', message: 'm' }, 'source'],
    [200, { type: 'not_found_error', message: 'm' }, 'source'],
    [200, { type: 'authentication_error', message: 'm' }, 'source'],
    [200, { type: 'api_error', message: 'm' }, 'transient'],
    [500, { type: 'invalid_request_error', message: 'm' }, 'transient'],
  ])('%i %j is %s', (status, body, code) => {
    expect(fail(status, error(body)).code).toBe(code);
  });

  test('words in a bare text belong to others', () => {
    expect(fail(502, 'a: 429 {"code":"rate_limit_exceeded"} b: insufficient balance').code).toBe('transient');
  });

  test.each([
    [{ error: 'model not found' }, 'model not found'],
    [[{ error: { message: 'in a list' } }], 'in a list'],
    [{ error: { error: { message: 'nested' } } }, 'nested'],
    [{ detail: 'from the framework' }, 'from the framework'],
    [{ detail: [{ loc: ['body', 'stop'], msg: 'bad', input: 'a part of the prompt' }] }, 'body.stop: bad'],
    [{ base_resp: { status_code: 1004, status_msg: 'login' } }, 'login'],
    [{ code: 5, msg: 'short' }, 'short'],
    ['Too Early', 'Too Early'],
    [{ object: 'error', message: { detail: [{ loc: ['body', 'tools'], msg: 'missing', input: { a: 'prompt' } }] }, type: 'invalid_request_message_error' }, 'body.tools: missing'],
    [{ detail: { message: 'from fields' } }, 'from fields'],
    [error({ message: '[{\'type\': \'missing\', \'msg\': \'Field required\', \'input\': {\'messages\': [{\'content\': \'a prompt\'}]}}]' }), 'Field required'],
    [error({ message: '{"msg":"bad", "input" : "a prompt"}' }), 'bad'],
    [error({ message: 'bad: {\\"messages\\": [{\\"content\\": \\"a prompt\\"}]}' }), 'bad'],
    [error({ message: 'bad: {\'role\': \'user\', \'content\': \'a prompt\'}' }), 'bad'],
    [error({ message: 'not a text [type=string_type, input_value={\'x\': \'a prompt\'}, input_type=dict]' }), 'not a text'],
    ['cut off: {"messages":[{"role":"user","content":"a prompt', 'cut off'],
    [error({ message: 'Invalid type for \'messages\': expected a list' }), 'expected a list'],
  ])('%j says %j', (body, words) => {
    expect(fail(400, body).message).toContain(words);
    expect(fail(400, body).message).not.toContain('prompt');
  });
});

describe('what is shown (R7)', () => {
  test.each(['skip_special_tokens', 'key-value-cache', 'keyValueCacheSize', 'skipSpecialTokens2', 'pk_columns_of_table'])('%s is a word, not a key', (word) => {
    expect(fail(400, error({ message: `unknown field ${word}` })).message).toContain(word);
  });

  test('a page is its title, a long text is cut, markup is gone', () => {
    expect(fail(524, `<!DOCTYPE html><html><head><title>x | 524: slow</title></head><body>${'<div>y</div>'.repeat(500)}`).message).toBe('HTTP 524: x | 524: slow');
    expect(fail(500, `<html><body>${'<div>y</div>'.repeat(9)}`).message).toBe('HTTP 500');
    expect(fail(500, error({ message: `<b>${'x '.repeat(5000)}</b>` })).message.length).toBeLessThanOrEqual(500);
    expect(fail(500, error({ message: '<b>bold</b>\n\n\u0007bell' })).message).toBe('HTTP 500: bold bell');
  });

  test.each([
    'sk-test-EXAMPLE0000notreal0000', 'sk-or-v1-EXAMPLE1111notreal1111', 'gsk_EXAMPLE0000notreal0000', 'AIzaEXAMPLE0000notreal0000', 'pplx-EXAMPLE0000notreal0000',
    'ghp_EXAMPLE0000notreal0000', '0f0f0f0f1a1a1a1a2b2b2b2b3c3c3c3c4d4d4d4d5e5e5e5e6f6f6f6f70707070',
  ])('%s is masked wherever it stands', (secret) => {
    for (const text of [`key ${secret} is bad`, `Authorization: Bearer ${secret}`, `{"api_key":"${secret}"}`, `https://x:${secret}@host/`, `api key: ${secret}.`]) {
      expect(fail(401, error({ message: text, code: text })).message).not.toContain(secret);
    }
  });

  test('a known key is masked though it looks like a word', () => {
    expect(fail(401, error({ message: 'no such user: swordfish' }), {}, ['swordfish']).message).not.toContain('swordfish');
  });

  test('a long message of one word does not take long', () => {
    const startMs = performance.now();
    fail(500, error({ message: 'a'.repeat(64_000) }));
    expect(performance.now() - startMs).toBeLessThan(500);
  });

  test('the request id is told, from a header or else from the body; waits only where waiting may help', () => {
    expect(fail(500, '', { 'x-request-id': 'h', 'cf-ray': 'r' }).providerRequestId).toBe('h');
    expect(fail(500, { ...error({ message: 'm' }), request_id: 'b' }).providerRequestId).toBe('b');
    expect(fail(503, '', { 'retry-after': '30' }).retryAfterS).toBe(30);
    expect(fail(401, '', { 'retry-after': '30' }).retryAfterS).toBeUndefined();
    expect(fail(429, '', { 'retry-after': 'soon' }).retryAfterS).toBeUndefined();
    const delayed = { code: 429, details: [{ retryDelay: '17.25s' }] };
    expect(fail(429, error(delayed)).retryAfterS).toBe(17.25);
  });
});

describe('the body of a request', () => {
  const body = (request: object, extraBody?: Record<string, unknown>): unknown =>
    JSON.parse(chatRequestBody(parseRequest({ messages: [{ role: 'user', content: 'hi' }], ...request }), { model: 'ours', ...(extraBody && { extraBody }) }));

  test('names the source\'s model unless the request has one, and leaves the tags at home', () => {
    expect(body({ tags: { a: 'b' }, stream: false })).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'ours', stream: false });
    expect(body({ model: 'theirs' })).toMatchObject({ model: 'theirs' });
  });

  test('asks for usage with a stream unless told otherwise', () => {
    expect(body({})).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(body({ stream_options: { include_usage: false } })).toMatchObject({ stream_options: { include_usage: false } });
    expect(body({ stream_options: null })).not.toHaveProperty('stream_options');
    expect(body({}, { stream_options: null })).not.toHaveProperty('stream_options');
    expect(body({ stream: false, stream_options: { include_usage: true } })).toMatchObject({ stream: false });
  });

  test('what the source needs goes over the request, but never over whether it is a stream', () => {
    expect(body({ temperature: 0, top_k: 1 }, { temperature: 1, stream: false })).toMatchObject({ temperature: 1, top_k: 1, stream: true });
  });
});
