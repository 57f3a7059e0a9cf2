import { describe, expect, test } from '@jest/globals';
import { NEVER } from 'rxjs';
import type { Observable } from 'rxjs';
import { limitsOf, secondsToMs } from '../../lib/config/limitsOf.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import type { GatewaySettings, SourceSettings } from '../../lib/config/settings.js';
import type { ChatDelta } from '../../lib/model/delta.js';
import type { Source } from '../../lib/model/source.js';
import { problemsOf } from './problemsOf.js';

function source(provider: string, more: Partial<SourceSettings> = {}): SourceSettings {
  return { provider, baseUrl: `https://${provider}.example`, model: 'm', ...more };
}

/** The rules that speak up: refusals as `C2!`, warnings as `C5`. */
function rules(settings: Partial<GatewaySettings>): string[] {
  const whole: GatewaySettings = { scope: 'LLM', sources: [source('a'), source('b')], ...settings };
  const problems = problemsOf(() => resolveSettings(whole));
  if (problems.length > 0) return problems.map((problem) => `${/\((C\d)\)$/.exec(problem)?.[1] ?? problem}!`);
  return resolveSettings(whole).findings.map(({ rule }) => rule);
}

const two = (more: Partial<SourceSettings>): SourceSettings[] => [source('a'), source('b', more)];

describe('C2: the stall hedge must come before the shortest silence that ends an attempt', () => {
  test.each([
    [19.999, { interTokenTimeoutS: 20 }, []],
    [20, { interTokenTimeoutS: 20 }, ['C2!']],
    [299.999, {}, []],
    [300, {}, ['C2!']],
    [49.999, { timeoutS: 50 }, []],
    [50, { timeoutS: 50 }, ['C2!']],
    [50, { timeoutS: 50, interTokenTimeoutS: 400 }, ['C2!']],
  ])('%p s against %j', (hedgeStallAfterS, limits, expected) => {
    expect(rules({ hedgeStallAfterS, sources: two(limits) })).toEqual(expected);
  });

  test('names both keys, both values and the source', () => {
    const [problem] = problemsOf(() => resolveSettings({ scope: 'LLM', sources: two({ interTokenTimeoutS: 15 }), hedgeStallAfterS: 20 }));
    for (const part of ['LLM__HEDGE__STALL_AFTER_S (hedgeStallAfterS) is 20', 'INTER_TOKEN_TIMEOUT_S (interTokenTimeoutS) of b/1', '15 s', 'set it below 15']) expect(problem).toContain(part);
  });
});

describe('C3: the first-increment hedge must come before the end of an attempt, and should before the first-increment limit', () => {
  test.each([
    [119.999, {}, []],
    [120, {}, ['C3']],
    [10, { ttftTimeoutS: 10 }, ['C3']],
    [9.999, { ttftTimeoutS: 10 }, []],
    [60, { timeoutS: 60, ttftTimeoutS: 120 }, ['C3!']],
    [59.999, { timeoutS: 60, ttftTimeoutS: 120 }, []],
  ])('%p s against %j', (hedgeAfterS, limits, expected) => {
    expect(rules({ hedgeAfterS, sources: two(limits) })).toEqual(expected);
  });
});

describe('C4: a hedge must come before the deadline', () => {
  test.each([
    [{ hedgeAfterS: 10, callDeadlineS: 10 }, ['C4!']],
    [{ hedgeAfterS: 9.999, callDeadlineS: 10 }, []],
    [{ hedgeStallAfterS: 10, callDeadlineS: 10 }, ['C4!']],
    [{ hedgeStallAfterS: 9.999, callDeadlineS: 10 }, []],
    [{ hedgeAfterS: 11, hedgeStallAfterS: 11, callDeadlineS: 10 }, ['C4!', 'C4!']],
  ])('%j', (settings, expected) => {
    expect(rules(settings)).toEqual(expected);
  });
});

test.each([
  [{ hedgeAfterS: 10 }, ['C5']],
  [{ hedgeStallAfterS: 10 }, ['C5']],
  [{}, []],
])('C5: one source with %j gives %j', (settings, expected) => {
  expect(rules({ ...settings, sources: [source('a')] })).toEqual(expected);
  expect(rules(settings)).toEqual([]);
});

test.each(['EMBEDDING', 'OCR', 'embedding', 'Ocr'])('C6: hedging is ignored in the scope %s', (scope) => {
  expect(rules({ scope, hedgeAfterS: 10 })).toEqual(['C6']);
  expect(rules({ scope })).toEqual([]);
});

test('C6: a chat scope gets no such warning', () => {
  expect(rules({ scope: 'LLM', hedgeAfterS: 10 })).toEqual([]);
  expect(rules({ scope: 'OCR_CHAT', hedgeAfterS: 10 })).toEqual([]);
});

test('G6: a lease that a busy process could not renew in time is refused', () => {
  expect(problemsOf(() => resolveSettings({ scope: 'LLM', sources: two({}), backendLeaseTtlS: 0.999 }))).toEqual([expect.stringMatching(/^LLM__BACKEND__LEASE_TTL_S \(backendLeaseTtlS\) is 0\.999, .* set it to 1 or more$/)]);
  expect(() => resolveSettings({ scope: 'LLM', sources: two({}), backendLeaseTtlS: 1 })).not.toThrow();
});

describe('C8: the stall window must reach the longest first-increment limit', () => {
  test.each([
    [{ stallWindowS: 120 }, []],
    [{ stallWindowS: 119.999 }, ['C8!']],
    [{ stallWindowS: 300, sources: two({ ttftTimeoutS: 300 }) }, []],
    [{ stallWindowS: 300, sources: two({ ttftTimeoutS: 300.001 }) }, ['C8!']],
  ])('%j', (settings, expected) => {
    expect(rules(settings)).toEqual(expected);
  });

  test('nothing relates the window to the whole attempt or to the number of attempts (B6)', () => {
    const sources = [source('a', { timeoutS: 3000, ttftTimeoutS: 300 })];
    expect(rules({ stallWindowS: 300, maxAttempts: 50, sources })).toEqual([]);
  });
});

describe('limits that contradict each other get the C rules only (CF-09)', () => {
  test.each([
    [{ hedgeAfterS: 10, sources: two({ ttftTimeoutS: 10 }) }, ['C3']],
    [{ hedgeStallAfterS: 20, sources: two({ interTokenTimeoutS: 15 }) }, ['C2!']],
    [{ callDeadlineS: 5, sources: two({ ttftTimeoutS: 10 }) }, []],
    [{ backoffS: 30, stallWindowS: 10, sources: [source('a', { ttftTimeoutS: 10 })] }, []],
  ])('%j', (settings, expected) => {
    expect(rules(settings)).toEqual(expected);
  });
});

const port: Source = { id: 'port/1', provider: 'port', model: 'm', limits: {}, stream: () => NEVER };

describe('ports in place of sources', () => {
  const settings: GatewaySettings = { scope: 'LLM', sources: two({ interTokenTimeoutS: 5, timeoutS: 5 }), hedgeStallAfterS: 20, hedgeAfterS: 20 };
  const withPorts = (...limits: { timeoutMs?: number; ttftTimeoutMs?: number; interTokenTimeoutMs?: number }[]) =>
    resolveSettings(settings, { sources: limits.map((each, index) => ({ ...port, id: `port/${index + 1}`, limits: each })) });

  test('are checked instead of them; an absent limit is none', () => {
    expect(withPorts({}, {}).findings).toEqual([]);
    expect(withPorts({}).findings.map(({ rule }) => rule)).toEqual(['C5', 'C5']);
    expect(withPorts({}, { ttftTimeoutMs: 20_000 }).findings.map(({ rule }) => rule)).toEqual(['C3']);
    expect(withPorts({}, {}).settings.sources).toEqual([]);
  });

  test('are refused by the same rules', () => {
    expect(problemsOf(() => withPorts({}, { interTokenTimeoutMs: 20_000 }))).toEqual([expect.stringMatching(/of port\/2.*\(C2\)/)]);
    expect(problemsOf(() => withPorts({}, { timeoutMs: 20_000 }))).toEqual([expect.stringMatching(/\(C2\)/), expect.stringMatching(/\(C3\)/)]);
    expect(problemsOf(() => withPorts({}, { ttftTimeoutMs: 300_001 }))).toEqual([expect.stringMatching(/\(C8\)/)]);
  });
});

describe('a port by itself', () => {
  const problems = (...ports: unknown[]): readonly string[] =>
    problemsOf(() => resolveSettings({ scope: 'LLM', sources: [], stallWindowS: 2147483.647 }, { sources: ports as Source[] }));

  test.each(['timeoutMs', 'ttftTimeoutMs', 'interTokenTimeoutMs'])('%s is absent or a time that a timer can hold (T5, C1)', (limit) => {
    for (const ms of [undefined, 0.5, 1, 2 ** 31 - 1]) expect(problems({ ...port, limits: { [limit]: ms } })).toEqual([]);
    for (const ms of [0, -1, NaN, Infinity, 2 ** 31, '1', null]) {
      expect(problems({ ...port, limits: { [limit]: ms } })).toEqual([expect.stringMatching(new RegExp(`^sources\\[0\\]\\.limits\\.${limit} is .*, which must be`))]);
    }
  });

  test.each([
    ['maxConcurrency', [undefined, 1, 7], [0, -1, 1.5, NaN, Infinity, '1']],
    ['priority', [undefined, 0, -1, 0.5], [NaN, Infinity, '1']],
    ['id', ['a', 'any text'], ['', ' ', 7, undefined, null]],
    ['provider', ['a', ''], [undefined, 7]],
    ['model', ['a', ''], [undefined, 7]],
    ['limits', [{}, { timeoutMs: 5 }], [undefined, null, [], 'x', 5]],
    ['stream', [() => NEVER], [undefined, null, NEVER, {}]],
  ])('%s', (field, good, bad) => {
    for (const value of good) expect(problems({ ...port, [field]: value })).toEqual([]);
    for (const value of bad) expect(problems({ ...port, [field]: value })).toEqual([expect.stringContaining(`sources[0].${field}`)]);
  });

  test.each([[], [null], ['a'], [[]]])('%j in place of a port', (...ports) => {
    expect(problems(...ports)).toHaveLength(1);
  });

  test('what is no list', () => {
    expect(problemsOf(() => resolveSettings({ scope: 'LLM', sources: [] }, { sources: {} as Source[] }))).toHaveLength(1);
  });

  test('an instance of a class will do', () => {
    class Local implements Source {
      readonly id = 'local/1';
      readonly provider = 'local';
      readonly model = 'm';
      get limits(): Source['limits'] {
        return {};
      }
      stream(): Observable<ChatDelta> {
        return NEVER;
      }
    }
    expect(problems(new Local())).toEqual([]);
  });

  test('twins are refused, both places named', () => {
    expect(problems(port, { ...port, id: 'b' }, { ...port })).toEqual([expect.stringMatching(/sources\[0\] and sources\[2\].*"port\/1"/)]);
  });

  test('everything that is wrong is told at once, and what is wrong nowhere else', () => {
    const bad = { ...port, limits: { timeoutMs: 0, ttftTimeoutMs: NaN }, maxConcurrency: 0 };
    const act = (): unknown => resolveSettings({ scope: 'LLM', sources: [], hedgeAfterS: 10, maxAttempts: 0 }, { sources: [bad, { ...port, id: '', stream: 1 } as unknown as Source] });
    expect(problemsOf(act).map((problem) => problem.split(' ')[0])).toEqual([
      'sources[0].maxConcurrency',
      'sources[0].limits.timeoutMs',
      'sources[0].limits.ttftTimeoutMs',
      'sources[1].id',
      'sources[1].stream',
      'LLM__RETRY__MAX_ATTEMPTS',
    ]);
  });
});

test('limits are handed on in milliseconds without the noise of binary fractions', () => {
  const [resolved] = resolveSettings({ scope: 'LLM', sources: [source('a', { timeoutS: 1.005, ttftTimeoutS: 0.3 })] }).settings.sources;
  expect(limitsOf(resolved!)).toEqual({ timeoutMs: 1005, ttftTimeoutMs: 300, interTokenTimeoutMs: 1005 });
  expect(secondsToMs(2147483.647)).toBe(2147483647);
});
