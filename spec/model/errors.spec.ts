import { describe, expect, test } from '@jest/globals';
import { switchMap, throwError, timer } from 'rxjs';
import { RequestError, TransientError } from '../../lib/index.js';
import { annotate, attemptError, messageOf, rootCode, toAttemptError } from '../../lib/model/errors.js';
import { parseRequest } from '../../lib/model/request.js';
import { marbles, scriptedSource } from '../../lib/testing/index.js';

const getter = (field: string): object => Object.defineProperty({}, field, { get: () => { throw new Error('no'); } });
const looped = new Error('x');
looped.cause = looped;

describe('what a source throws', () => {
  test('R1: an error of another copy of the library keeps its class and what it tells', () => {
    const foreign = Object.assign(new Error('too long'), { name: 'RequestError', code: 'request', httpStatus: 400, source: 'b', attempts: undefined });
    const error = annotate(toAttemptError(foreign), { source: 'a', callId: 'c' });
    expect(error).toBeInstanceOf(RequestError);
    expect(error.cause).toBe(foreign);
    expect([error.message, error.httpStatus, error.source, error.callId]).toEqual(['too long', 400, 'b', 'c']);
  });

  test('R1: the code alone does not make it one', () => {
    expect(toAttemptError(Object.assign(new Error('x'), { code: 'request' }))).toMatchObject({ code: 'transient', cause: expect.anything() });
    expect(toAttemptError({ code: 'toString', name: 'x' })).toBeInstanceOf(TransientError);
  });

  test('one of its own passes as it is; a frozen one is copied, since it is told more', () => {
    const own = attemptError('request', 'x');
    expect(toAttemptError(own)).toBe(own);
    const frozen = Object.freeze(attemptError('source', 'x', { httpStatus: 401 }));
    const told = annotate(toAttemptError(frozen), { source: 'a' });
    expect({ code: told.code, source: told.source, httpStatus: told.httpStatus, cause: told.cause === frozen }).toEqual({ code: 'source', source: 'a', httpStatus: 401, cause: true });
  });

  test.each([
    ['nothing at all', Object.create(null)],
    ['a message that throws', getter('message')],
    ['a code that throws', getter('code')],
    ['a cause that throws', getter('cause')],
    ['a name that throws', Object.assign(getter('name'), { code: 'request' })],
    ['a message that is no text', { message: Object.create(null) as unknown }],
    ['itself as its cause', looped],
    ['a symbol', Symbol('x')],
  ])('%s is a transient failure', (_what, thrown) => {
    expect(toAttemptError(thrown)).toMatchObject({ code: 'transient', message: expect.stringMatching(/^the source failed: ./) });
    expect([typeof messageOf(thrown), rootCode(new TransientError('x', { cause: thrown }).cause)]).toEqual(['string', expect.any(String)]);
  });
});

test.each([
  ['a foreign one of the request', Object.assign(new Error('x'), { name: 'RequestError', code: 'request' }), { code: 'request', attempts: 1 }],
  ['a frozen one of the request', Object.freeze(attemptError('request', 'x')), { code: 'request', attempts: 1 }],
  ['nothing at all', Object.create(null), { code: 'all_sources_exhausted', attempts: 2 }],
  ['a message that throws', getter('message'), { code: 'all_sources_exhausted', attempts: 2 }],
  ['itself as its cause', looped, { code: 'all_sources_exhausted', attempts: 2 }],
])('a call at a source that throws %s ends by the rules', (_what, thrown: unknown, ending) => {
  marbles(({ testGateway, afterwards }) => {
    const source = { ...scriptedSource('-'), id: 'own', stream: () => timer(1).pipe(switchMap(() => throwError(() => thrown))) };
    const gateway = testGateway({ sources: [source], settings: { maxAttempts: 2 } });
    let told: unknown;
    gateway.chat$({ messages: [{ role: 'user', content: 'x' }] }).subscribe({ error: (error: unknown) => { told = { ...(error as object) }; } });
    afterwards(() => expect(told).toMatchObject(ending));
  })();
});

test('a request with many faults is refused in a message of bounded length', () => {
  const messages = Array.from({ length: 50_000 }, () => ({}));
  const tags = { ['x'.repeat(5000)]: 1 };
  let message = '';
  try {
    parseRequest({ messages, tags });
  } catch (error) {
    message = messageOf(error);
  }
  expect(message).toMatch(/^the request was not sent: messages\.0\.role: .*; and 49981 more$/);
  expect(message.length).toBeLessThan(5000);
});
