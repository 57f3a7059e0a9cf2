import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import * as gateway from '../lib/index.js';
import * as operators from '../lib/operators/index.js';
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
      'describeSettings',
      'isOutput',
      'settingsFromEnv',
      'toAsyncIterable',
      'toReadableStream',
    ]);
  });

  test('of polygateway/operators', () => {
    expect(Object.keys(operators).sort()).toEqual(['finalizeWith', 'graceAfter', 'hedge', 'livenessTimeout', 'releaseFirst', 'silence', 'stallMetrics']);
  });

  test.each(['index.ts', 'operators/index.ts'])('every type in a signature behind %s can be imported from it', (entry) => {
    const missing = unexportedTypes(fileURLToPath(new URL(`../lib/${entry}`, import.meta.url)));
    expect(missing.filter((name) => !innerTypes.includes(name))).toEqual([]);
  }, 60_000);

  test('errors carry the codes by which they are matched', () => {
    const { AllSourcesExhausted, CallDeadlineExceeded, ConfigError, GatewayClosedError, GovernanceBackendError, RateLimitedError, RequestError, SourceError, TransientError } = gateway;
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
    ]);
  });
});
