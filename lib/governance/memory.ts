import type { BreakerPhase, Report } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import { createAdmission } from './admit.js';
import type { BreakerPolicy } from './breaker/breaker.js';
import { createBreakerGate } from './breaker/breakerGate.js';
import type { Gate } from './gate.js';
import { createHedgeCap } from './hedging/hedgeCap.js';
import { createPacerGate } from './pacing/pacerGate.js';
import { createParking } from './parking.js';
import type { Parking } from './parking.js';
import { createProgress } from './progress.js';
import type { Progress } from './progress.js';
import { createQuotaGate } from './quota/quotaGate.js';
import { createWaitingLine } from './waitingLine.js';
import type { WaitingLine } from './waitingLine.js';

/** The admission state of one scope. */
export interface Governance {
  readonly admission: Gate;
  readonly parking: Parking;
  readonly progress: Progress;
  readonly line: WaitingLine;
  /** Permits in use per source. */
  permits(): Record<string, number>;
  /** Breaker per source. */
  breakers(): Record<string, BreakerPhase>;
  /** Requests at once that a source is paced to; absent: not paced. */
  paced(): Record<string, number>;
}

/** What the admission state of a scope is made from. */
export interface GovernanceScope {
  readonly sources: readonly Pick<Upstream, 'id' | 'limits' | 'maxConcurrency' | 'rpm' | 'tpm'>[];
  readonly breaker: BreakerPolicy;
  /** Backups per call at most; absent: no cap (H10). */
  readonly hedgeMaxRatio?: number | undefined;
  readonly now: () => number;
  /** In [0, 1); `() => 1` means no jitter. */
  readonly random: () => number;
  readonly report: Report;
}

/** A probe that its own limits end has given its place back before another can take it. */
const leaseMarginMs = 1000;

/** Keeps the admission state in this process; every answer is synchronous. A further governor is one more gate here. */
export function createMemoryGovernance({ sources, breaker: policy, hedgeMaxRatio, now, random, report }: GovernanceScope): Governance {
  const parking = createParking({ now });
  const pacer = createPacerGate({ sources, report });
  const breaker = createBreakerGate({
    sources: sources.map(({ id, limits: { ttftTimeoutMs, timeoutMs } }) => ({ id, firstLimitMs: (timeoutMs ?? ttftTimeoutMs ?? 0) + leaseMarginMs })),
    policy,
    now,
    random,
    report,
    // Not everybody who waited for it may come at once.
    onClosed: (sourceId) => pacer.restart(sourceId),
  });
  const quota = createQuotaGate({ sources, now });
  const hedgeCap = hedgeMaxRatio === undefined ? [] : [createHedgeCap({ ratio: hedgeMaxRatio })];
  const line = createWaitingLine();
  return {
    admission: createAdmission({ gates: [parking, breaker, pacer, quota, ...hedgeCap], line }),
    parking,
    progress: createProgress({ now }),
    line,
    permits: () => quota.inUse(),
    breakers: () => breaker.phases(),
    paced: () => pacer.limits(),
  };
}
