import { describe, expect, test } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { parseEmbeddingRequest } from '../../lib/model/embedding.js';
import type { EmbeddingAnswer } from '../../lib/model/embedding.js';
import { parseOcrRequest } from '../../lib/model/ocr.js';
import { scriptedEmbeddingSource, scriptedOcrSource } from '../../lib/sources/scriptedAnswers.js';

const context = { attemptId: 'a' };
const request = parseEmbeddingRequest({ input: ['a', 'bb'] });
const answer: EmbeddingAnswer = { vectors: [Float32Array.of(1), Float32Array.of(2)], usage: null };
const failure = new Error('it broke');

/** In virtual time; one frame is one millisecond. */
function inTime(body: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0], scheduler: TestScheduler) => void): () => void {
  return () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    scheduler.run((helpers) => body(helpers, scheduler));
  };
}

describe('scripted sources of whole answers', () => {
  test('answer once at their time and complete, fail at their time, or hang until let go; the last one repeats', inTime(({ expectObservable, flush }, scheduler) => {
    const source = scriptedEmbeddingSource({ id: 'a/1', scheduler, maxBatch: 4, rpm: 9, answers: [{ atMs: 3, type: 'answer', answer }, { atMs: 2, type: 'error', error: failure }, 'hang'] });
    const asked$ = source.embed(request, context);
    expectObservable(asked$).toBe('                ---(r|)', { r: answer });
    expectObservable(asked$).toBe('                --#', undefined, failure);
    expectObservable(asked$, '^-----!').toBe('     -------');
    expectObservable(asked$, '----^---!').toBe('   -----');
    flush();
    expect(source.requests).toEqual([
      { startedMs: 0, closedMs: 3 }, { startedMs: 0, closedMs: 2 }, { startedMs: 0, closedMs: 6 }, { startedMs: 4, closedMs: 8 },
    ]);
    expect(source).toMatchObject({ id: 'a/1', provider: 'a', model: 'scripted', limits: {}, maxBatch: 4, rpm: 9 });
    expect(source).not.toHaveProperty('scheduler');
  }));

  test('count the time from the request, not from the making', inTime(({ expectObservable }, scheduler) => {
    const source = scriptedEmbeddingSource({ id: 'a/1', scheduler, answers: [{ atMs: 2, type: 'answer', answer }] });
    expectObservable(source.embed(request, context), '---^---').toBe('-----(r|)', { r: answer });
  }));

  test('may answer by the request, and fail where that throws', inTime(({ expectObservable }, scheduler) => {
    const answers = [
      { atMs: 1, type: 'answer', answer: ({ input }: typeof request) => ({ vectors: input.map(({ length }) => Float32Array.of(length)), usage: null }) },
      { atMs: 1, type: 'answer', answer: (): never => { throw failure; } },
    ] as const;
    const source = scriptedEmbeddingSource({ id: 'a/1', scheduler, answers });
    expectObservable(source.embed(request, context)).toBe('-(r|)', { r: answer });
    expectObservable(source.embed(request, context)).toBe('-#', undefined, failure);
  }));

  test('the last answer is that of every later request', inTime(({ expectObservable }, scheduler) => {
    const source = scriptedEmbeddingSource({ id: 'a/1', scheduler, answers: ['hang', { atMs: 1, type: 'error', error: failure }] });
    expectObservable(source.embed(request, context), '^-!').toBe('---');
    expectObservable(source.embed(request, context)).toBe('-#', undefined, failure);
    expectObservable(source.embed(request, context)).toBe('-#', undefined, failure);
  }));

  test('read documents too', inTime(({ expectObservable }, scheduler) => {
    const pages = { pages: [{ index: 0, markdown: 'text' }], usage: null };
    const source = scriptedOcrSource({ id: 'a/1', scheduler, answers: [{ atMs: 0, type: 'answer', answer: pages }] });
    expectObservable(source.recognize(parseOcrRequest({ document: { type: 'file', file_id: 'f' } }), context)).toBe('(r|)', { r: pages });
  }));

  test('say nothing in the turn of the subscription, even at 0 ms', () => {
    const scheduler = new TestScheduler(() => undefined);
    const source = scriptedEmbeddingSource({ id: 'a/1', scheduler, answers: [{ atMs: 0, type: 'answer', answer }] });
    const told: unknown[] = [];
    source.embed(request, context).subscribe((value) => told.push(value));
    expect(told).toEqual([]);
    scheduler.flush();
    expect(told).toEqual([answer]);
  });
});
