import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import { scopeSettings, sourceSettings } from '../../lib/config/settings.js';
import type { Setting } from '../../lib/config/settings.js';
import { settingsFromEnv } from '../../lib/config/settingsFromEnv.js';

const text = readFileSync('.env.example', 'utf8');
const asIs = parse(text);
const everything = parse(text.replaceAll(/^# (?=LLM__)/gm, ''));

const settings: [string, Setting][] = [
  ...Object.values(sourceSettings).map((setting): [string, Setting] => [`LLM__OPENAI__1__${setting.key}`, setting]),
  ...Object.values(scopeSettings).map((setting): [string, Setting] => [`LLM__${setting.key}`, setting]),
];

function parse(file: string): Record<string, string> {
  return { ...parseEnv(file) } as Record<string, string>;
}

test('begins with the two keys that are needed, and works as it is', () => {
  const keysInForce = [...text.matchAll(/^\w+(?==)/gm)].map(([key]) => key);
  expect(keysInForce).toEqual(['LLM__OPENAI__1__BASE_URL', 'LLM__OPENAI__1__MODEL', 'LLM__OPENAI__1__API_KEY']);
  expect(resolveSettings(settingsFromEnv('LLM', asIs)).findings).toEqual([]);
});

test.each(settings)('says %s, with its default', (key, { fallback }) => {
  expect(Object.keys(everything)).toContain(key);
  if (fallback !== undefined) expect(everything[key]).toBe(typeof fallback === 'string' ? fallback : JSON.stringify(fallback));
});

test('is accepted with every line in force, and nothing in it is doubtful', () => {
  const { findings, settings: resolved } = resolveSettings(settingsFromEnv('LLM', everything));
  expect(findings).toEqual([]);
  expect(resolved.sources.map(({ id, priority }) => [id, priority])).toEqual(expect.arrayContaining([['openai/1', 0], ['deepseek/1', 1]]));
});
