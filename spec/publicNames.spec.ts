import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import * as gateway from '../lib/index.js';
import * as operators from '../lib/operators/index.js';
import * as testing from '../lib/testing/index.js';
import type { ChatResponse } from '../lib/index.js';
import { unexportedTypes } from './support/unexportedTypes.js';

/** Only other types are made from these; no value of them goes in or out. */
const innerTypes = ['Engine', 'Kind', 'Reading', 'Setting', 'SettingsTable'];

// The golden list: a change here is a change of what users may rely on, and belongs into CHANGELOG.md.
describe('public names', () => {
  test('of polygateway', () => {
    expect(Object.keys(gateway).sort()).toEqual([
      'AdmissionRefused',
      'AllSourcesExhausted',
      'CallDeadlineExceeded',
      'ConfigError',
      'GatewayClosedError',
      'GatewayError',
      'GatewayUnavailableError',
      'GovernanceBackendError',
      'InvalidAnswerError',
      'RateLimitedError',
      'RequestError',
      'SlowReaderError',
      'SourceError',
      'StreamInterrupted',
      'StreamLivenessTimeout',
      'TransientError',
      'createEmbedding',
      'createGateway',
      'createOcr',
      'defineTool',
      'describeSettings',
      'isCallError',
      'isChatError',
      'isOutput',
      'parse',
      'responseFormat',
      'settingsFromEnv',
      'toAsyncIterable',
      'toChatCompletion',
      'toChatCompletionChunks',
      'toReadableStream',
      'toolCallsOf',
      'toolMessage',
    ]);
  });

  test('of polygateway/operators', () => {
    expect(Object.keys(operators).sort()).toEqual(['finalizeWith', 'graceAfter', 'hedge', 'livenessTimeout', 'releaseFirst', 'silence', 'stallMetrics']);
  });

  test('of polygateway/testing', () => {
    expect(Object.keys(testing).sort()).toEqual([
      'GatewayAssertionError',
      'MarbleMismatch',
      'assertAtRest',
      'assertCalls',
      'assertHedges',
      'assertRows',
      'assertSockets',
      'compareMarbles',
      'createRecorder',
      'gatewayMatchers',
      'like',
      'marbles',
      'parseRecording',
      'readRecording',
      'replay',
      'scriptedSource',
      'stringifyRecording',
      'testGateway',
      'toolCall',
      'usage',
    ]);
  });

  test('every type in a signature behind the entry points can be imported from one of them', () => {
    const missing = unexportedTypes(['index.ts', 'operators/index.ts', 'testing/index.ts'].map((entry) => fileURLToPath(new URL(`../lib/${entry}`, import.meta.url))));
    expect(missing.filter((name) => !innerTypes.includes(name))).toEqual([]);
  }, 60_000);

  test('errors carry the codes by which they are matched', () => {
    const { AllSourcesExhausted, CallDeadlineExceeded, ConfigError, GatewayClosedError, GovernanceBackendError, InvalidAnswerError, RateLimitedError, RequestError, SourceError, TransientError } = gateway;
    const errors = [
      new ConfigError(['x']),
      new TransientError('x'),
      new RateLimitedError('x'),
      new SourceError('x'),
      new RequestError('x'),
      new AllSourcesExhausted('x', { reason: 'stalled' }),
      new GovernanceBackendError('x'),
      new CallDeadlineExceeded('x'),
      new GatewayClosedError('x'),
      new InvalidAnswerError('x', { reason: 'refusal', problems: [], repairs: 0, response: {} as ChatResponse }),
    ];
    expect(errors.map(({ name, code, retryable }) => [name, code, retryable])).toEqual([
      ['ConfigError', 'config', false],
      ['TransientError', 'transient', true],
      ['RateLimitedError', 'rate_limited', true],
      ['SourceError', 'source', false],
      ['RequestError', 'request', false],
      ['AllSourcesExhausted', 'all_sources_exhausted', true],
      ['GovernanceBackendError', 'governance_backend', true],
      ['CallDeadlineExceeded', 'call_deadline', true],
      ['GatewayClosedError', 'closed', false],
      ['InvalidAnswerError', 'invalid_answer', false],
    ]);
  });
});
