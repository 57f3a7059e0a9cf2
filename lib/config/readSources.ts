import { isRecord } from './kind.js';
import { nameProblem, providerProblem } from './names.js';
import type { ProblemLog } from './problemLog.js';
import { readFields } from './readFields.js';
import { sourceSettings } from './settings.js';
import type { ResolvedSource } from './settings.js';
import { twins } from './twins.js';

/** The sources of the settings, checked, with ids and defaults. */
export function readSources(raw: unknown, { scope, log }: { scope: string; log: ProblemLog }): ResolvedSource[] {
  if (!Array.isArray(raw) || raw.length === 0) {
    log.refuse(`there is no source for the scope ${scope}: ${howToBegin(scope)}`);
    return [];
  }
  const named = namedSources(raw, log);
  const sources = named.map(({ source, place, provider, n }) => {
    const envPrefix = `${scope.toUpperCase()}__${provider.toUpperCase()}__${n}__`;
    const fields = readFields(source, { table: sourceSettings, others: ['provider', 'n'], path: `${place}.`, envPrefix, log });
    return { id: `${provider}/${n}`, provider, interTokenTimeoutS: fields['timeoutS'], ...fields } as unknown as ResolvedSource;
  });
  warnOfSameUpstream(sources, scope, log);
  return sources;
}

/** The two keys that one needs to begin. */
export function howToBegin(scope: string): string {
  const prefix = `${nameProblem(scope) === undefined ? scope.toUpperCase() : 'LLM'}__OPENAI__1__`;
  return `to begin, set ${prefix}BASE_URL=https://api.openai.com/v1 and ${prefix}MODEL=the-model-you-want (and ${prefix}API_KEY)`;
}

interface NamedSource {
  readonly source: Record<string, unknown>;
  readonly place: string;
  readonly written: unknown;
  readonly provider: string;
  readonly n: number;
}

function namedSources(raw: readonly unknown[], log: ProblemLog): NamedSource[] {
  const counts = new Map<string, number>();
  const sources = raw.flatMap((source, index) => {
    const place = `sources[${index}]`;
    if (!isRecord(source)) {
      log.refuse(`${place} is ${log.show(source)}, but a source must be an object`);
      return [];
    }
    const written = source['provider'];
    const provider = readProvider(written, place, log);
    const count = (counts.get(provider) ?? 0) + 1;
    counts.set(provider, count);
    return [{ source, place, written, provider, n: readNumber(source['n'], { fallback: count, place, log }) }];
  });
  refuseSameNames(sources, log);
  return sources;
}

function readProvider(written: unknown, place: string, log: ProblemLog): string {
  const problem = providerProblem(written);
  if (problem === undefined) return (written as string).toLowerCase();
  log.refuse(`${place}.provider is ${log.show(written)}, which ${problem}`);
  return '<provider>';
}

function readNumber(n: unknown, { fallback, place, log }: { fallback: number; place: string; log: ProblemLog }): number {
  if (n === undefined) return fallback;
  if (typeof n === 'number' && Number.isSafeInteger(n) && n >= 1) return n;
  log.refuse(`${place}.n is ${log.show(n)}, which must be a whole number of 1 or more`);
  return fallback;
}

function refuseSameNames(sources: readonly NamedSource[], log: ProblemLog): void {
  const named = sources.filter(({ provider }) => provider !== '<provider>');
  for (const [first, twin] of twins(named, ({ provider }) => provider)) {
    if (first.written === twin.written) continue;
    log.refuse(
      `the providers of ${first.place} and ${twin.place}, ${log.show(first.written)} and ${log.show(twin.written)}, differ only in case: write both alike`,
    );
  }
  for (const [first, twin] of twins(named, ({ provider, n }) => `${provider}/${n}`)) {
    log.refuse(`${first.place} and ${twin.place} are both ${twin.provider}/${twin.n}: give one of them another n`);
  }
}

function warnOfSameUpstream(sources: readonly ResolvedSource[], scope: string, log: ProblemLog): void {
  for (const [first, twin] of twins(sources, ({ baseUrl, apiKey }) => JSON.stringify([baseUrl, apiKey]))) {
    log.warn({
      rule: 'same-upstream',
      key: `${scope.toUpperCase()}__${twin.id.toUpperCase().replace('/', '__')}__BASE_URL`,
      message: `${first.id} and ${twin.id} have the same base URL and API key: a hedge between them asks one upstream twice, so it is no hedge`,
    });
  }
}
