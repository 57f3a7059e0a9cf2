import type { Observable, SchedulerLike } from 'rxjs';
import type { Governance } from '../governance/governance.js';
import type { Strategy } from '../governance/selection/rank.js';
import type { RetryPolicy } from '../governance/retry/ledger.js';
import type { GatewayEvent, OfAttempt, Report, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { Tracing } from '../model/tracing.js';

/** Settings as the engine wants them: milliseconds, defaults applied. */
export interface Policy extends RetryPolicy {
  readonly scope: string;
  readonly stallThresholdMs: number;
  readonly hedgeAfterMs: number | null;
  readonly hedgeStallAfterMs: number | null;
  /** Backups that one round may start (H14). */
  readonly hedgeMaxBackups: number;
  readonly callDeadlineMs: number | null;
  readonly backpressure: 'wait' | 'fail_fast';
  readonly stallWindowMs: number;
  readonly pollEveryMs: number;
}

/** Measures the longest event-loop delay while an attempt runs (M7). */
export interface LoopLag {
  start(): { stop(): number };
}

/** A request that runs now. */
export interface OpenStream extends OfAttempt {
  readonly role: Role;
  /** The round of the call, from 1. */
  readonly round: number;
  /** Since it was sent, and since its last increment; until there is one, both are the same. */
  readonly openMs: number;
  readonly silentMs: number;
  readonly increments: number;
}

/** Everything the engine needs; it knows nothing else. */
export interface Ports<S extends Upstream = Upstream> {
  readonly policy: Policy;
  readonly sources: readonly S[];
  readonly scheduler: SchedulerLike;
  readonly governance: Governance;
  readonly strategy: Strategy;
  readonly report: Report;
  readonly events$: Observable<GatewayEvent>;
  readonly loopLag?: LoopLag | undefined;
  readonly tracing?: Tracing | undefined;
  /** Each attempt that runs, to be looked at; `openCalls` keeps them for `stats()`. */
  readonly open?: Set<() => OpenStream>;
}
