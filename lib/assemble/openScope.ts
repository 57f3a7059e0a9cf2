import type { SchedulerLike } from 'rxjs';
import { createLoopLag } from '../clock/loopLag.js';
import { monotonicScheduler } from '../clock/monotonicScheduler.js';
import { resolveSettings } from '../config/resolveSettings.js';
import type { ResolvedSettings, ResolvedSource, Service } from '../config/settings.js';
import type { Scope } from '../gateway/calls.js';
import type { Ports } from '../gateway/ports.js';
import { createSelection } from '../governance/selection/selection.js';
import type { Report } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import { createHttpClient } from '../sources/httpBytes.js';
import type { HttpClient } from '../sources/httpBytes.js';
import { createEventBus } from '../telemetry/eventBus.js';
import { openTracing } from '../telemetry/openTelemetry/openTracing.js';
import { backendOf } from './backendOf.js';
import { openRecorder } from './openRecorder.js';
import { openWatch } from './openWatch.js';
import { breakerPolicyOf, policyOf } from './policyOf.js';
import type { RunningScope, ScopeOptions } from './scope.js';
import { wrapSources } from './wrapSources.js';

export interface ScopeParts<S extends Upstream, E extends Scope> {
  readonly serves: Service;
  readonly openSource: (settings: ResolvedSource, shared: { client: HttpClient; scheduler: SchedulerLike }) => S;
  readonly compose: (ports: Ports<S>) => E;
}

/** Puts settings, sources, governance, telemetry and engine together; every way to make a gateway comes through here. */
export function openScope<S extends Upstream, E extends Scope>(options: ScopeOptions<S>, parts: ScopeParts<S, E>): Omit<E, 'close'> & RunningScope {
  const { settings: given, sources: ports, wrapSource, scheduler = monotonicScheduler, backend: backendPort, telemetry, random = Math.random, ...overrides } = options;
  const { serves, openSource, compose } = parts;
  const { settings, findings } = resolveSettings({ ...given, ...overrides }, { serves, ...(ports === undefined ? {} : { sources: ports }) });
  const now = (): number => scheduler.now();

  const bus = createEventBus({ now });
  const http = ports === undefined ? openSources(settings, openSource, scheduler) : { sources: ports, close: () => Promise.resolve() };
  const sources = wrapSources(http.sources, { wrapSource, serves, scheduler });
  const breaker = breakerPolicyOf(settings);
  const backend = backendPort ?? backendOf(settings, scheduler);
  const governance = backend({ sources, breaker, hedgeMaxRatio: settings.hedgeMaxRatio, now, random, report: bus.report });
  const selection = createSelection({ strategy: settings.selectStrategy, sources, inFlight: () => governance.permits(), now });
  const tracing = openTracing({ now, propagate: settings.telemetryPropagate, places: ports === undefined ? settings.sources : [] });
  // Last of what can throw, since it opens a file and a thread.
  const recorder = openRecorder(settings, telemetry, bus.report, scheduler);
  const report: Report = (event) => {
    tracing?.observe(event);
    if (event.type === 'attempt-ended') selection.note(event.record);
    bus.report(event);
    if (event.type === 'round-decided') recorder?.record(event.records);
  };
  const policy = policyOf(settings, { serves, random });
  const engine = compose({
    policy,
    sources,
    scheduler,
    governance: { ...governance, admission: selection.counted(governance.admission) },
    strategy: selection.rank,
    report,
    events$: bus.events$,
    loopLag: scheduler === monotonicScheduler ? createLoopLag() : undefined,
    tracing,
  });
  const watch = openWatch({ settings, policy, sources, stats: engine.stats, events$: bus.events$, report: bus.report, now });

  const shut = async (): Promise<void> => {
    engine.close();
    await Promise.all([recorder?.close(), governance.close?.()]);
    await http.close();
    await watch?.close();
    bus.close();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= shut());
  return { ...engine, findings, close, [Symbol.asyncDispose]: close };
}

function openSources<S>({ sources }: ResolvedSettings, open: ScopeParts<Upstream & S, never>['openSource'], scheduler: SchedulerLike): { sources: S[]; close(): Promise<void> } {
  const client = createHttpClient({ env: process.env, scheduler });
  return { sources: sources.map((source) => open(source, { client, scheduler })), close: () => client.close() };
}
