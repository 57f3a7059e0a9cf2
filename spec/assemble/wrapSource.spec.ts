import { afterEach, describe, expect, test } from '@jest/globals';
import { asyncScheduler, defer, of, tap, throwError } from 'rxjs';
import { createEmbedding, createGateway, createOcr, TransientError } from '../../lib/index.js';
import type { GatewayOptions, Source } from '../../lib/index.js';
import { scriptedEmbeddingSource, scriptedOcrSource } from '../../lib/sources/scriptedAnswers.js';
import { scriptedSource } from '../../lib/testing/scriptedSource.js';
import { problemsOf } from '../config/problemsOf.js';
import { asks, closeAll, closeAfterTest, gatewayTo, upstream } from '../gateway/scene.js';

afterEach(closeAll);

test('wrapSource is given each source of the settings, and what it returns is asked in its place', async () => {
  const [a, b] = await Promise.all([upstream(['d@0"from a" f@0']), upstream(['d@0"from b" f@0'])]);
  const wrapped: string[] = [];
  const faulty = (source: Source): Source => {
    wrapped.push(source.id);
    return source.id === 'a/1' ? { ...source, stream: () => throwError(() => new TransientError('a fault of ours')) } : source;
  };
  const { gateway, rows } = gatewayTo([a.url, b.url], { wrapSource: faulty });

  expect(await gateway.chat(asks('hello'))).toMatchObject({ content: 'from b', source: 'b/1', stats: { attempts: 2 } });
  expect(wrapped).toEqual(['a/1', 'b/1']);
  expect([a.requests.length, b.requests.length]).toEqual([0, 1]);
  expect(rows.map(({ source, error_message }) => [source, error_message])).toEqual([['a/1', 'a fault of ours'], ['b/1', null]]);
});

test('it wraps sources that are passed as ports too, of every kind, and is told the clock of the gateway', async () => {
  const seen: unknown[] = [];
  const settings = { scope: 'X', sources: [] };
  const chat = createGateway({
    settings,
    scheduler: asyncScheduler,
    sources: [scriptedSource('-a|', { id: 'port' })],
    wrapSource: (source, { scheduler }) => ({ ...source, stream: (request, context) => source.stream(request, context).pipe(tap(({ type }) => seen.push(type, scheduler === asyncScheduler))) }),
  });
  const embedding = createEmbedding({
    settings,
    sources: [scriptedEmbeddingSource({ id: 'e', answers: ['hang'] })],
    wrapSource: (source) => ({ ...source, embed: () => defer(() => of({ vectors: [Float32Array.of(1)], usage: null })) }),
  });
  const ocr = createOcr({
    settings,
    sources: [scriptedOcrSource({ id: 'o', answers: ['hang'] })],
    wrapSource: (source) => ({ ...source, recognize: () => defer(() => of({ pages: [{ index: 0, markdown: 'read' }], usage: null })) }),
  });
  for (const { close } of [chat, embedding, ocr]) closeAfterTest(close);

  await chat.chat(asks('hello'));
  expect(seen).toEqual(['content', true, 'finish', true]);
  expect((await embedding.embed({ input: 'x' })).vectors).toEqual([Float32Array.of(1)]);
  expect((await ocr.ocr({ document: { type: 'file', file_id: 'f' } })).pages).toEqual([{ index: 0, markdown: 'read' }]);
});

describe('a wrapper that gives back something else is refused at construction', () => {
  const sources = [scriptedSource('-a|', { id: 'a', rpm: 60 }), scriptedSource('-a|', { id: 'b' })];
  const refusals = (wrapSource: unknown): readonly string[] => problemsOf(() => createGateway({ settings: { scope: 'LLM', sources: [] }, sources, wrapSource } as GatewayOptions));

  test.each<[string, unknown, string[]]>([
    ['another id', (source: Source) => ({ ...source, id: `${source.id}!` }), ['in what wrapSource returned for a, id is "a!", which must stay "a": return { ...source, stream }', 'in what wrapSource returned for b, id is "b!"']],
    ['other limits', (source: Source) => ({ ...source, limits: { timeoutMs: 1 } }), ['limits is {"timeoutMs":1}, which must stay {"ttftTimeoutMs":120000,"timeoutMs":300000}', 'for b, limits is']],
    ['a fact lost', (source: Source) => Object.fromEntries(Object.entries(source).filter(([name]) => name !== 'rpm')), ['in what wrapSource returned for a, rpm is absent, which must stay 60']],
    ['nothing', () => undefined, ['what wrapSource returned for a is absent, which must be a source with the method stream: return { ...source, stream }', 'returned for b is absent']],
    ['no function', 'record', ['wrapSource is "record", which must be a function']],
  ])('%s', (_what, wrapSource, expected) => {
    expect(refusals(wrapSource)).toEqual(expected.map((beginning) => expect.stringContaining(beginning)));
  });

  test('equal limits in another object are the same', () => {
    expect(refusals((source: Source) => ({ ...source, limits: { ...source.limits } }))).toEqual([]);
  });
});
