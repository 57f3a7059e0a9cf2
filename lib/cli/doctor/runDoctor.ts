import { maskedSettings } from '../../config/maskedSettings.js';
import { resolveSettings } from '../../config/resolveSettings.js';
import { settingsFromEnv } from '../../config/settingsFromEnv.js';
import { ConfigError } from '../../model/errors.js';
import { exitCodes } from '../exitCodes.js';
import { startProgress } from '../progress.js';
import type { Screen, Terminal } from '../terminal.js';
import { backendLines, doctorLines, probeLines, refusalLines } from './doctorLines.js';
import type { Examined } from './doctorLines.js';
import { missingPeers } from './missingPeers.js';
import type { BackendProbe } from './probeBackend.js';
import type { Probe } from './probeSources.js';

export interface DoctorOptions {
  readonly scope: string;
  readonly probe: boolean;
  readonly timeoutS: number;
  readonly json: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Looks at the settings of a scope and, if asked, at each of its sources and at its shared backend. */
export async function runDoctor({ scope, probe, timeoutS, json, terminal, signal }: DoctorOptions): Promise<number> {
  const { out } = terminal;
  const examined = examine(scope, terminal.env);
  if ('problems' in examined) {
    const { problems } = examined;
    say(out, json ? [toJson({ scope, problems })] : refusalLines({ scope, problems, advice: refusedAdvice }, out.paint));
    return exitCodes.refused;
  }
  const { settings, findings } = examined;
  if (!json) say(out, doctorLines(examined, out));
  const probed = probe ? await probeAll(examined, { timeoutS, signal, terminal }) : undefined;
  if (json) say(out, [toJson({ scope, settings: maskedSettings(settings), findings, ...probed })]);
  else if (probed !== undefined) say(out, [...probeLines(probed.probes, out), ...backendLines(probed.backend, out)]);
  return probed === undefined || [...probed.probes, probed.backend].every((asked) => asked?.ok !== false) ? exitCodes.done : exitCodes.failed;
}

const refusedAdvice = 'mend what is named; the file .env.example explains each, --env-file FILE reads them from a file';

/** Every problem at once, or settings that can be run. Throws what is not about settings. */
function examine(scope: string, env: Readonly<Record<string, string | undefined>>): Examined | { problems: readonly string[] } {
  try {
    const given = settingsFromEnv(scope, env);
    const resolved = resolveSettings(given);
    const problems = missingPeers(resolved.settings);
    return problems.length > 0 ? { problems } : { given, ...resolved };
  } catch (error: unknown) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

/** Loaded only now: without it no gateway is needed. */
async function probeAll({ given, settings }: Examined, { terminal, ...limits }: Pick<DoctorOptions, 'timeoutS' | 'signal' | 'terminal'>): Promise<{ probes: Probe[]; backend?: BackendProbe }> {
  const [{ probeSources }, { probeBackend }] = await Promise.all([import('./probeSources.js'), import('./probeBackend.js')]);
  const ids = settings.sources.map(({ id }) => id);
  const progress = startProgress({ terminal, label: 'asking the sources', total: ids.length });
  let probed = 0;
  const onProbe = (): void => progress.update((probed += 1));
  const [probes, backend] = await Promise.all([probeSources({ settings: given, ids, onProbe, ...limits }), probeBackend(settings)]).finally(progress.stop);
  return { probes, ...(backend === undefined ? {} : { backend }) };
}

function say(screen: Screen, lines: readonly string[]): void {
  for (const line of lines) screen.line(line);
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
