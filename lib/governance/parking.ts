import { localGate, refuse } from './gate.js';
import type { Gate } from './gate.js';
import { longestPauseMs } from './retry/ledger.js';

/** Longest time a source is parked whatever it asked for, so that it is asked again some day. */
export const longestParkMs = 15 * 60_000;

/** Sources that asked to be left alone (R3). Shared by the calls of a scope. */
export interface Parking extends Gate {
  /** Parks a source; a shorter wish never shortens a longer one. */
  park(sourceId: string, forMs: number): void;
  /** Milliseconds left, of the sources that are parked. */
  parked(): Record<string, number>;
}

export function createParking({ now }: { now: () => number }): Parking {
  const untilMs = new Map<string, number>();
  const leftMs = (sourceId: string): number => (untilMs.get(sourceId) ?? -Infinity) - now();
  const openPermit = { progress: () => undefined, settle: () => undefined };

  return {
    park(sourceId, forMs) {
      untilMs.set(sourceId, Math.max(untilMs.get(sourceId) ?? -Infinity, now() + Math.min(forMs, longestParkMs)));
    },
    parked: () => Object.fromEntries([...untilMs.keys()].map((id) => [id, leftMs(id)] as const).filter(([, ms]) => ms > 0)),
    ...localGate({
      refusal: ({ sourceId }) => {
        const ms = leftMs(sourceId);
        if (ms <= 0) return undefined;
        return refuse(pauseMessage(sourceId, ms), { sourceId, retryAfterMs: ms, asked: true, hopeless: ms > longestPauseMs });
      },
      take: () => openPermit,
    }),
  };
}

/** What a source that rests is refused with, for all callers or for one. */
export function pauseMessage(sourceId: string, leftMs: number): string {
  return `${sourceId} asked for a pause of ${Math.ceil(leftMs)} ms more`;
}
