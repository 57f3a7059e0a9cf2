import type { SourceLimits } from '../model/source.js';
import type { Service } from './settings.js';
import { secondsToMs } from './limitsOf.js';
import type { ProblemLog } from './problemLog.js';
import { scopeSettings } from './settings.js';
import type { ResolvedSettings } from './settings.js';

/** What the checks need to know of a source; a source port is one. An absent limit is no limit. */
export interface CheckedSource {
  readonly id: string;
  readonly limits: SourceLimits;
}

interface Limit {
  readonly ms: number;
  /** The setting it comes from, and the source. */
  readonly name: string;
}

type HedgeField = 'hedgeAfterS' | 'hedgeStallAfterS';
const hedgeFields = ['hedgeAfterS', 'hedgeStallAfterS'] as const satisfies readonly HedgeField[];

/**
 * The C checks that relate settings to one another; each value by itself is checked where it is read (C1, C7). A value
 * that was refused there is `NaN` here, which no comparison finds wrong a second time.
 */
export function checkSettings(settings: ResolvedSettings, sources: readonly CheckedSource[], serves: Service | undefined, log: ProblemLog): void {
  if (mayHedge(settings.scope, serves)) {
    checkStallHedge(settings, sources, log);
    checkFirstHedge(settings, sources, log);
    checkDeadline(settings, log);
  }
  checkHedgeHasUse(settings, sources, serves, log);
  checkProtocols(settings, serves, log);
  checkStallWindow(settings, sources, log);
  checkLease(settings, log);
}

/** Shorter than this, a process that is merely busy would lose its permits. */
const leastLeaseS = 1;

function checkLease({ scope, backendLeaseTtlS }: ResolvedSettings, log: ProblemLog): void {
  if (!(backendLeaseTtlS < leastLeaseS)) return;
  log.refuse(`${keyName(scope, 'backendLeaseTtlS')} is ${backendLeaseTtlS}, too short to be renewed in time by a process that is busy: set it to ${leastLeaseS} or more`);
}

/** C2 */
function checkStallHedge({ scope, hedgeStallAfterS }: ResolvedSettings, sources: readonly CheckedSource[], log: ProblemLog): void {
  const limit = shortest(sources.map(silenceLimit));
  if (hedgeStallAfterS === undefined || !reaches(hedgeStallAfterS, limit)) return;
  log.refuse(
    `${keyName(scope, 'hedgeStallAfterS')} is ${hedgeStallAfterS}, but ${limit.name} ends a silent stream after ${seconds(limit)}, ` +
      `so the hedge could never start: set it below ${limit.ms / 1000}, or raise that limit (C2)`,
  );
}

/** C3 */
function checkFirstHedge({ scope, hedgeAfterS }: ResolvedSettings, sources: readonly CheckedSource[], log: ProblemLog): void {
  if (hedgeAfterS === undefined) return;
  const key = keyName(scope, 'hedgeAfterS');
  const whole = shortest(sources.map(({ id, limits }) => limitOf(id, 'timeoutS', limits.timeoutMs)));
  const first = shortest(sources.map(({ id, limits }) => limitOf(id, 'ttftTimeoutS', limits.ttftTimeoutMs)));
  if (reaches(hedgeAfterS, whole)) {
    log.refuse(
      `${key} is ${hedgeAfterS}, but ${whole.name} ends an attempt after ${seconds(whole)}, so the hedge could never start: ` +
        `set it below ${whole.ms / 1000}, or raise that limit (C3)`,
    );
  } else if (reaches(hedgeAfterS, first)) {
    log.warn({
      rule: 'C3',
      key: envKey(scope, 'hedgeAfterS'),
      message:
        `${key} is ${hedgeAfterS}, but ${first.name} ends a stream without a first increment after ${seconds(first)}, ` +
        `so only requests that are not streamed gain: set it below ${first.ms / 1000} (C3)`,
    });
  }
}

/** C4 */
function checkDeadline(settings: ResolvedSettings, log: ProblemLog): void {
  const { scope, callDeadlineS } = settings;
  if (callDeadlineS === undefined) return;
  for (const field of hedgeFields) {
    const after = settings[field];
    if (after === undefined || !(after >= callDeadlineS)) continue;
    log.refuse(
      `${keyName(scope, field)} is ${after}, but ${keyName(scope, 'callDeadlineS')} ends the call after ${callDeadlineS} s, ` +
        `so the hedge could never start: set it below ${callDeadlineS}, or raise the deadline (C4)`,
    );
  }
}

/** C5, C6 */
function checkHedgeHasUse(settings: ResolvedSettings, sources: readonly CheckedSource[], serves: Service | undefined, log: ProblemLog): void {
  const { scope } = settings;
  for (const field of hedgeFields.filter((name) => settings[name] !== undefined)) {
    const [key, name] = [envKey(scope, field), keyName(scope, field)];
    if (sources.length === 1) {
      log.warn({ rule: 'C5', key, message: `${name} is set, but there is only one source, and a backup needs another: add one (C5)` });
    }
    if (!mayHedge(scope, serves)) {
      log.warn({ rule: 'C6', key, message: `${name} is ignored, since hedging serves chat alone: leave it out for the scope ${scope} (C6)` });
    }
  }
}

/** Hedging serves chat alone (C6). */
export function mayHedge(scope: string, serves: Service = 'chat'): boolean {
  return serves === 'chat' && !['EMBEDDING', 'OCR'].includes(scope.toUpperCase());
}

/** Only OCR is spoken in several ways. */
function checkProtocols({ scope, sources }: ResolvedSettings, serves: Service | undefined, log: ProblemLog): void {
  if (serves === undefined || serves === 'ocr') return;
  for (const { id, protocol } of sources) {
    if (protocol !== 'mistral' && protocol !== 'chat') continue;
    log.refuse(`PROTOCOL (protocol) of ${id} is ${protocol}, which only a scope for OCR knows: leave it out for the scope ${scope}`);
  }
}

/** C8 */
function checkStallWindow({ scope, stallWindowS }: ResolvedSettings, sources: readonly CheckedSource[], log: ProblemLog): void {
  const longest = sources
    .map(({ id, limits }) => limitOf(id, 'ttftTimeoutS', limits.ttftTimeoutMs))
    .filter(({ ms }) => Number.isFinite(ms))
    .reduce((left, right) => (right.ms > left.ms ? right : left), { ms: 0, name: '' });
  if (!(secondsToMs(stallWindowS) < longest.ms)) return;
  log.refuse(
    `${keyName(scope, 'stallWindowS')} is ${stallWindowS}, but ${longest.name} is ${seconds(longest)}: ` +
      `set the window to at least ${longest.ms / 1000}, or lower that limit (C8)`,
  );
}

function silenceLimit({ id, limits: { timeoutMs = Infinity, interTokenTimeoutMs = timeoutMs } }: CheckedSource): Limit {
  return interTokenTimeoutMs < timeoutMs ? limitOf(id, 'interTokenTimeoutS', interTokenTimeoutMs) : limitOf(id, 'timeoutS', timeoutMs);
}

const limitKeys = { timeoutS: 'TIMEOUT_S', ttftTimeoutS: 'TTFT_TIMEOUT_S', interTokenTimeoutS: 'INTER_TOKEN_TIMEOUT_S' } as const;

function limitOf(id: string, field: keyof typeof limitKeys, ms = Infinity): Limit {
  return { ms, name: `${limitKeys[field]} (${field}) of ${id}` };
}

function shortest(limits: readonly Limit[]): Limit {
  return limits.reduce((left, right) => (right.ms < left.ms ? right : left), { ms: Infinity, name: '' });
}

function reaches(afterS: number, limit: Limit): boolean {
  return secondsToMs(afterS) >= limit.ms;
}

function seconds({ ms }: Limit): string {
  return `${ms / 1000} s`;
}

function keyName(scope: string, field: keyof typeof scopeSettings): string {
  return `${envKey(scope, field)} (${field})`;
}

function envKey(scope: string, field: keyof typeof scopeSettings): string {
  return `${scope.toUpperCase()}__${scopeSettings[field].key}`;
}
