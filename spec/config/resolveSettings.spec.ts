import { describe, expect, test } from '@jest/globals';
import { describeSettings } from '../../lib/config/describeSettings.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import type { GatewaySettings } from '../../lib/config/settings.js';
import { problemsOf } from './problemsOf.js';

const a = { provider: 'a', baseUrl: 'https://a.example/v1', model: 'm' };
const b = { provider: 'b', baseUrl: 'https://b.example/v1', model: 'm' };

function problems(settings: object): readonly string[] {
  return problemsOf(() => resolveSettings({ scope: 'LLM', sources: [a, b], ...settings }));
}

function findings(settings: Partial<GatewaySettings>): unknown[] {
  return resolveSettings({ scope: 'LLM', sources: [a, b], ...settings }).findings.map(({ rule, key }) => `${rule} ${key}`);
}

test('the defaults are those of the settings table, optional fields stay absent', () => {
  const { settings } = resolveSettings({ scope: 'LLM', sources: [{ ...a, timeoutS: 250 }] });
  expect(settings).toStrictEqual({
    scope: 'LLM',
    sources: [
      {
        id: 'a/1', provider: 'a', baseUrl: 'https://a.example/v1', model: 'm', protocol: 'openai', timeoutS: 250, ttftTimeoutS: 120, interTokenTimeoutS: 250, connectTimeoutS: 10,
        maxBatch: 128, priority: 0, weight: 1, thinkTags: false,
      },
    ],
    stallThresholdMs: 1000, hedgeMaxBackups: 1, maxAttempts: 3, backoffS: 0.5, backoffMaxS: 30, backpressure: 'wait', stallWindowS: 300, pollS: 0.5, breakerFailures: 5,
    breakerCooldownS: 30, breakerCooldownMaxS: 300, breakerRatio: 0.5, breakerWindowS: 60, breakerMinCalls: 10, selectStrategy: 'priority', backendLeaseTtlS: 15, telemetrySchema: 'auto', telemetryPropagate: true,
  });
});

test('what was resolved does not change with the object it came from', () => {
  const source = { ...a, headers: { 'x-a': '1' }, extraBody: { deep: { k: 1 } } };
  const { settings } = resolveSettings({ scope: 'LLM', sources: [source] });
  source.headers['x-a'] = '2';
  source.extraBody.deep.k = 2;
  expect(settings.sources[0]).toMatchObject({ headers: { 'x-a': '1' }, extraBody: { deep: { k: 1 } } });
});

describe('ids (CF-05)', () => {
  test('are the provider in lower case and the number, or the place among the sources of the provider', () => {
    const sources = [{ ...a, provider: 'Acme' }, b, { ...a, provider: 'Acme' }, { ...a, provider: 'Acme', n: 7 }];
    expect(resolveSettings({ scope: 'LLM', sources }).settings.sources.map(({ id }) => id)).toEqual(['acme/1', 'b/1', 'acme/2', 'acme/7']);
  });

  test('the same id twice is refused, both places named', () => {
    expect(problems({ sources: [{ ...a, n: 2 }, { ...a }] })).toEqual([expect.stringMatching(/sources\[0\] and sources\[1\] are both a\/2/)]);
  });

  test('providers that differ only in case are refused, both places named', () => {
    expect(problems({ sources: [a, { ...b, provider: 'A' }] })).toEqual([expect.stringMatching(/sources\[0\] and sources\[1\].*"a" and "A"/)]);
  });

  test.each(['', 'a ', 'hedge', '__proto__', 7, undefined])('the provider %p is refused', (provider) => {
    expect(problems({ sources: [{ ...a, provider }] })).toEqual([expect.stringContaining('sources[0].provider')]);
  });

  test('one base URL and key under two names is allowed, with a warning', () => {
    const twin = { ...b, baseUrl: 'HTTPS://A.example:443/v1/' };
    expect(findings({ sources: [a, twin] })).toEqual(['same-upstream LLM__B__1__BASE_URL']);
    expect(findings({ sources: [a, { ...twin, apiKey: 'another' }] })).toEqual([]);
  });
});

describe('values of a literal', () => {
  test('a key loses blanks, line end and quotes there too, with one warning for the quotes (CF-03)', () => {
    const { settings, findings: found } = resolveSettings({ scope: 'LLM', sources: [{ ...a, apiKey: 'sk-1\n' }, { ...b, apiKey: "'sk-2' " }] });
    expect(settings.sources.map(({ apiKey }) => apiKey)).toEqual(['sk-1', 'sk-2']);
    expect(found.map(({ rule, message }) => [rule, message.includes('sources[1].apiKey'), message.includes('sk-')])).toEqual([['quotes', true, false]]);
  });

  test('not even a short key is shown', () => {
    expect(problems({ sources: [{ ...a, apiKey: '"ab' }] })).toEqual(['LLM__A__1__API_KEY (sources[0].apiKey) has a quote at one end: write it without quotes']);
  });

  const bad: [string, unknown][] = [
    ['stallThresholdMs', 0], ['stallThresholdMs', 1.5], ['stallThresholdMs', 2 ** 31], ['hedgeAfterS', 0], ['hedgeAfterS', -1], ['hedgeStallAfterS', Infinity], ['hedgeStallAfterS', '20'],
    ['callDeadlineS', NaN], ['callDeadlineS', 2147483.648], ['pollS', 0], ['maxAttempts', 0], ['maxAttempts', 2.5], ['breakerRatio', 0], ['breakerRatio', 1.1], ['hedgeMaxRatio', 10],
    ['backpressure', 'block'], ['selectStrategy', 'toString'], ['telemetrySchema', null], ['telemetryUrl', 'sqlite:'], ['telemetryUrl', 'mysql://h/d'], ['backendUrl', 'localhost:6379'], ['scope', 'A__B'],
    ['telemetryWatch', 'true'], ['telemetryWatch', `/${'x'.repeat(103)}`],
  ];
  test.each(bad)('%s: %p is refused by field and env key (C1, T5)', (field, value) => {
    const found = problems({ [field]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(field);
    if (field !== 'scope') expect(found[0]).toMatch(/^LLM__[A-Z]+__[A-Z_]+ \(/);
  });

  const badInSource: [string, unknown][] = [
    ['timeoutS', 0], ['baseUrl', ''], ['baseUrl', undefined], ['model', ' '], ['model', 5], ['model', 'm\nn'], ['apiKey', ''], ['apiKey', 'sk-1\nsk-2'], ['rpm', 0], ['priority', -1], ['weight', Infinity], ['thinkTags', 'true'],
    ['protocol', 'gemini'], ['n', 0], ['headers', []], ['headers', new Map([['x-a', '1']])], ['headers', { 'x a': '1' }], ['headers', { 'x-a': 'one\ntwo' }], ['headers', { 'x-a': '\u20ac' }],
    ['headers', { 'x-a': 1 }], ['headers', { 'X-A': '1', 'x-a': '1' }], ['headers', { 'Content-Length': '1' }], ['extraBody', [1]], ['extraBody', { big: 1n }],
  ];
  test.each(badInSource)('sources[0].%s: %p is refused by its path', (field, value) => {
    const found = problems({ sources: [{ ...a, [field]: value }, b] });
    expect(found).toEqual([expect.stringContaining(`sources[0].${field}`)]);
  });

  test('an unknown field is refused with the nearest known one', () => {
    expect(problems({ hedgeStallAfter: 20, constructor: 1, sources: [{ ...a, baseURL: 'x' }] })).toEqual([
      'hedgeStallAfter is not a setting: did you mean hedgeStallAfterS?',
      expect.stringMatching(/^constructor is not a setting/),
      'sources[0].baseURL is not a setting: did you mean sources[0].baseUrl?',
    ]);
  });

  test('a field that is undefined is not set', () => {
    expect(problems({ hedgeAfterS: undefined, notices: undefined })).toEqual([]);
  });

  test.each([[undefined], [[]], ['a'], [[null]], [['a']]])('sources: %j are refused', (sources) => {
    expect(problems({ sources })).toHaveLength(1);
  });

  test.each([undefined, null, 'LLM', []])('settings that are %j are a ConfigError', (settings) => {
    expect(problemsOf(() => resolveSettings(settings as unknown as GatewaySettings)).length).toBeGreaterThan(0);
  });
});

test('a setting that is meant as it stands is no finding', () => {
  const governed = { hedgeMaxBackups: 2, breakerFailures: 5, selectStrategy: 'steady', backendLeaseTtlS: 15, backendUrl: 'redis://h' } as const;
  expect(findings({ ...governed, sources: [{ ...a, weight: 2, rpm: 5 }, b] })).toEqual([]);
});

test('the table for people holds each key once, with default and meaning', () => {
  const rows = describeSettings();
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  expect(rows.every((row) => row.what.endsWith('.') && row.default !== '')).toBe(true);
  expect(rows).toContainEqual(expect.objectContaining({ level: 'source', key: '<SCOPE>__<PROVIDER>__<N>__INTER_TOKEN_TIMEOUT_S', default: '= TIMEOUT_S' }));
  expect(rows).toContainEqual(expect.objectContaining({ level: 'scope', key: '<SCOPE>__STREAM__STALL_THRESHOLD_MS', field: 'stallThresholdMs', default: '1000' }));
});
