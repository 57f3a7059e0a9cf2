import { afterEach, describe, expect, test } from '@jest/globals';
import { OpenAI } from 'openai';
import { ask, closeAfterTest, closeAll, frontDoorTo, upstream } from './frontDoorScene.js';
import type { FrontDoorScene } from './frontDoorScene.js';
import { startJsonServer } from '../support/jsonServer.js';
import type { JsonServer } from '../support/jsonServer.js';

afterEach(closeAll);

const path = '/v1/embeddings';
const vectors = [[0.5, -1.25, 3e-8], [1, 2, 4]];

async function scene(answer: object = { model: 'vectors-2', data: vectors.map((embedding, index) => ({ index, embedding })), usage: { prompt_tokens: 4, total_tokens: 4 } }): Promise<FrontDoorScene & { source: JsonServer }> {
  const source = await startJsonServer((response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)));
  closeAfterTest(() => source.close());
  const chat = await upstream(['hang']);
  return { ...(await frontDoorTo([chat.url], { embedding: source.origin })), source };
}

describe('the front door: embeddings', () => {
  test('vectors come as numbers, with the model that made them, its tokens and the facts', async () => {
    const { url, source } = await scene();
    const { status, headers, text } = await ask(url, { path, body: { model: 'any', input: ['one', 'two'], user: 'u' } });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      object: 'list',
      model: 'vectors-2',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding: Array.from(Float32Array.from(embedding)) })),
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
    expect(headers).toMatchObject({ 'x-polygateway-source': 'e/1', 'x-polygateway-attempts': '1', 'x-polygateway-call-id': expect.any(String) });
    expect(source.requests[0]!.body).toMatchObject({ model: 'vectors', input: ['one', 'two'], user: 'u' });
  });

  test('they come as little-endian floats in base64 where that is asked for, as the official client does', async () => {
    const { url, source } = await scene();
    const { text } = await ask(url, { path, body: { input: ['one', 'two'], encoding_format: 'base64' } });
    const [first] = (JSON.parse(text) as { data: { embedding: string }[] }).data;
    const bytes = Buffer.from(first!.embedding, 'base64');
    expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual(vectors[0]!.map(Math.fround));

    const official = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
    const { data } = await official.embeddings.create({ model: 'any', input: ['one', 'two'] });
    expect(data.map(({ embedding }) => embedding)).toEqual(vectors.map((vector) => vector.map(Math.fround)));
    // Not every source knows it.
    for (const { body } of source.requests) expect(body).not.toHaveProperty('encoding_format');
  });

  test('tokens that are not known are left out, and what is wrong is named', async () => {
    const { url } = await scene({ data: [{ embedding: [1] }] });
    expect(JSON.parse((await ask(url, { path, body: { input: 'one' } })).text)).not.toHaveProperty('usage');
    for (const [field, body] of [['input', {}], ['input', { input: [['x']] }], ['encoding_format', { input: 'x', encoding_format: 'hex' }], ['model', { input: 'x', model: 1 }], ['the body', []]] as const) {
      const answer = await ask(url, { path, body });
      expect(answer.status).toBe(400);
      expect((JSON.parse(answer.text) as { error: { message: string } }).error.message).toContain(field);
    }
  });

  test('a source that fails has its status', async () => {
    const { url } = await scene({ data: [] });
    expect(await ask(url, { path, body: { input: 'one' } })).toMatchObject({ status: 503, headers: { 'x-polygateway-source': 'e/1' } });
  });
});
