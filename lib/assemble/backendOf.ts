import type { SchedulerLike } from 'rxjs';
import { secondsToMs } from '../config/limitsOf.js';
import type { ResolvedSettings } from '../config/settings.js';
import type { Governance, GovernanceScope } from '../governance/governance.js';
import { createMemoryGovernance } from '../governance/memory.js';
import { createRedisGovernance } from '../governance/redis/redisGovernance.js';
import { parseRedisUrl } from '../model/redisTarget.js';

/** Where the settings say that the admission state is kept. */
export function backendOf({ scope, backendUrl, backendLeaseTtlS, pollS }: ResolvedSettings, scheduler: SchedulerLike): (governed: GovernanceScope) => Governance {
  const target = backendUrl === undefined ? undefined : parseRedisUrl(backendUrl);
  if (target === undefined) return createMemoryGovernance;
  return (governed) => createRedisGovernance(governed, { target, scope, leaseTtlMs: secondsToMs(backendLeaseTtlS), pollMs: secondsToMs(pollS), scheduler });
}
