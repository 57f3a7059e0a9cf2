import { describe, expect, test } from '@jest/globals';
import { limitsOf, secondsToMs } from '../../lib/config/limitsOf.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import type { GatewaySettings, SourceSettings } from '../../lib/config/settings.js';
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

describe('ports in place of sources', () => {
  const settings: GatewaySettings = { scope: 'LLM', sources: two({ interTokenTimeoutS: 5, timeoutS: 5 }), hedgeStallAfterS: 20, hedgeAfterS: 20 };
  const withPorts = (...limits: { timeoutMs?: number; ttftTimeoutMs?: number; interTokenTimeoutMs?: number }[]) =>
    resolveSettings(settings, { sources: limits.map((each, index) => ({ id: `port/${index + 1}`, limits: each })) });

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

test('limits are handed on in milliseconds without the noise of binary fractions', () => {
  const [resolved] = resolveSettings({ scope: 'LLM', sources: [source('a', { timeoutS: 1.005, ttftTimeoutS: 0.3 })] }).settings.sources;
  expect(limitsOf(resolved!)).toEqual({ timeoutMs: 1005, ttftTimeoutMs: 300, interTokenTimeoutMs: 1005 });
  expect(secondsToMs(2147483.647)).toBe(2147483647);
});
