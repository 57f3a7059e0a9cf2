import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { AllSourcesExhausted, ConfigError, GatewayClosedError, InvalidAnswerError, RateLimitedError, SlowReaderError, isCallError, isChatError } from '../../lib/index.js';
import { responseWith } from './responseWith.js';

const exhausted = new AllSourcesExhausted('x', { reason: 'stalled' });
const invalid = new InvalidAnswerError('x', { reason: 'not_json', problems: [{ path: 'a', message: 'not "a secret"' }], repairs: 1, response: responseWith({ content: 'a secret' }) });

test('what a call fails with is known by code and name, also from another copy of the library', () => {
  const ofAnotherCopy = Object.assign(new Error('x'), { name: 'AllSourcesExhausted', code: 'all_sources_exhausted', reason: 'stalled' });
  const errors = [exhausted, ofAnotherCopy, new GatewayClosedError('x'), new SlowReaderError('x'), invalid];
  expect(errors.map((error) => [isCallError(error), isChatError(error)])).toEqual([[true, true], [true, true], [true, true], [true, false], [true, false]]);
});

test('nothing else is: settings, causes, reasons of an abort, errors of others with the same code', () => {
  const closed = Object.assign(new Error('x'), { code: 'closed' });
  const others = [new ConfigError(['x']), new RateLimitedError('x'), new DOMException('x', 'AbortError'), closed, Object.assign(new Error('x'), { code: 'constructor', name: 'Object' }), 'request', undefined, null];
  expect(others.filter(isCallError)).toEqual([]);
});

test('R7: an error with an answer does not write it where errors are written', () => {
  expect(invalid.response.content).toBe('a secret');
  expect(JSON.stringify(invalid)).not.toContain('secret');
  expect(inspect(invalid)).not.toContain('secret');
  expect(invalid.problems).toEqual([{ path: 'a', message: 'not "a secret"' }]);
});
