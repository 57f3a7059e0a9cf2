import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { firstValueFrom } from 'rxjs';
import { createEmbedding } from '../../lib/assemble/createEmbedding.js';
import { createOcr } from '../../lib/assemble/createOcr.js';
import { AllSourcesExhausted, isGatewayError } from '../../lib/model/errors.js';
import { embeddingAnswer } from '../../lib/wire/embeddingAnswer.js';
import { startReplayServer } from '../support/replayServer.js';
import type { ReplayServer } from '../support/replayServer.js';
import { wireCases } from '../support/wireCases.js';
import type { WireCase, WireUsage } from '../support/wireCases.js';

const key = 'sk-planted-0123456789abcdef';
const once = { maxAttempts: 1, backpressure: 'fail_fast' } as const;

/** What came of a call: its answer, or the class and status of the failure that ended it. */
async function outcome<T>(call: Promise<T>): Promise<{ answer: T } | { error: unknown; failureClass: string; httpStatus: number | undefined }> {
  try {
    return { answer: await call };
  } catch (thrown) {
    const error = thrown instanceof AllSourcesExhausted ? thrown.cause : thrown;
    if (!isGatewayError(error)) throw thrown;
    return { error, failureClass: error.code, httpStatus: error.httpStatus };
  }
}

describe('wire cases, embeddings and OCR, through the gateway', () => {
  const embeddings = wireCases('embeddings');
  const documents = wireCases('ocr');
  let server: ReplayServer;
  beforeAll(async () => { server = await startReplayServer([...embeddings, ...documents]); });
  afterAll(() => server.close());

  const settingsOf = (scope: string, wireCase: WireCase): { scope: string; sources: { provider: string; baseUrl: string; model: string; apiKey: string }[] } => ({
    scope,
    sources: [{ provider: 'case', baseUrl: server.baseUrl(wireCase), model: 'm-test', apiKey: key }],
  });

  test('all of them are here', () => {
    expect([embeddings.length, documents.length]).toEqual([7, 2]);
  });

  test.each(embeddings.map((wireCase) => [wireCase.id, wireCase] as const))('%s', async (_, wireCase) => {
    await using embedding = createEmbedding({ settings: settingsOf('EMBEDDING', wireCase), ...once });
    const count = Number(wireCase.request['input_count']);
    const result = await outcome(embedding.embed({ input: Array.from({ length: count }, (_text, at) => `text ${at}`), encoding_format: 'float' }));
    const { expect: wanted } = wireCase;
    if ('answer' in result) {
      expect(wanted.outcome).toBe('ok');
      expect(result.answer.vectors.map((vector) => [...vector])).toEqual((wanted as { embeddings?: number[][] }).embeddings);
      const { prompt, total } = wanted.usage as WireUsage;
      expect(result.answer.usage).toMatchObject({ promptTokens: prompt, totalTokens: total });
    } else {
      expect(wanted.outcome).toBe('error');
      expect([wanted.error?.class, ...((wanted.also_ok as { error_class?: string[] } | undefined)?.error_class ?? [])]).toContain(result.failureClass);
    }
  });

  test.each(documents.map((wireCase) => [wireCase.id, wireCase] as const))('%s', async (_, wireCase) => {
    await using ocr = createOcr({ settings: settingsOf('OCR', wireCase), ...once });
    const result = await outcome(ocr.ocr({ document: { type: 'document_url', document_url: 'https://example.test/a.pdf' } }));
    expect(result).toMatchObject({ failureClass: wireCase.expect.error?.class, httpStatus: wireCase.expect.error?.http_status });
  });
});

describe('over real sockets', () => {
  let server: Server | undefined;
  const seen: { path: string; body: Record<string, unknown>; headers: IncomingMessage['headers'] }[] = [];
  afterEach(async () => {
    seen.length = 0;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  });

  async function serve(answer: (body: Record<string, unknown>, response: ServerResponse) => void): Promise<string> {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => { text += String(chunk); });
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        seen.push({ path: request.url ?? '', body, headers: request.headers });
        answer(body, response);
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  const json = (response: ServerResponse, body: unknown): void => void response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req-1' }).end(JSON.stringify(body));
  const listed = (input: readonly string[]): object => ({ data: input.map((text, index) => ({ index, embedding: [text.length, index] })).reverse(), model: 'm-real', usage: { prompt_tokens: input.length, total_tokens: input.length } });
  const source = (baseUrl: string, more: object = {}): { provider: string; baseUrl: string; model: string; apiKey: string } => ({ provider: 'p', baseUrl, model: 'm', apiKey: key, ...more });

  test('inputs are split to the source`s limit and rejoined in order, whatever order the provider used', async () => {
    const baseUrl = await serve(({ input }, response) => json(response, listed(input as string[])));
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl, { maxBatch: 2, extraBody: { user: 'u' } })] } });
    const { vectors, usage, stats, model, source: answeredBy, providerRequestId } = await embedding.embed({ input: ['a', 'bb', 'ccc', 'dddd', 'eeeee'], dimensions: 2, tags: { job: 'x' } });
    expect(vectors.map((vector) => [...vector])).toEqual([[1, 0], [2, 1], [3, 0], [4, 1], [5, 0]]);
    expect([usage?.totalTokens, stats.attempts, stats.answered, model, answeredBy, providerRequestId]).toEqual([5, 3, 3, 'm-real', 'p/1', 'req-1']);
    expect(seen.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/embeddings', { model: 'm', input: ['a', 'bb'], dimensions: 2, user: 'u' }],
      ['/v1/embeddings', { model: 'm', input: ['ccc', 'dddd'], dimensions: 2, user: 'u' }],
      ['/v1/embeddings', { model: 'm', input: ['eeeee'], dimensions: 2, user: 'u' }],
    ]);
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  test('by default a request holds 128 inputs', async () => {
    const baseUrl = await serve(({ input }, response) => json(response, listed(input as string[])));
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl)] } });
    const { vectors } = await embedding.embed({ input: Array.from({ length: 300 }, (_, at) => 'x'.repeat(at + 1)) });
    expect(vectors.map(([length]) => length)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
    expect(seen.map(({ body }) => (body['input'] as string[]).length)).toEqual([128, 128, 44]);
  });

  test('token numbers stand for their text, one input or several', async () => {
    const baseUrl = await serve(({ input }, response) => json(response, listed(input as string[])));
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl)] } });
    expect((await embedding.embed({ input: [15, 7, 99] })).vectors).toEqual([Float32Array.of(3, 0)]);
    expect((await embedding.embed({ input: [[15], [7, 99]] })).vectors).toEqual([Float32Array.of(1, 0), Float32Array.of(2, 1)]);
    expect(seen.map(({ body }) => body['input'])).toEqual([[[15, 7, 99]], [[15], [7, 99]]]);
  });

  test('a compressed answer is read', async () => {
    const baseUrl = await serve(({ input }, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(listed(input as string[])))));
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl)] } });
    expect((await embedding.embed({ input: 'abc' })).vectors).toEqual([Float32Array.of(3, 0)]);
  });

  test('other dimensions than asked for put the source out; the next one is asked', async () => {
    let asked = 0;
    const baseUrl = await serve(({ input }, response) => json(response, (asked += 1) === 1 ? { data: [{ index: 0, embedding: [1, 2, 3] }] } : listed(input as string[])));
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl), source(baseUrl.replace('127.0.0.1', 'localhost'), { provider: 'q' })] } });
    const { vectors, source: answeredBy } = await embedding.embed({ input: ['abc'], dimensions: 2 });
    expect([vectors.length, answeredBy]).toEqual([1, 'q/1']);
  });

  test('X1: unsubscribing closes the socket', async () => {
    let closed: Promise<unknown> | undefined;
    const baseUrl = await serve((_body, response) => { closed = new Promise((resolve) => response.on('close', resolve)); });
    await using embedding = createEmbedding({ settings: { scope: 'EMBEDDING', sources: [source(baseUrl)] } });
    const subscription = embedding.embed$({ input: ['a'] }).subscribe();
    while (closed === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    subscription.unsubscribe();
    await closed;
    expect(embedding.stats()).toMatchObject({ calls: 0, attempts: 0, permits: { 'p/1': 0 } });
  });

  test('R7: a key that the provider quotes is masked', async () => {
    const baseUrl = await serve((_body, response) => void response.writeHead(401).end(JSON.stringify({ error: { message: `wrong key ${key}` } })));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl)] }, ...once });
    const result = await outcome(ocr.ocr({ document: { type: 'image_url', image_url: 'https://example.test/a.png' } }));
    expect(result).toMatchObject({ failureClass: 'source', httpStatus: 401 });
    expect(inspect(result, { depth: 10 })).not.toContain(key);
  });

  test('OCR over POST /ocr: pages in order, unknown fields kept', async () => {
    const pages = [{ index: 1, markdown: 'two', dimensions: { dpi: 72 } }, { index: 0, markdown: 'one' }];
    const baseUrl = await serve((_body, response) => json(response, { pages, model: 'm-ocr', usage_info: { pages_processed: 2 } }));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl)] } });
    const document = { type: 'document_url', document_url: 'https://example.test/a.pdf' } as const;
    const answer = await firstValueFrom(ocr.ocr$({ document, pages: [0, 1], include_image_base64: false, tags: { job: 'x' } }));
    expect(answer).toMatchObject({ pages: [pages[1], pages[0]], usage: null, model: 'm-ocr', source: 'p/1', providerRequestId: 'req-1', stats: { attempts: 1 } });
    expect(seen.map(({ path, body }) => [path, body])).toEqual([['/v1/ocr', { model: 'm', document, pages: [0, 1], include_image_base64: false }]]);
  });

  const chatAnswer = (content: string, finish = 'stop'): object => ({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }], model: 'm-vl', usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } });

  test('OCR over chat: the image stands in the message, the text is the page', async () => {
    const baseUrl = await serve((_body, response) => json(response, chatAnswer('# Title')));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl, { protocol: 'chat' })] } });
    const answer = await ocr.ocr({ document: { type: 'image_url', image_url: 'data:image/png;base64,AAAA' } });
    expect(answer).toMatchObject({ pages: [{ index: 0, markdown: '# Title' }], usage: { totalTokens: 7 }, model: 'm-vl' });
    const [{ path, body } = { path: '', body: {} as Record<string, unknown> }] = seen;
    const [message] = body['messages'] as { content: unknown[] }[];
    expect([path, body['stream'], message?.content[1]]).toEqual(['/v1/chat/completions', false, { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]);
  });

  test.each([
    ['cut at the length limit', chatAnswer('half', 'length'), 'source', /length limit/],
    ['no text', chatAnswer(''), 'transient', /./],
  ])('OCR over chat: %s', async (_, body, failureClass, message) => {
    const baseUrl = await serve((_request, response) => json(response, body));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl, { protocol: 'chat' })] }, ...once });
    const result = await outcome(ocr.ocr({ document: { type: 'image_url', image_url: { url: 'https://example.test/a.png' } } }));
    expect(result).toMatchObject({ failureClass, error: { message: expect.stringMatching(message) } });
  });

  test.each([
    ['an address of a document', { document: { type: 'document_url', document_url: 'https://example.test/a.pdf' } as const }, /data: URL/],
    ['pages', { document: { type: 'image_url', image_url: 'https://example.test/a.png' } as const, pages: [0] }, /whole document/],
  ])('OCR over chat refuses before anything is sent: %s', async (_, request, message) => {
    const baseUrl = await serve((_request, response) => json(response, chatAnswer('x')));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl, { protocol: 'chat' })] }, ...once });
    expect(await outcome(ocr.ocr(request))).toMatchObject({ failureClass: 'source', error: { message: expect.stringMatching(message) } });
    expect(seen).toEqual([]);
  });

  test.each([
    ['no page', { pages: [] }],
    ['no pages', { text: 'x' }],
    ['a page without its text', { pages: [{ index: 0 }] }],
  ])('an OCR answer that is none: %s', async (_, body) => {
    const baseUrl = await serve((_request, response) => json(response, body));
    await using ocr = createOcr({ settings: { scope: 'OCR', sources: [source(baseUrl)] }, ...once });
    expect(await outcome(ocr.ocr({ document: { type: 'file', file_id: 'f' } }))).toMatchObject({ failureClass: 'transient' });
  });
});

describe('embeddingAnswer', () => {
  const answerTo = (data: unknown, inputs: number, dimensions?: number): unknown => {
    try {
      return embeddingAnswer({ data }, { inputs, dimensions }).vectors.map((vector) => [...vector]);
    } catch (error) {
      return isGatewayError(error) ? error.code : error;
    }
  };

  test.each<[string, unknown, number, unknown]>([
    ['no list', 'x', 1, 'transient'],
    ['an empty vector', [{ embedding: [] }], 1, 'transient'],
    ['not a number', [{ embedding: [1, null] }], 1, 'transient'],
    ['a number beyond a float', [{ embedding: [1e39] }], 1, 'transient'],
    ['half a float', [{ embedding: 'AAA=' }], 1, 'transient'],
    ['not base64', [{ embedding: 'AAAA!AAA' }], 1, 'transient'],
    ['an index twice', [{ index: 1, embedding: [1] }, { index: 1, embedding: [2] }], 2, 'source'],
    ['an index beyond', [{ index: 0, embedding: [1] }, { index: 2, embedding: [2] }], 2, 'source'],
    ['an index for some only', [{ index: 1, embedding: [1] }, { embedding: [2] }], 2, 'source'],
    ['a null among the items', [null], 1, 'transient'],
  ])('refuses %s', (_, data, inputs, expected) => {
    expect(answerTo(data, inputs)).toEqual(expected);
  });

  test('any vectors survive, as lists or as base64, in whatever order they come', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true });
    const batch = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 5 })).chain(([count, length]) =>
      fc.tuple(
        fc.array(fc.tuple(fc.array(float, { minLength: length, maxLength: length }), fc.boolean()), { minLength: count, maxLength: count }),
        fc.infiniteStream(fc.nat()).map((stream) => [...stream.take(count)]),
      ),
    );
    fc.assert(
      fc.property(batch, ([vectors, keys]) => {
        const items = vectors.map(([vector, packed], index) => ({ index, embedding: packed ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector }));
        const shuffled = items.map((item, at) => [keys[at] ?? 0, item] as const).sort(([a], [b]) => a - b).map(([, item]) => item);
        expect(answerTo(shuffled, vectors.length)).toEqual(vectors.map(([vector]) => vector));
      }),
      { numRuns: 200 },
    );
  });
});
