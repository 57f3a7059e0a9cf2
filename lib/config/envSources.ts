import type { EnvEntry } from './envEntries.js';
import type { ProblemLog } from './problemLog.js';
import { readEntry } from './readEntry.js';

type Fields = Map<string, unknown>;

interface EnvProvider {
  readonly written: string;
  readonly numbers: Map<number, Fields>;
}

/** The sources in the order in which their providers appear, then by number; one whose keys are all empty is left out with a notice. */
export function envSources(scope: string, entries: readonly EnvEntry[], log: ProblemLog): Record<string, unknown>[] {
  const providers = new Map<string, EnvProvider>();
  for (const entry of entries) {
    if (entry.meaning.type !== 'source') continue;
    const { provider: written, n, field, setting } = entry.meaning;
    const provider = findOrAdd(providers, written.toLowerCase(), () => ({ written, numbers: new Map<number, Fields>() }));
    if (provider.written !== written && entry.text !== '') {
      log.refuse(`${entry.key} names the provider ${written}, which differs from ${provider.written} only in case: write both alike`);
    }
    const fields = findOrAdd(provider.numbers, n, () => new Map<string, unknown>());
    if (entry.text !== '') fields.set(field, readEntry(entry, setting, log));
  }
  warnOfBlank(scope, providers.values(), log);
  return [...providers].flatMap(([provider, { numbers }]) => numbered(provider, numbers));
}

/** The number is said only where it is not the place, so that such settings equal those written by hand. */
function numbered(provider: string, numbers: ReadonlyMap<number, Fields>): Record<string, unknown>[] {
  return [...numbers]
    .filter(([, fields]) => fields.size > 0)
    .sort(([left], [right]) => left - right)
    .map(([n, fields], index) => ({ provider, ...(n !== index + 1 && { n }), ...Object.fromEntries(fields) }));
}

function warnOfBlank(scope: string, providers: Iterable<EnvProvider>, log: ProblemLog): void {
  for (const { written, numbers } of providers) {
    for (const [n] of [...numbers].filter(([, fields]) => fields.size === 0)) {
      const key = `${scope.toUpperCase()}__${written}__${n}`;
      log.warn({ rule: 'blank-source', key, message: `${key} is left out, since all its keys are empty` });
    }
  }
}

function findOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
