import type { Finding, GatewaySettings, ResolvedSettings } from '../../config/settings.js';
import { findingLine } from '../findingLine.js';
import { inSeconds } from '../inSeconds.js';
import type { Paint } from '../paint.js';
import { table } from '../table.js';
import type { Screen } from '../terminal.js';
import type { BackendProbe } from './probeBackend.js';
import type { Probe } from './probeSources.js';
import { scopeTable, sourceTables } from './settingsTables.js';

/** Settings that can be run, as they were set and as they take effect. */
export interface Examined {
  readonly given: GatewaySettings;
  readonly settings: ResolvedSettings;
  readonly findings: readonly Finding[];
}

/** The settings and the findings as text. */
export function doctorLines({ given, settings, findings }: Examined, screen: Screen): string[] {
  const { paint } = screen;
  const scope = settings.scope.toUpperCase();
  return [
    paint('bold', `Scope ${scope}`),
    `Source keys are written ${scope}__<PROVIDER>__<N>__KEY, scope keys ${scope}__KEY. Brackets: default.`,
    ...sourceTables({ given, settings, screen }),
    scopeTable({ given, settings, screen }),
    ...(findings.length === 0 ? [paint('green', 'No findings: nothing looks doubtful.')] : findings.map((finding) => findingLine(finding, paint))),
  ];
}

/** Why settings are refused: every problem. */
export function refusalLines({ scope, problems, advice }: { scope: string; problems: readonly string[]; advice: string }, paint: Paint): string[] {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return [
    `${paint('red', 'refused')} The settings of the scope ${scope} have ${count}:`,
    ...problems.map((problem) => `  - ${problem}`),
    `  ${paint('bold', 'what to do')}: ${advice}`,
  ];
}

/** What the sources answered. */
export function probeLines(probes: readonly Probe[], { paint, columns }: Screen): string[] {
  const rows = probes.map((probe) => [
    probe.source,
    probe.ok ? paint('green', 'answers') : paint('red', probe.code),
    inSeconds(probe.ms),
    probe.ok ? `as ${probe.model}` : probe.message,
  ]);
  const widest = [undefined, undefined, undefined, Math.max(30, columns - 46)];
  return [
    paint('bold', 'Probe: a short question to each source'),
    table({ head: ['source', 'result', 'time', ''], rows, figures: [2], widest, paint }),
  ];
}

/** What the shared backend answered, if there is one. */
export function backendLines(probe: BackendProbe | undefined, { paint }: Screen): string[] {
  if (probe === undefined) return [];
  const took = `after ${inSeconds(probe.ms)}`;
  return [probe.ok ? `Backend: ${paint('green', 'decides')} ${took}` : `Backend: ${paint('red', probe.code)} ${took}: ${probe.message}`];
}
