import { describe, expect, test } from '@jest/globals';
import { errorJson, errorLines } from '../../lib/cli/errorLines.js';
import { exitCodeOf } from '../../lib/cli/exitCodes.js';
import { createPaint } from '../../lib/cli/paint.js';
import { secretsInEnv } from '../../lib/cli/secretsInEnv.js';
import { WrongUse } from '../../lib/cli/wrongUse.js';
import { AllSourcesExhausted, ConfigError, SourceError, TransientError } from '../../lib/model/errors.js';

const paint = createPaint(false);

describe('errorLines', () => {
  const reset = Object.assign(new Error('read\n  ECONNRESET'), { code: 'ECONNRESET' });
  const first = new TransientError('the connection failed', { cause: reset });
  const second = new SourceError('no such model');
  const both = new TransientError('both attempts failed', { cause: new AggregateError([first, second], 'primary and backup') });
  const error = new AllSourcesExhausted('gave up after 2 attempts', { reason: 'retry_exhausted', cause: both });
  const head = 'error all_sources_exhausted: retry_exhausted - gave up after 2 attempts: read ECONNRESET / no such model; try again later, raise RETRY__MAX_ATTEMPTS, or add a source';

  test('one line: code, reason and message, the root of each branch of a hedge, and what to do', () => {
    expect(errorLines(error, { paint })).toEqual([head]);
  });

  test('verbose: each cause in one line below it', () => {
    expect(errorLines(error, { paint, verbose: true })).toEqual([
      head,
      '  cause: transient - both attempts failed',
      '  cause: transient - the connection failed',
      '  cause: read ECONNRESET',
      '  cause: source - no such model',
    ]);
  });

  test('a root that is quoted already is not said twice, and of two that say the same the longer one is', () => {
    const timeout = new Error('waited 2 s');
    const silent = new TransientError('a/1 fell silent: waited 2 s', { cause: timeout });
    expect(errorLines(silent, { paint })).toEqual([expect.stringMatching(/^error transient - a\/1 fell silent: waited 2 s; try again/)]);
    expect(errorLines(new SourceError('out', { cause: silent }), { paint })).toEqual([expect.stringMatching(/^error source - out: a\/1 fell silent: waited 2 s; look/)]);
  });

  test('a long root is cut, after keys are taken out of it; --verbose has it whole', () => {
    const long = new Error(`${'x'.repeat(190)} zebra-crossing-7 ${'y'.repeat(300)}`);
    const [line = '', cause = ''] = errorLines(new SourceError('out', { cause: long }), { paint, secrets: ['zebra-crossing-7'], verbose: true });
    expect(line).not.toMatch(/zebra|yy/);
    expect(line.length).toBeLessThan(400);
    expect(cause).toContain(`[masked] ${'y'.repeat(300)}`);
  });

  test('several settings that are wrong: each problem keeps its line', () => {
    expect(errorLines(new ConfigError(['A is x: write y', 'B\nis z']), { paint })).toEqual([expect.stringMatching(/^error config - 2 settings are wrong; `polygateway doctor` /), '  - A is x: write y', '  - B is z']);
    expect(errorLines(new ConfigError(['A is x: write y']), { paint })).toEqual([expect.stringMatching(/^error config - A is x: write y; `polygateway doctor` /)]);
  });

  test('R7 no key: neither a known one nor what looks like one', () => {
    const error = new SourceError('refused zebra-crossing-7', { cause: new Error('Authorization: Bearer abcdef123456') });
    const text = [...errorLines(error, { paint, secrets: ['zebra-crossing-7'] }), JSON.stringify(errorJson(error, ['zebra-crossing-7']))].join('\n');
    expect(text).not.toMatch(/zebra|abcdef123456/);
    expect(text).toContain('refused [masked]');
  });

  test('anything can be thrown, and causes may go in circles', () => {
    expect(errorLines('just text', { paint })).toEqual(['error - just text']);
    const round = new Error('round');
    round.cause = round;
    expect(errorLines(round, { paint })).toEqual(['error - round']);
    expect(errorLines(round, { paint, verbose: true })).toEqual(['error - round', '  cause: round']);
  });
});

describe('secretsInEnv', () => {
  test('R7 keys and the values of headers, as they are, unquoted, and without the scheme before them', () => {
    const env = {
      LLM__A__1__API_KEY: ' "zebra-crossing-7" ',
      ocr__b__2__headers: `'{"x-team":"blue-whale","authorization":"Token red-panda-11","n":5}'`,
      LLM__C__1__HEADERS: '{"broken',
      LLM__C__1__MODEL: 'seen',
      PATH: 'seen',
    };
    const secrets = secretsInEnv(env);
    for (const secret of ['zebra-crossing-7', 'blue-whale', 'Token red-panda-11', 'red-panda-11']) expect(secrets).toContain(secret);
    expect(secrets).not.toContain('seen');
    expect(secretsInEnv({ LLM__A__1__HEADERS: '', LLM__A__1__API_KEY: undefined })).toEqual([]);
  });
});

describe('exitCodeOf', () => {
  test('2 wrong use, 3 refused configuration, else 1', () => {
    expect([new WrongUse('x'), new ConfigError(['x']), new SourceError('x'), 'text'].map(exitCodeOf)).toEqual([2, 3, 1, 1]);
  });
});
