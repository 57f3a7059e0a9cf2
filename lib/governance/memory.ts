import { createAdmission } from './admit.js';
import { createBreakerGate, probeLeaseMs } from './breaker/breakerGate.js';
import type { Governance, GovernanceScope } from './governance.js';
import { createHedgeCap } from './hedging/hedgeCap.js';
import { createPacerGate } from './pacing/pacerGate.js';
import { createParking } from './parking.js';
import { createProgress } from './progress.js';
import type { ProgressNotes } from './progress.js';
import { createQuotaGate } from './quota/quotaGate.js';
import { createWaitingLine } from './waitingLine.js';

/** Keeps the admission state in this process; every answer is synchronous. A further governor is one more gate here. */
export function createMemoryGovernance({ sources, breaker: policy, hedgeMaxRatio, now, random, report }: GovernanceScope): Governance & { readonly progress: ProgressNotes } {
  const parking = createParking({ now });
  const pacer = createPacerGate({ sources, report });
  const breaker = createBreakerGate({
    sources: sources.map(({ id, limits }) => ({ id, probeLeaseMs: probeLeaseMs(limits) })),
    policy,
    now,
    random,
    report,
    // Not everybody who waited for it may come at once.
    onClosed: pacer.restart,
  });
  const quota = createQuotaGate({ sources, now });
  const hedgeCap = hedgeMaxRatio === undefined ? [] : [createHedgeCap({ ratio: hedgeMaxRatio })];
  const line = createWaitingLine();
  const progress = createProgress({ now });
  return {
    admission: createAdmission({
      gates: [parking, breaker, pacer, quota, ...hedgeCap],
      line,
      onSettled: ({ type }) => {
        if (type === 'success') progress.noteSuccess();
      },
    }),
    parking,
    progress,
    line,
    permits: () => quota.inUse(),
    breakers: () => breaker.phases(),
    paced: () => pacer.limits(),
  };
}
