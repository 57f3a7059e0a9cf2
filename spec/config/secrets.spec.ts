import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maskedSettings } from '../../lib/config/maskedSettings.js';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import type { GatewaySettings } from '../../lib/config/settings.js';
import { settingsFromEnv } from '../../lib/config/settingsFromEnv.js';
import { oneSource, problemsOf } from './problemsOf.js';

const secret = fc.oneof(
  fc.string({ minLength: 10, maxLength: 40 }),
  fc.string({ minLength: 10, maxLength: 40, unit: 'binary' }),
  fc.string({ minLength: 10, maxLength: 40, unit: fc.constantFrom('a', 'Z', '0', '"', "'", '\\', '@', '/', ':', '?', '{', '}', '\n', '\r', '$', '&') }),
).filter((text) => text.trim().length >= 10);

function told(act: () => { findings: readonly { message: string }[] }): string {
  let findings = '';
  const problems = problemsOf(() => (findings = act().findings.map(({ message }) => message).join('\n')));
  return [...problems, findings].join('\n');
}

function expectHidden(text: string, hidden: string): void {
  const core = hidden.trim().replace(/^["']+|["']+$/g, '');
  for (const form of [hidden, core, JSON.stringify(core).slice(1, -1), encodeURIComponent(core)]) {
    if (form.length >= 8) expect(text).not.toContain(form);
  }
}

describe('no message shows a secret', () => {
  test('whatever it looks like, in the env and wherever it was put by mistake', () => {
    fc.assert(
      fc.property(secret.filter((text) => !text.includes('\u0000')), (key) => {
        const env = {
          ...oneSource,
          LLM__A__1__API_KEY: key,
          LLM__A__1__APIKEY: key,
          LLM__A__1__HEADERS: JSON.stringify({ authorization: key, 'x a': key }),
          LLM__A__1__EXTRA_BODY: `{"token": "${key}"`,
          LLM__A__1__TIMEOUT_S: key,
          LLM__B__1__BASE_URL: `https://${key}@b.example/v1`,
          LLM__B__1__MODEL: `"${key}`,
          LLM__C__1__BASE_URL: `https://c.example/v1?key=${key}`,
          LLM__BACKEND__URL: `redis:/user:${key}@h`,
          LLM__TELEMETRY__URL: `postgres://user:${key}@h/d`,
        };
        expectHidden(told(() => resolveSettings(settingsFromEnv('LLM', env))), key);
      }),
    );
  });

  test('whatever it looks like, in a literal', () => {
    fc.assert(
      fc.property(secret, (key) => {
        const settings = {
          scope: key,
          sources: [{ provider: key, baseUrl: key, model: '', apiKey: key, headers: { authorization: key }, timeoutS: key, [key]: true }],
          telemetryUrl: key,
        } as unknown as GatewaySettings;
        expectHidden(told(() => resolveSettings(settings)), key);
      }),
    );
  });

  test('good settings, quotes removed, findings only', () => {
    fc.assert(
      fc.property(secret.filter((text) => /^[\x20-\x7e]+$/.test(text) && !/^[\s"']|[\s"']$/.test(text)), (key) => {
        const env = { ...oneSource, LLM__A__1__API_KEY: `"${key}"`, LLM__B__1__BASE_URL: 'https://a.example/v1', LLM__B__1__MODEL: 'm', LLM__B__1__API_KEY: key };
        const resolved = resolveSettings(settingsFromEnv('LLM', env));
        expect(resolved.findings.map(({ rule }) => rule)).toEqual(['quotes', 'same-upstream']);
        expectHidden(told(() => resolved), key);
        expectHidden(JSON.stringify(maskedSettings(resolved.settings)), key);
      }),
    );
  });
});

test('settings for printing show keys by their ends only, and hide header values, passwords and whatever looks like a key', () => {
  const { settings } = resolveSettings({
    scope: 'LLM',
    sources: [
      {
        provider: 'a',
        baseUrl: 'https://a.example/v1',
        model: 'm',
        apiKey: 'sk-0123456789abcdef',
        headers: { 'api-key': 'hidden-value' },
        extraBody: { top_k: 20, deep: { note: 'sk-0123456789abcdefgh', password: 'hidden-value', list: ['plain'] } },
      },
      { provider: 'b', baseUrl: 'https://b.example/v1?api-version=7&sig=hidden-value', model: 'm', apiKey: 'short' },
    ],
    backendUrl: 'redis://user:hidden-value@h:6379/0',
    telemetryUrl: 'sqlite:./t.db',
  });
  const masked = maskedSettings(settings);
  expect(masked).toMatchObject({
    scope: 'LLM',
    stallThresholdMs: 1000,
    backendUrl: 'redis://[masked]@h:6379/0',
    telemetryUrl: 'sqlite:./t.db',
    sources: [
      { id: 'a/1', apiKey: 'sk-…ef', headers: { 'api-key': '***' }, extraBody: { top_k: 20, deep: { note: '[masked]', password: '***', list: ['plain'] } } },
      { id: 'b/1', apiKey: '***', baseUrl: 'https://b.example/v1?api-version=7&sig=***' },
    ],
  });
  expect(JSON.stringify(masked)).not.toContain('hidden-value');
});
