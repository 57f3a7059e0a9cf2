// Enters and settles once; tells what has come of it.
import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import { GovernanceBackendError } from '../../lib/model/errors.js';
import { parseRedisUrl } from '../../lib/model/redisTarget.js';

const target = parseRedisUrl(process.argv[2] ?? '');
if (target === undefined) throw new Error('not an address of Redis');

const { admission, progress, ...governance } = createRedisGovernance(
  {
    sources: [{ id: 'a/1', limits: {}, maxConcurrency: 1, rpm: 5 }],
    breaker: { failures: 5, cooldownMs: 30_000, cooldownMaxMs: 240_000, ratio: 1, windowMs: 60_000, minCalls: 10 },
    now: () => monotonicScheduler.now(),
    random: Math.random,
    report: () => undefined,
  },
  // A handshake on a busy machine is not what is judged here.
  { target, scope: 'LLM', leaseTtlMs: 15_000, scheduler: monotonicScheduler, decisionLimitMs: 10_000 },
);

async function enterAndSettle(): Promise<object> {
  const permit = await firstValueFrom(admission.enter({ sourceId: 'a/1', callId: 'c', attemptId: 'c-1', role: 'primary', round: 1, estimatedTokens: 1 }));
  permit.settle({ type: 'success', totalTokens: 1 });
  return { ageMs: await firstValueFrom(progress.ageMs()) };
}

function told(error: unknown): object {
  if (!(error instanceof GovernanceBackendError)) throw error;
  const { name, message, stack, cause } = error;
  return { error: { name, text: [message, stack, cause instanceof Error ? `${cause.message} ${cause.stack}` : ''].join('\n') } };
}

process.stdout.write(JSON.stringify(await enterAndSettle().catch(told)));
await governance.close();
