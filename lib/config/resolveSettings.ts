import type { Upstream } from '../model/source.js';
import { checkSettings } from './checks.js';
import type { CheckedSource } from './checks.js';
import { isRecord } from './kind.js';
import { limitsOf } from './limitsOf.js';
import { nameProblem } from './names.js';
import { createProblemLog } from './problemLog.js';
import type { ProblemLog } from './problemLog.js';
import { readFields } from './readFields.js';
import { readPorts } from './readPorts.js';
import { readSources } from './readSources.js';
import { secretsIn } from './secretsIn.js';
import { scopeSettings } from './settings.js';
import type { Finding, GatewaySettings, ResolvedSettings, Service } from './settings.js';

/** Settings that can be run, and what is doubtful about them. */
export interface Resolved {
  readonly settings: ResolvedSettings;
  readonly findings: readonly Finding[];
}

export interface ResolveOptions {
  /** Ports that stand in for `settings.sources`, which is then not looked at. */
  readonly sources?: readonly Upstream[];
  /** Unknown while settings are only read. */
  readonly serves?: Service;
}

/**
 * Checks settings and applies every default; every way to build settings comes through here (C rules). Throws
 * `ConfigError` with all problems at once.
 */
export function resolveSettings(settings: GatewaySettings, { sources, serves }: ResolveOptions = {}): Resolved {
  const log = createProblemLog(secretsIn(settings));
  const resolved = examineSettings(settings, log, { ...(serves && { serves }), ...(sources && { sources: readPorts(sources, serves ?? 'chat', log) }) });
  log.throwIfRefused();
  return { settings: resolved, findings: [...(settings.notices ?? []), ...log.findings] };
}

/** The same for settings of any state; tells the log instead of throwing. What it returns is of use only if nothing was refused. */
export function examineSettings(raw: unknown, log: ProblemLog, { sources: ports, serves }: { readonly sources?: readonly CheckedSource[]; readonly serves?: Service } = {}): ResolvedSettings {
  const given = isRecord(raw) ? raw : {};
  if (!isRecord(raw)) log.refuse(`the settings are ${log.show(raw)}, but must be an object`);
  const scope = readScope(given['scope'], log);
  const fields = readFields(given, {
    table: scopeSettings,
    others: ['scope', 'sources', 'notices'],
    path: '',
    envPrefix: `${scope.toUpperCase()}__`,
    log,
  });
  const sources = ports === undefined ? readSources(given['sources'], { scope, log }) : [];
  const settings = { ...fields, scope, sources } as unknown as ResolvedSettings;
  checkSettings(settings, ports ?? sources.map((source) => ({ id: source.id, limits: limitsOf(source) })), serves, log);
  return settings;
}

function readScope(scope: unknown, log: ProblemLog): string {
  const problem = nameProblem(scope);
  if (problem === undefined) return scope as string;
  log.refuse(`scope is ${log.show(scope)}, which ${problem}`);
  return '<SCOPE>';
}
