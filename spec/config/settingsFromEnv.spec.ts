import { describe, expect, test } from '@jest/globals';
import { NEVER } from 'rxjs';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import { scopeSettings, sourceSettings } from '../../lib/config/settings.js';
import type { GatewaySettings, SettingsTable } from '../../lib/config/settings.js';
import { settingsFromEnv } from '../../lib/config/settingsFromEnv.js';
import { oneSource, problemsOf } from './problemsOf.js';
import type { Source } from '../../lib/model/source.js';

function source(name: string, more: Record<string, string> = {}): Record<string, string> {
  const fields = { BASE_URL: `https://${name.toLowerCase().replace('__', '-')}.example/v1`, MODEL: 'm', ...more };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [`LLM__${name}__${key}`, value]));
}

function ids(env: Record<string, string>): string[] {
  return resolveSettings(settingsFromEnv('LLM', env)).settings.sources.map(({ id }) => id);
}

describe('numbers, strictly (CF-02)', () => {
  const refused = ['10s', '1e3', '1_000', '1,000', '0x10', '-1', '+1', 'NaN', 'inf', 'Infinity', '1e999', '\u0661\u0660', '1.', '.5', '0', '1 0', '--'];

  test.each(refused)('%j is refused for seconds and for counts, with keys and raw value, in one error', (raw) => {
    const env = { ...oneSource, LLM__A__1__TIMEOUT_S: raw, LLM__RETRY__MAX_ATTEMPTS: raw };
    const problems = problemsOf(() => settingsFromEnv('LLM', env));
    expect(problems).toHaveLength(2);
    expect(problems).toEqual(expect.arrayContaining([expect.stringContaining('LLM__A__1__TIMEOUT_S'), expect.stringContaining('LLM__RETRY__MAX_ATTEMPTS')]));
    for (const problem of problems) expect(problem).toContain(JSON.stringify(raw));
  });

  test.each([
    ['10', 10, 10],
    [' 10\r', 10, 10],
    ['1.5', 1.5, undefined],
    ['2147483', 2147483, 2147483],
    ['2147483.647', 2147483.647, undefined],
    ['2147484', undefined, 2147484],
    ['99999999999999999999', undefined, undefined],
  ])('%j gives %p seconds and the count %p (T5)', (raw, seconds, count) => {
    // The deadline stands in no relation that a long value could break.
    const read = (key: string) => () => settingsFromEnv('LLM', { ...oneSource, [key]: raw });
    if (seconds === undefined) expect(problemsOf(read('LLM__CALL__DEADLINE_S'))[0]).toContain(raw);
    else expect(read('LLM__CALL__DEADLINE_S')().callDeadlineS).toBe(seconds);
    if (count === undefined) expect(problemsOf(read('LLM__RETRY__MAX_ATTEMPTS'))[0]).toContain(raw);
    else expect(read('LLM__RETRY__MAX_ATTEMPTS')().maxAttempts).toBe(count);
  });
});

describe('quotes and line ends (CF-03)', () => {
  const withKey = (key: string) => () => settingsFromEnv('LLM', { ...oneSource, LLM__A__1__API_KEY: key });

  test.each(['sk-1', 'sk-1 ', ' sk-1', 'sk-1\r', 'sk-1\n', '\tsk-1\r\n'])('%j is trimmed without a word', (raw) => {
    const settings = withKey(raw)();
    expect(settings.sources[0]!.apiKey).toBe('sk-1');
    expect(settings.notices).toBeUndefined();
  });

  test.each(['"sk-1"', "'sk-1'", ' "sk-1" \n', '" sk-1 "'])('%j loses its quotes, with one warning that does not show it', (raw) => {
    const { settings, findings } = resolveSettings(withKey(raw)());
    expect(settings.sources[0]!.apiKey).toBe('sk-1');
    expect(findings).toEqual([{ level: 'warning', rule: 'quotes', key: 'LLM__A__1__API_KEY', message: expect.stringContaining('quotes') as unknown }]);
    expect(findings[0]!.message).not.toContain('sk-1');
  });

  test.each(['"sk-1', 'sk-1"', "'sk-1", '"', 'sk-1\nsk-2', 'sk-1\u0000', 'sk-\u20ac'])('%j is refused by name, without the value', (raw) => {
    const problems = problemsOf(withKey(raw));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('LLM__A__1__API_KEY');
    expect(problems[0]).not.toContain('sk-');
  });

  test('a base URL loses quotes and the slash at its end', () => {
    const { settings, findings } = resolveSettings(settingsFromEnv('LLM', { ...oneSource, LLM__A__1__BASE_URL: '"https://a.example/v1/"\r' }));
    expect(settings.sources[0]!.baseUrl).toBe('https://a.example/v1');
    expect(findings.map(({ rule }) => rule)).toEqual(['quotes']);
  });

  test.each([
    ['https://a.example/openai/deployments/x?api-version=2024-10-21', 'https://a.example/openai/deployments/x?api-version=2024-10-21'],
    ['https://a.example/v1/?a=b/', 'https://a.example/v1?a=b/'],
    ['https://a.example?path=/chat/completions', 'https://a.example?path=/chat/completions'],
    ['HTTPS://A.example:443/?', 'https://a.example'],
  ])('the base URL %j keeps its query', (raw, baseUrl) => {
    expect(resolveSettings(settingsFromEnv('LLM', { ...oneSource, LLM__A__1__BASE_URL: raw })).settings.sources[0]).toMatchObject({ baseUrl });
  });

  test.each([
    'a.example/v1',
    'ftp://a.example',
    'https://',
    'https://user:secret-word@a.example/v1',
    'https://user:secret-word@a.example/v1?api-version=1',
    'https://a.example/v1#x',
    'https://a.example/v1?key=secret-word#x',
    'https://a.example/v1#',
    'https://a.exa\nmple/v1',
    'https://a.example/v1/chat/completions',
    'https://a.example/v1/chat/completions/?key=secret-word',
    '"https://a.example/v1',
  ])('the base URL %j is refused, credentials not shown', (raw) => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...oneSource, LLM__A__1__BASE_URL: raw }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('LLM__A__1__BASE_URL');
    expect(problems[0]).not.toContain('secret-word');
  });

  test('quotes round JSON and round numbers are removed with a warning too', () => {
    const settings = settingsFromEnv('LLM', { ...oneSource, LLM__A__1__HEADERS: `'{"x-a":"1"}'`, LLM__A__1__RPM: '"5"' });
    expect(settings.sources[0]).toMatchObject({ headers: { 'x-a': '1' }, rpm: 5 });
    expect(settings.notices!.map(({ key }) => key)).toEqual(['LLM__A__1__HEADERS', 'LLM__A__1__RPM']);
  });
});

describe('numbered sources (CF-04)', () => {
  test('gaps do no harm, and the order is that of the numbers', () => {
    expect(ids({ ...source('A__10'), ...source('A__1'), ...source('A__3') })).toEqual(['a/1', 'a/3', 'a/10']);
  });

  test('providers keep the order in which they appear', () => {
    expect(ids({ ...source('Z__2'), ...source('B__1'), ...source('Z__1') })).toEqual(['z/1', 'z/2', 'b/1']);
  });

  test('a source whose keys are all empty is left out with a notice that reaches the findings', () => {
    const env = { ...source('A__1'), ...source('A__2', { BASE_URL: '', MODEL: ' \r', API_KEY: '""' }), ...source('A__3') };
    const { settings, findings } = resolveSettings(settingsFromEnv('LLM', env));
    expect(settings.sources.map(({ id }) => id)).toEqual(['a/1', 'a/3']);
    expect(findings).toEqual([expect.objectContaining({ rule: 'blank-source', key: 'LLM__A__2' })]);
  });

  test('a source that is only partly empty lacks something', () => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...source('A__1'), ...source('A__2', { BASE_URL: '' }) }));
    expect(problems).toEqual([expect.stringContaining('LLM__A__2__BASE_URL (sources[1].baseUrl) is missing')]);
  });

  test.each(['01', '0', '-1', 'x', '1.5', '', '\u0661', '99999999999999999999'])('the number %j is refused', (n) => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...source('A__1'), [`LLM__A__${n}__MODEL`]: 'm' }));
    expect(problems).toEqual([expect.stringContaining(`LLM__A__${n}__MODEL`)]);
  });
});

describe('names (CF-05, CF-06, C7)', () => {
  test('providers that differ only in case are refused, both named', () => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...source('Acme__1'), LLM__ACME__2__MODEL: 'm' }));
    expect(problems[0]).toMatch(/LLM__ACME__2__MODEL.*ACME.*Acme/);
  });

  test.each(['A ', '1A', '_A', 'A_', 'A.B', '\u00c4'])('the provider %j is refused', (name) => {
    expect(problemsOf(() => settingsFromEnv('LLM', { ...oneSource, [`LLM__${name}__1__MODEL`]: 'm' }))).toHaveLength(1);
  });

  test.each(['STREAM', 'HEDGE', 'RETRY', 'CALL', 'BACKPRESSURE', 'BREAKER', 'SELECT', 'BACKEND', 'TELEMETRY', 'hedge'])('the group %s cannot name a provider (C7)', (name) => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...oneSource, [`LLM__${name}__1__MODEL`]: 'm' }));
    expect(problems).toEqual([expect.stringMatching(new RegExp(`LLM__${name}__1__MODEL.*C7`))]);
  });

  test('names that could be joined to one another stay two sources', () => {
    expect(ids({ ...source('a-b__1', { MODEL: 'c' }), ...source('a__1', { MODEL: 'b-c' }) })).toEqual(['a-b/1', 'a/1']);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', 'then', 'valueOf'])('%s is a provider like any other', (name) => {
    expect(ids({ ...source(`${name}__1`), ...source(`${name}__2`) })).toEqual([`${name.toLowerCase()}/1`, `${name.toLowerCase()}/2`]);
  });

  test('__proto__ is refused wherever it stands, and no prototype changes', () => {
    const env = { ...oneSource, LLM____proto____1__KEY: '1', LLM____PROTO____KEY: '1', LLM__A__1____proto__: '1' };
    expect(problemsOf(() => settingsFromEnv('LLM', env))).toHaveLength(3);
    for (const json of ['{"__proto__":"x"}', '{"a":{"__proto__":{"polluted":1}}}']) {
      expect(problemsOf(() => settingsFromEnv('LLM', { ...oneSource, LLM__A__1__EXTRA_BODY: json }))).toHaveLength(1);
    }
    expect(problemsOf(() => settingsFromEnv('LLM', { ...oneSource, LLM__A__1__HEADERS: '{"__proto__":"x"}' }))).toHaveLength(1);
    expect(({} as Record<string, unknown>)['polluted'] ?? ({} as Record<string, unknown>)['KEY']).toBeUndefined();
  });
});

describe('keys', () => {
  test.each([
    ['LLM__HEDGE__STALL_AFTER', 'LLM__HEDGE__STALL_AFTER_S'],
    ['LLM__hedge__after_s', 'LLM__HEDGE__AFTER_S'],
    ['LLM__STREM__STALL_THRESHOLD_MS', 'LLM__STREAM__STALL_THRESHOLD_MS'],
    ['LLM__STALL_THRESHOLD_MS', 'LLM__STREAM__STALL_THRESHOLD_MS'],
    ['LLM__A__1__APIKEY', 'LLM__A__1__API_KEY'],
    ['LLM__A__1__base_url', 'LLM__A__1__BASE_URL'],
    ['LLM__A__BASE_URL', 'LLM__A__1__BASE_URL'],
    ['LLM__HEDGE__STALL__AFTER__S', 'LLM__HEDGE__STALL_AFTER_S'],
  ])('the unknown key %s is answered with %s, without its value', (key, suggested) => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...oneSource, [key]: 'a-secret-value' }));
    expect(problems).toEqual([expect.stringContaining(`${key} is not a known key: did you mean ${suggested}?`)]);
    expect(problems[0]).not.toContain('a-secret-value');
  });

  test('every bad key is told at once, unknown ones, bad values, missing ones and C rules together', () => {
    const env = {
      LLM__A__1__BASE_URL: 'nowhere',
      LLM__A__1__TIMEOUT_S: '10s',
      LLM__A__1__THINK_TAGS: 'yes',
      LLM__A__1__PROTOCOL: 'anthropic',
      LLM__A__1__HEADERS: 'x-a: 1',
      LLM__B__1__MODEL: 'm',
      LLM__STREAM__STALL_THRESHOLD_MS: '0',
      LLM__RETRY__MAX_ATTEMPTS: '0',
      LLM__BREAKER__RATIO: '1.5',
      LLM__SELECT__STRATEGY: 'random',
      LLM__BACKEND__URL: 'http://x',
      LLM__TELEMETRY__URL: 'mysql://u:secret-word@h/d',
      LLM__HEDGE__AFTER_S: '50',
      LLM__CALL__DEADLINE_S: '50',
      LLM__TYPO__X: '1',
    };
    const text = problemsOf(() => settingsFromEnv('LLM', env)).join('\n');
    const named = ['A__1__MODEL', 'B__1__BASE_URL', ...Object.keys(env).map((key) => key.slice(5))].filter((key) => key !== 'B__1__MODEL');
    for (const key of named) expect(text).toContain(`LLM__${key}`);
    expect(text).toContain('sqlite:./telemetry.db');
    expect(text).not.toContain('secret-word');
  });

  test('a value that was refused makes no second problem', () => {
    const env = { ...oneSource, LLM__A__1__TIMEOUT_S: 'x', LLM__A__1__TTFT_TIMEOUT_S: '400', LLM__BACKPRESSURE__STALL_WINDOW_S: 'x', LLM__HEDGE__STALL_AFTER_S: '400' };
    expect(problemsOf(() => settingsFromEnv('LLM', env))).toHaveLength(2);
  });

  test('keys of other scopes are not looked at, even where one name begins with the other', () => {
    const env = { ...oneSource, LLM_FAST__A__1__BASE_URL: 'https://fast.example', LLM_FAST__A__1__MODEL: 'fast', LLM_FAST__TYPO__X: '1', LLM: 'x', PATH: '/bin', OCR__X: '1' };
    expect(settingsFromEnv('LLM', env)).toEqual({ scope: 'LLM', sources: [{ provider: 'a', baseUrl: 'https://a.example/v1', model: 'm' }] });
    expect(problemsOf(() => settingsFromEnv('LLM_FAST', env))).toEqual([expect.stringContaining('LLM_FAST__TYPO__X')]);
  });

  test('case does not matter in the scope, and one setting in two spellings is refused', () => {
    expect(settingsFromEnv('llm', oneSource).sources).toHaveLength(1);
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...oneSource, llm__A__1__MODEL: 'n' }));
    expect(problems).toEqual([expect.stringMatching(/llm__A__1__MODEL and LLM__A__1__MODEL are the same/)]);
  });

  test.each([[{}], [{ LLM__A__1__BASE_URL: '', LLM__TYPO__X: ' ' }], [{ LLM_FAST__A__1__MODEL: 'm' }]])('nothing set (%j): the error shows how to begin', (env) => {
    const [problem] = problemsOf(() => settingsFromEnv('LLM', env));
    expect(problem).toMatch(/nothing is set.*LLM__OPENAI__1__BASE_URL=.*LLM__OPENAI__1__MODEL=/);
  });

  test.each(['', 'A__B', '1A', 'A B', '__proto__', 'A_'])('the scope %j is refused', (scope) => {
    expect(problemsOf(() => settingsFromEnv(scope, oneSource))).toEqual([expect.stringContaining('scope')]);
  });

  test('scope keys without a source are of use beside ports only', () => {
    const settings = settingsFromEnv('LLM', { LLM__HEDGE__STALL_AFTER_S: '20' });
    const port: Source = { id: 'port', provider: 'port', model: 'm', limits: {}, stream: () => NEVER };
    expect(problemsOf(() => resolveSettings(settings))).toEqual([expect.stringContaining('LLM__OPENAI__1__BASE_URL')]);
    expect(problemsOf(() => resolveSettings(settings, { sources: [port] }))).toEqual([]);
  });
});

describe('environment and literal (CF-02 to CF-06)', () => {
  const literal: GatewaySettings = {
    scope: 'LLM',
    sources: [
      {
        provider: 'openai', baseUrl: 'https://a.example/v1', model: 'm', apiKey: 'sk-1', protocol: 'openai', timeoutS: 200, ttftTimeoutS: 100, interTokenTimeoutS: 50,
        connectTimeoutS: 5, rpm: 10, tpm: 20, maxConcurrency: 3, maxBatch: 4, priority: 1, weight: 2.5, headers: { 'x-a': '1' }, extraBody: { top_k: 20, deep: { a: [1] } }, thinkTags: true,
      },
      { provider: 'openai', n: 3, baseUrl: 'https://b.example/v1', model: 'm' },
    ],
    stallThresholdMs: 800, hedgeAfterS: 15, hedgeStallAfterS: 20, hedgeMaxRatio: 0.1, hedgeMaxBackups: 2, maxAttempts: 4, backoffS: 1, backoffMaxS: 20, callDeadlineS: 500,
    backpressure: 'fail_fast', stallWindowS: 200, pollS: 0.25, breakerFailures: 3, breakerCooldownS: 10, breakerCooldownMaxS: 100, breakerRatio: 0.4, breakerWindowS: 30,
    breakerMinCalls: 5, selectStrategy: 'least_busy', backendLeaseTtlS: 10, backendUrl: 'redis://h:6379', telemetryUrl: 'sqlite:./t.db', telemetrySchema: 'manual', telemetryPropagate: false, telemetryWatch: '/run/me/watch.sock',
  };

  test('give the same settings, findings and defaults, for every key there is', () => {
    const env: Record<string, string> = {};
    const write = (prefix: string, table: SettingsTable, values: object): void => {
      for (const [field, value] of Object.entries(values)) {
        const key = table[field]?.key;
        if (key !== undefined) env[prefix + key] = typeof value === 'string' ? value : JSON.stringify(value);
      }
    };
    write('LLM__', scopeSettings, literal);
    write('LLM__OPENAI__1__', sourceSettings, literal.sources[0]!);
    write('LLM__OPENAI__3__', sourceSettings, literal.sources[1]!);
    expect(Object.keys(literal.sources[0]!).sort()).toEqual(['provider', ...Object.keys(sourceSettings)].sort());
    expect(Object.keys(literal).sort()).toEqual(['scope', 'sources', ...Object.keys(scopeSettings)].sort());

    expect(settingsFromEnv('LLM', env)).toEqual(literal);
    expect(resolveSettings(settingsFromEnv('LLM', env))).toEqual(resolveSettings(literal));
  });
});
