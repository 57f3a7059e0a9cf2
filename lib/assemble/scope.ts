import type { SchedulerLike } from 'rxjs';
import type { Finding, GatewaySettings } from '../config/settings.js';
import type { Scope } from '../gateway/calls.js';
import type { Governance, GovernanceScope } from '../governance/governance.js';
import type { Upstream } from '../model/source.js';
import type { Sink } from '../telemetry/sink.js';

type Overrides = Partial<Omit<GatewaySettings, 'scope' | 'sources' | 'notices'>>;

/** Settings, any of their fields again, and ports for tests and for implementations of your own. */
export interface ScopeOptions<S extends Upstream> extends Overrides {
  readonly settings: GatewaySettings;
  /** Replaces `settings.sources`, in the checks too. */
  readonly sources?: readonly S[];
  /** The one clock; default: monotonic, in real time. A `TestScheduler` makes whole calls virtual. */
  readonly scheduler?: SchedulerLike;
  /** Keeps the admission state; default: in this process. */
  readonly backend?: (scope: GovernanceScope) => Governance;
  /** Takes rows in the turn they are made; replaces `telemetryUrl`. */
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
