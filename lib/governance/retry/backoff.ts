export interface BackoffPolicy {
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** In [0, 1); `() => 1` means no jitter anywhere. */
  readonly random: () => number;
}

/** Share of a `Retry-After` that jitter may add. */
const addedShare = 0.2;

function exponentialMs(times: number, { backoffMs, backoffMaxMs }: BackoffPolicy): number {
  return Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(times - 1, 30));
}

/** The wait after the `times`th transient failure of a call: exponential, capped, full jitter (R2). */
export function retryBackoffMs(times: number, policy: BackoffPolicy): number {
  return policy.random() * exponentialMs(times, policy);
}

/** The call's own pause after its `times`th 429 in a row: as above, never under half of `backoffMs` (R3). */
export function limitedBackoffMs(times: number, policy: BackoffPolicy): number {
  return Math.max(policy.backoffMs / 2, policy.random() * exponentialMs(times, policy));
}

/** What a source asked for, with jitter that only adds, so that not everybody comes back at once (R3). */
export function askedPauseMs(retryAfterMs: number, { random }: BackoffPolicy): number {
  return retryAfterMs * (1 + addedShare * (1 - random()));
}

/** The wait before polling again: in [0.5 p, 1.0 p] (B4). */
export function pollMs(everyMs: number, random: () => number): number {
  return everyMs * (0.5 + 0.5 * random());
}
