import type { SchedulerLike } from 'rxjs';
import type { Finding, GatewaySettings } from '../config/settings.js';
import type { Scope } from '../gateway/calls.js';
import type { Governance, GovernanceScope } from '../governance/governance.js';
import type { Upstream } from '../model/source.js';
import type { Sink } from '../telemetry/sink.js';

type Overrides = Partial<Omit<GatewaySettings, 'scope' | 'sources' | 'notices'>>;

/** Settings, any of their fields again, and ports for tests and for implementations of your own. */
export interface ScopeOptions<S extends Upstream> extends Overrides {
  /** From `settingsFromEnv`, or written by hand. */
  readonly settings: GatewaySettings;
  /** Replaces `settings.sources`, in the checks too; default: HTTP sources made of the settings. */
  readonly sources?: readonly S[];
  /**
   * Given each source once, of the settings or of `sources`, when the gateway is made; what it returns is asked in its place. The
   * place for recording, logging and injected faults: `scheduler` is the gateway's clock. It changes what is said, and nothing
   * else: a `ConfigError` where id, limits or other facts are not those of the source.
   *
   *     wrapSource: (source) => ({ ...source, stream: (request, context) => source.stream(request, context).pipe(tap(log)) })
   */
  wrapSource?(this: void, source: S, on: { readonly scheduler: SchedulerLike }): S;
  /** The one clock; default: monotonic, in real time. A `TestScheduler` makes whole calls virtual. */
  readonly scheduler?: SchedulerLike;
  /** Keeps the admission state; default: in this process. */
  readonly backend?: (scope: GovernanceScope) => Governance;
  /** Takes rows in the turn they are made; replaces `telemetryUrl`; default: what that says. */
  readonly telemetry?: Sink;
  /** In [0, 1); `() => 1` means no jitter anywhere. Default: `Math.random`. */
  readonly random?: () => number;
}

/** What a running scope has, whatever it serves. */
export interface RunningScope extends Omit<Scope, 'close'>, AsyncDisposable {
  /** What is allowed but probably not meant; what cannot work throws at construction. */
  readonly findings: readonly Finding[];
  /** Takes no new calls, ends those in flight with `GatewayClosedError`, writes what telemetry still holds, closes sockets. */
  close(this: void): Promise<void>;
}
