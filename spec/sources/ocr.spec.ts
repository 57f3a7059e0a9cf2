import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { lastValueFrom, materialize, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import type { GatewayError } from '../../lib/model/errors.js';
import { parseOcrRequest } from '../../lib/model/ocr.js';
import type { OcrAnswer, OcrRequest } from '../../lib/model/ocr.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import { createHttpOcrSource } from '../../lib/sources/ocrSource.js';
import type { HttpOcrSettings } from '../../lib/sources/ocrSource.js';
import { startJsonServer } from '../support/jsonServer.js';
import type { JsonServer } from '../support/jsonServer.js';

const key = 'sk-planted-0123456789abcdef';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serving(answer: (response: ServerResponse) => void): Promise<JsonServer> {
  const server = await startJsonServer(answer);
  closers.push(() => server.close());
  return server;
}

const pdf = { document: { type: 'document_url', document_url: 'data:application/pdf;base64,AAAA' } } as const;
const image = { document: { type: 'image_url', image_url: 'https://example.test/a.png' } } as const;

function read$(server: JsonServer, request: OcrRequest, settings: Partial<HttpOcrSettings> = {}): Observable<OcrAnswer> {
  const client = createHttpClient();
  closers.push(() => client.close());
  const all = { id: 'o/1', provider: 'o', baseUrl: `${server.origin}/v1`, apiKey: key, model: 'm', protocol: 'mistral', connectTimeoutMs: 5000, client, ...settings } as const;
  return createHttpOcrSource(all).recognize(parseOcrRequest(request), { attemptId: 'a' });
}

async function failureOf(answer$: Observable<unknown>): Promise<GatewayError> {
  return lastValueFrom(answer$, { defaultValue: undefined }).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as GatewayError,
  );
}

async function until(condition: () => boolean): Promise<void> {
  for (let at = 0; at < 500 && !condition(); at += 1) await sleep(5);
  expect(condition()).toBe(true);
}

describe('POST /ocr', () => {
  const whole = JSON.stringify({ pages: [{ index: 0, markdown: 'text' }] });

  test('EXTRA_BODY goes over the request, but never over the document; the request`s model before the source`s', async () => {
    const server = await serving((response) => response.end(whole));
    await lastValueFrom(read$(server, { ...pdf, model: 'mine', image_limit: 1, tags: { team: 'x' } }, { extraBody: { image_limit: 0, document: 'z' } }));
    expect(server.requests[0]?.body).toEqual({ ...pdf, model: 'mine', image_limit: 0 });
  });

  test('one value, then complete; a page may be blank, and one without an index counts by its place', async () => {
    const server = await serving((response) => response.end(JSON.stringify({ pages: [{ markdown: 'a' }, { markdown: '' }] })));
    const told = await lastValueFrom(read$(server, pdf).pipe(materialize(), toArray()));
    expect(told.map(({ kind }) => kind)).toEqual(['N', 'C']);
    expect(told[0]?.value).toEqual({ pages: [{ index: 0, markdown: 'a' }, { index: 1, markdown: '' }], usage: null });
  });

  test('tokens are told where the provider does', async () => {
    const server = await serving((response) => response.end(JSON.stringify({ pages: [{ index: 0, markdown: 'a' }], usage_info: { pages_processed: 1, prompt_tokens: 4, total_tokens: 9 } })));
    expect(await lastValueFrom(read$(server, pdf))).toMatchObject({ usage: { promptTokens: 4, completionTokens: null, totalTokens: 9 } });
  });

  test.each([['gzip', gzipSync(whole)], ['br', brotliCompressSync(whole)]])('%s is decompressed where it is declared', async (encoding, body) => {
    const server = await serving((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
    expect((await lastValueFrom(read$(server, pdf))).pages).toEqual([{ index: 0, markdown: 'text' }]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['cut by the connection', (response) => { response.writeHead(200, { 'content-length': whole.length }).write(whole.slice(0, -3)); setTimeout(() => response.destroy(), 30); }],
    ['cut by the source', (response) => { response.end(whole.slice(0, -3)); }],
    ['empty', (response) => { response.end(); }],
    ['a page whose text is no text', (response) => { response.end('{"pages":[{"index":0,"markdown":null}]}'); }],
    ['a page that is none', (response) => { response.end('{"pages":[null]}'); }],
  ])('an answer that is %s is transient (R1)', async (_, answer) => {
    expect(await failureOf(read$(await serving(answer), pdf))).toMatchObject({ code: 'transient', source: 'o/1', httpStatus: 200 });
  });

  test('an error at status 200 is of the class that its code tells, with the key masked (R7)', async () => {
    const server = await serving((response) => response.end(JSON.stringify({ error: { message: `wrong key ${key}`, code: 401 } })));
    const error = await failureOf(read$(server, pdf));
    expect(error).toMatchObject({ code: 'source', httpStatus: 401 });
    expect(inspect(error, { depth: 10 })).not.toContain(key);
  });

  test('X1: the connection is closed at once when the subscriber leaves', async () => {
    const server = await serving(() => undefined);
    const subscription = read$(server, pdf).subscribe();
    await until(() => server.requests.length === 1);
    subscription.unsubscribe();
    await until(() => server.open.size === 0);
  });
});

describe('OCR over chat', () => {
  const chat = { protocol: 'chat' } as const;
  const answerOf = (message: object, finish = 'stop'): string => JSON.stringify({ id: 'c-1', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }] });

  async function sentFor(request: OcrRequest, settings: Partial<HttpOcrSettings> = {}): Promise<Record<string, unknown>> {
    const server = await serving((response) => response.end(answerOf({ content: 'text' })));
    await lastValueFrom(read$(server, request, { ...chat, ...settings }));
    return server.requests[0]?.body ?? {};
  }

  const partOf = ({ messages }: Record<string, unknown>): unknown => (messages as { content: unknown[] }[])[0]?.content[1];

  test('a document with its bytes goes as a file', async () => {
    expect(partOf(await sentFor(pdf))).toEqual({ type: 'file', file: { filename: 'document.pdf', file_data: pdf.document.document_url } });
    const named = { document: { ...pdf.document, document_name: 'a.pdf' } };
    expect(partOf(await sentFor(named))).toEqual({ type: 'file', file: { filename: 'a.pdf', file_data: pdf.document.document_url } });
  });

  test('what was said of an image travels on', async () => {
    const image_url = { url: 'https://example.test/a.png', detail: 'high' };
    expect(partOf(await sentFor({ document: { type: 'image_url', image_url } }))).toEqual({ type: 'image_url', image_url });
  });

  test('one unstreamed message with one instruction, the source`s EXTRA_BODY, no tags', async () => {
    const { messages, ...rest } = await sentFor({ ...image, model: 'mine', tags: { team: 'x' } }, { extraBody: { max_tokens: 9000 } });
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: expect.stringMatching(/Markdown/) }, expect.anything()] }]);
    expect(rest).toEqual({ model: 'mine', stream: false, max_tokens: 9000 });
  });

  test('one value, then complete', async () => {
    const server = await serving((response) => response.end(answerOf({ content: '# Title' })));
    const told = await lastValueFrom(read$(server, image, chat).pipe(materialize(), toArray()));
    expect(told.map(({ kind }) => kind)).toEqual(['N', 'C']);
    expect(told[0]?.value).toEqual({ pages: [{ index: 0, markdown: '# Title' }], usage: null, providerRequestId: 'c-1' });
  });

  test('what the model thought is no part of the page where THINK_TAGS says so', async () => {
    const server = await serving((response) => response.end(answerOf({ content: '<think>a table?</think>| a |' })));
    expect((await lastValueFrom(read$(server, image, { ...chat, thinkTags: true }))).pages).toEqual([{ index: 0, markdown: '| a |' }]);
    expect((await lastValueFrom(read$(server, image, chat))).pages[0]?.markdown).toContain('<think>');
  });

  test.each([
    ['cut at the length limit', answerOf({ content: 'half' }, 'length'), 'source', /max_tokens/],
    ['cut by a content filter', answerOf({ content: 'half' }, 'content_filter'), 'source', /content filter/],
    ['all thought', answerOf({ content: '', reasoning_content: 'hm' }), 'transient', /no text/],
    ['a refusal', answerOf({ content: null, refusal: 'I cannot' }), 'source', /refused/],
    ['no answer', '{"choices":[]}', 'transient', /no answer/],
    ['cut JSON', answerOf({ content: 'text' }).slice(0, -4), 'transient', /cut/],
  ])('an answer that is %s is a failure of its class, and says so', async (_, body, code, message) => {
    const server = await serving((response) => response.end(body));
    expect(await failureOf(read$(server, image, chat))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('a second subscription is a request of its own, with text of its own', async () => {
    let asked = 0;
    const server = await serving((response) => response.end(answerOf({ content: `text ${asked += 1}` })));
    const answer$ = read$(server, image, chat);
    const texts = [await lastValueFrom(answer$), await lastValueFrom(answer$)].map(({ pages }) => pages[0]?.markdown);
    expect(texts).toEqual(['text 1', 'text 2']);
  });

  test('X1: the connection is closed at once when the subscriber leaves', async () => {
    const server = await serving((response) => void response.write('{"choices"'));
    const subscription = read$(server, image, chat).subscribe();
    await until(() => server.requests.length === 1);
    subscription.unsubscribe();
    await until(() => server.open.size === 0);
  });
});
