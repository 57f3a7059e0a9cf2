import type { Outcome } from '../gate.js';

/** How many requests one source is trusted with at once (G5). */
export interface Pace {
  /** At least 1, with fractions; `Infinity`: not paced. */
  readonly limit: number;
  readonly inFlight: number;
  /** Counts the changes that make everything admitted before them old news. */
  readonly epoch: number;
  /** From a restart to the next decrease the limit doubles a round trip. */
  readonly slowStart: boolean;
}

export type PaceEvent =
  | { readonly type: 'admitted' }
  /** `epoch` is the one it was admitted in. */
  | { readonly type: 'ended'; readonly epoch: number; readonly outcome: Outcome['type'] }
  /** The source is back after an outage. */
  | { readonly type: 'restarted' };

export const unpaced: Pace = { limit: Infinity, inFlight: 0, epoch: 0, slowStart: false };

/**
 * Additive increase, multiplicative decrease. A source that was paced once stays so: its limit grows while at least half
 * of it is used, and what nobody has tried is not trusted.
 */
export function pace(state: Pace, event: PaceEvent): Pace {
  switch (event.type) {
    case 'admitted':
      return { ...state, inFlight: state.inFlight + 1 };
    case 'ended':
      return { ...(event.epoch === state.epoch ? learned(state, event.outcome) : state), inFlight: state.inFlight - 1 };
    case 'restarted':
      return { ...state, limit: 1, epoch: state.epoch + 1, slowStart: true };
    default:
      return event satisfies never;
  }
}

/** Requests at once that the source may run. */
export function concurrencyOf({ limit }: Pace): number {
  return Math.floor(limit);
}

function learned(state: Pace, outcome: Outcome['type']): Pace {
  const { limit, inFlight, epoch, slowStart } = state;
  if (outcome === 'rate-limited') {
    // Times 9 and by 10, since 0.9 is no binary fraction and the limit is cut to whole requests.
    return { ...state, limit: Math.max(1, (Math.min(limit, inFlight) * 9) / 10), epoch: epoch + 1, slowStart: false };
  }
  if (outcome !== 'success' || inFlight < limit / 2) return state;
  return { ...state, limit: limit + (slowStart ? 1 : 1 / limit) };
}
