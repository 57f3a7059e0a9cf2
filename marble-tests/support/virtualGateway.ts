import { Subject } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { composeGateway } from '../../lib/gateway/composeGateway.js';
import type { Engine } from '../../lib/gateway/composeGateway.js';
import type { Policy } from '../../lib/gateway/ports.js';
import { createMemoryGovernance } from '../../lib/governance/memory.js';
import type { ProgressNotes } from '../../lib/governance/progress.js';
import type { BreakerPolicy } from '../../lib/governance/breaker/breaker.js';
import { createSelection } from '../../lib/governance/selection/selection.js';
import type { StrategyName } from '../../lib/governance/selection/selection.js';
import type { AttemptRecord, GatewayEvent, GatewayEventBody } from '../../lib/model/events.js';
import type { ChatRequest } from '../../lib/model/request.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep, ScriptedSource } from '../../lib/sources/scriptedSource.js';
import { script } from './script.js';

export interface SourceSpec {
  /** One script per request; the last one repeats. Steps as they are where the words of a script do not reach. */
  readonly scripts: readonly (string | readonly ScriptStep[])[];
  readonly ttftS?: number;
  readonly interTokenS?: number | 'none';
  readonly timeoutS?: number;
  /** No limit of time at all. */
  readonly unlimited?: boolean;
  readonly maxConcurrency?: number;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly priority?: number;
  readonly weight?: number;
}

/** The governors; by default none has anything to say. */
export interface GovernorSpec {
  readonly breaker?: Partial<BreakerPolicy>;
  readonly hedgeMaxRatio?: number;
  readonly strategy?: StrategyName;
}

/** Opens never. */
export const patientBreaker: BreakerPolicy = { failures: Infinity, cooldownMs: 30_000, cooldownMaxMs: 30_000, ratio: 1, windowMs: 60_000, minCalls: Infinity };

export interface VirtualGateway extends Engine {
  readonly sources: readonly ScriptedSource[];
  /** Rows in the order in which they were handed over. */
  readonly rows: AttemptRecord[];
  readonly events: GatewayEvent[];
  readonly progress: ProgressNotes;
}

export const hello: ChatRequest = { messages: [{ role: 'user', content: 'hello' }] };

/** Without jitter; limits wide enough not to matter unless a test sets them. */
export const calm: Omit<Policy, 'scope'> = {
  stallThresholdMs: 2000,
  hedgeAfterMs: null,
  hedgeStallAfterMs: null,
  hedgeMaxBackups: 1,
  maxAttempts: 3,
  onlyTransientBurns: true,
  backoffMs: 1000,
  backoffMaxMs: 30_000,
  callDeadlineMs: null,
  backpressure: 'wait',
  stallWindowMs: 300_000,
  pollEveryMs: 500,
  random: () => 1,
};

/** A whole gateway in virtual time over scripted sources `a/1`, `b/1`, `c/1` … */
export function virtualGateway(
  specs: readonly (string | SourceSpec)[],
  scheduler: SchedulerLike,
  { breaker, hedgeMaxRatio, strategy = 'priority', ...policy }: Partial<Policy> & GovernorSpec = {},
): VirtualGateway {
  const sources = specs.map((spec, at) => toSource(typeof spec === 'string' ? { scripts: [spec] } : spec, at, scheduler));
  const now = (): number => scheduler.now();
  const bus = new Subject<GatewayEvent>();
  const rows: AttemptRecord[] = [];
  const events: GatewayEvent[] = [];
  const report = (body: GatewayEventBody): void => {
    const event: GatewayEvent = { ...body, atMs: now() };
    events.push(event);
    if (event.type === 'attempt-ended') selection.note(event.record);
    if (event.type === 'round-decided') rows.push(...event.records);
    bus.next(event);
  };
  const { random } = { ...calm, ...policy };
  const governance = createMemoryGovernance({ sources, breaker: { ...patientBreaker, ...breaker }, hedgeMaxRatio, now, random, report });
  const selection = createSelection({ strategy, sources, inFlight: () => governance.permits(), now });
  const engine = composeGateway({
    policy: { ...calm, scope: 'LLM', ...policy },
    sources,
    scheduler,
    governance: { ...governance, admission: selection.counted(governance.admission) },
    strategy: selection.rank,
    report,
    events$: bus,
  });
  return { ...engine, sources, rows, events, progress: governance.progress };
}

function toSource(spec: SourceSpec, at: number, scheduler: SchedulerLike): ScriptedSource {
  const { scripts, ttftS = 10, interTokenS = 15, timeoutS = 3600, unlimited = false, ...rest } = spec;
  const limits = { ttftTimeoutMs: ttftS * 1000, timeoutMs: timeoutS * 1000, ...(interTokenS === 'none' ? {} : { interTokenTimeoutMs: interTokenS * 1000 }) };
  return scriptedSource({
    id: `${String.fromCharCode(97 + at)}/1`,
    scripts: scripts.map((steps) => (typeof steps === 'string' ? script(steps) : steps)),
    limits: unlimited ? {} : limits,
    ...rest,
    scheduler,
  });
}
