import { catchError, firstValueFrom, map, of, retry, timer } from 'rxjs';
import { backendOf } from '../../assemble/backendOf.js';
import { breakerPolicyOf } from '../../assemble/policyOf.js';
import { monotonicScheduler } from '../../clock/monotonicScheduler.js';
import type { ResolvedSettings } from '../../config/settings.js';
import { isGatewayError, messageOf } from '../../model/errors.js';

/** Whether the shared backend decides. */
export type BackendProbe = { readonly ms: number } & ({ readonly ok: true } | { readonly ok: false; readonly code: string; readonly message: string });

/** Often enough for a connection that takes longer than a decision may. */
const tries = 4;
const betweenMs = 250;

/** Asks the backend of the settings for a figure that changes nothing; `undefined` where there is none but this process. */
export async function probeBackend(settings: ResolvedSettings): Promise<BackendProbe | undefined> {
  if (settings.backendUrl === undefined) return undefined;
  const now = (): number => monotonicScheduler.now();
  const startMs = now();
  const sources = settings.sources.map(({ id }) => ({ id, limits: {} }));
  const governance = backendOf(settings, monotonicScheduler)({ sources, breaker: breakerPolicyOf(settings), now, random: Math.random, report: () => undefined });
  const probe$ = governance.progress.ageMs().pipe(
    retry({ count: tries - 1, delay: () => timer(betweenMs, monotonicScheduler) }),
    map(() => ({ ok: true as const, ms: Math.trunc(now() - startMs) })),
    catchError((error: unknown) => of({ ok: false as const, ms: Math.trunc(now() - startMs), code: isGatewayError(error) ? error.code : 'unexpected', message: messageOf(error) })),
  );
  try {
    return await firstValueFrom(probe$);
  } finally {
    await governance.close?.();
  }
}
