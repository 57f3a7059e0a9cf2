// `AsyncDisposable` for users whose TypeScript knows neither it nor the types of Node.
/// <reference lib="esnext.disposable" preserve="true" />
import type { SchedulerLike } from 'rxjs';
import { createLoopLag } from './clock/loopLag.js';
import { monotonicScheduler } from './clock/monotonicScheduler.js';
import { limitsOf, secondsToMs } from './config/limitsOf.js';
import { resolveSettings } from './config/resolveSettings.js';
import type { Finding, GatewaySettings, ResolvedSettings } from './config/settings.js';
import { composeGateway } from './gateway/composeGateway.js';
import type { Engine } from './gateway/composeGateway.js';
import type { Policy } from './gateway/ports.js';
import { createMemoryGovernance } from './governance/memory.js';
import type { Governance } from './governance/memory.js';
import { byPriority } from './governance/selection/rank.js';
import type { Report } from './model/events.js';
import type { Source } from './model/source.js';
import { createHttpClient } from './sources/httpBytes.js';
import { createHttpSource } from './sources/httpSource.js';
import { batched } from './telemetry/delivery.js';
import { createEventBus } from './telemetry/eventBus.js';
import { createRecorder } from './telemetry/recorder.js';
import type { Recorder } from './telemetry/recorder.js';
import type { Sink } from './telemetry/sink.js';
import { createSqliteSink } from './telemetry/sqliteSink.js';
import { parseTelemetryUrl } from './telemetry/telemetryUrl.js';

type Overrides = Partial<Omit<GatewaySettings, 'scope' | 'sources' | 'notices'>>;

/** Settings, any of their fields again, and ports for tests and for implementations of your own. */
export interface GatewayOptions extends Overrides {
  readonly settings: GatewaySettings;
  /** Replaces `settings.sources`, in the checks too. */
  readonly sources?: readonly Source[];
  /** The one clock; default: monotonic, in real time. A `TestScheduler` makes whole calls virtual. */
  readonly scheduler?: SchedulerLike;
  /** Keeps the admission state; default: in this process. */
  readonly backend?: (scope: { readonly sources: readonly Source[]; readonly now: () => number }) => Governance;
  /** Takes rows in the turn they are made; replaces `telemetryUrl`. */
  readonly telemetry?: Sink;
  /** In [0, 1); `() => 1` means no jitter anywhere. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface Gateway extends Omit<Engine, 'close'>, AsyncDisposable {
  /** What is allowed but probably not meant; what cannot work throws at construction. */
  readonly findings: readonly Finding[];
  /** Takes no new calls, ends those in flight with `GatewayClosedError`, writes what telemetry still holds, closes sockets. */
  close(this: void): Promise<void>;
}

/**
 * Makes a running gateway from settings. Opens no connection before the first call.
 *
 * Throws `ConfigError` with everything that is wrong at once (C rules).
 *
 *     const gateway = createGateway({ settings: settingsFromEnv('LLM'), hedgeStallAfterS: 20 });
 *     const { content, stats } = await gateway.chat({ messages });
 *     await gateway.close();
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { settings: given, sources: ports, scheduler = monotonicScheduler, backend = createMemoryGovernance, telemetry, random = Math.random, ...overrides } = options;
  const { settings, findings } = resolveSettings({ ...given, ...overrides }, ports === undefined ? {} : { sources: ports });
  const now = (): number => scheduler.now();

  const bus = createEventBus({ now });
  const http = ports === undefined ? openSources(settings, scheduler) : { sources: ports, close: () => Promise.resolve() };
  const governance = backend({ sources: http.sources, now });
  // Last of what can throw, since it opens a file and a thread.
  const recorder = openRecorder(settings, telemetry, bus.report, scheduler);
  const engine = composeGateway({
    policy: policyOf(settings, random),
    sources: http.sources,
    scheduler,
    governance,
    strategy: byPriority,
    report: (event) => {
      bus.report(event);
      if (event.type === 'round-decided') recorder?.record(event.records);
    },
    events$: bus.events$,
    loopLag: scheduler === monotonicScheduler ? createLoopLag() : undefined,
  });

  const shut = async (): Promise<void> => {
    engine.close();
    await recorder?.close();
    await http.close();
    bus.close();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= shut());
  return { ...engine, findings, close, [Symbol.asyncDispose]: close };
}

function openRecorder(settings: ResolvedSettings, port: Sink | undefined, report: Report, scheduler: SchedulerLike): Recorder | undefined {
  if (port !== undefined) return createRecorder({ sink: port, report, scheduler });
  if (settings.telemetryUrl === undefined) return undefined;
  const { file } = parseTelemetryUrl(settings.telemetryUrl);
  return createRecorder({ sink: createSqliteSink({ file, schema: settings.telemetrySchema }), report, scheduler, delivery: batched });
}

function openSources({ sources }: ResolvedSettings, scheduler: SchedulerLike): { sources: Source[]; close(): Promise<void> } {
  const client = createHttpClient({ env: process.env, scheduler });
  return {
    sources: sources.map(({ connectTimeoutS, ...source }) =>
      createHttpSource({ ...source, ...limitsOf({ ...source, connectTimeoutS }), connectTimeoutMs: secondsToMs(connectTimeoutS), client, scheduler }),
    ),
    close: () => client.close(),
  };
}

/** The settings as the engine wants them. */
function policyOf(settings: ResolvedSettings, random: () => number): Policy {
  const msOrNull = (seconds: number | undefined): number | null => (seconds === undefined ? null : secondsToMs(seconds));
  return {
    scope: settings.scope,
    stallThresholdMs: settings.stallThresholdMs,
    hedgeAfterMs: msOrNull(settings.hedgeAfterS),
    hedgeStallAfterMs: msOrNull(settings.hedgeStallAfterS),
    callDeadlineMs: msOrNull(settings.callDeadlineS),
    maxAttempts: settings.maxAttempts,
    backoffMs: secondsToMs(settings.backoffS),
    backoffMaxMs: secondsToMs(settings.backoffMaxS),
    backpressure: settings.backpressure,
    stallWindowMs: secondsToMs(settings.stallWindowS),
    pollEveryMs: secondsToMs(settings.pollS),
    random,
  };
}
