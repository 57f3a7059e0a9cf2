import { ConfigError } from '../model/errors.js';
import { envEntries, secretsInEntries } from './envEntries.js';
import type { Env, EnvEntry } from './envEntries.js';
import { envSources } from './envSources.js';
import { nameProblem } from './names.js';
import { createProblemLog } from './problemLog.js';
import type { ProblemLog } from './problemLog.js';
import { readEntry } from './readEntry.js';
import { howToBegin } from './readSources.js';
import { examineSettings } from './resolveSettings.js';
import type { GatewaySettings } from './settings.js';
import { twins } from './twins.js';

/**
 * Reads the `<SCOPE>__…` keys into settings. Keys are upper case, but in the scope and the provider case does not matter.
 * Empty means not set; keys of other scopes are not looked at. Sources come in the order in which their providers appear
 * (which loaders of env files need not keep), then by number. `env` is `process.env` by default. Throws `ConfigError` with all
 * problems at once, the C rules included.
 *
 *     const settings = settingsFromEnv('LLM', { LLM__LOCAL__1__BASE_URL: 'http://127.0.0.1:8000/v1', LLM__LOCAL__1__MODEL: 'qwen' });
 */
export function settingsFromEnv(scope: string, env: Env = process.env): GatewaySettings {
  const entries = envEntries(checkedScope(scope), env);
  if (entries.every(({ text }) => text === '')) throw new ConfigError([`nothing is set for the scope ${scope}: ${howToBegin(scope)}`]);

  const log = createProblemLog(secretsInEntries(entries));
  refuseUnknown(entries, log);
  refuseRepeated(entries, log);
  const settings = { scope, sources: envSources(scope, entries, log), ...scopeFields(entries, log) };
  const notices = [...log.findings];
  // Without sources these settings are of use beside ports.
  examineSettings(settings, log, settings.sources.length === 0 ? { sources: [] } : {});
  log.throwIfRefused();
  return { ...settings, ...(notices.length > 0 && { notices }) } as unknown as GatewaySettings;
}

function checkedScope(scope: string): string {
  const problem = nameProblem(scope);
  if (problem !== undefined) throw new ConfigError([`the scope is ${JSON.stringify(scope)}, which ${problem}`]);
  return scope;
}

function scopeFields(entries: readonly EnvEntry[], log: ProblemLog): Record<string, unknown> {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      if (entry.meaning.type !== 'scope' || entry.text === '') return [];
      return [[entry.meaning.field, readEntry(entry, entry.meaning.setting, log)] as const];
    }),
  );
}

function refuseUnknown(entries: readonly EnvEntry[], log: ProblemLog): void {
  for (const { key, text, meaning } of entries) {
    if (meaning.type === 'unknown' && text !== '') log.refuse(`${key} ${meaning.problem}`);
  }
}

// Two spellings of the scope can say the same key twice.
function refuseRepeated(entries: readonly EnvEntry[], log: ProblemLog): void {
  const set = entries.filter(({ text }) => text !== '');
  for (const [first, twin] of twins(set, ({ key }) => key.slice(key.indexOf('__')))) {
    log.refuse(`${twin.key} and ${first.key} are the same setting: keep one`);
  }
}
