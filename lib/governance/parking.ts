import { localGate, refuse } from './gate.js';
import type { AdmissionRefused, Gate } from './gate.js';
import { longestPauseMs } from './retry/ledger.js';

/** Longest time a source is parked whatever it asked for, so that it is asked again some day. */
export const longestParkMs = 15 * 60_000;

/** Sources that asked to be left alone (R3). Shared by the calls of a scope. */
export interface Parking {
  /** Parks a source; a shorter wish never shortens a longer one. */
  park(sourceId: string, forMs: number): void;
  /** Milliseconds left, of the sources that are parked. */
  parked(): Record<string, number>;
}

export function createParking({ now }: { now: () => number }): Parking & Required<Gate> {
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
        return ms > 0 ? parkedRefusal(sourceId, ms) : undefined;
      },
      take: () => openPermit,
    }),
  };
}

export function parkedRefusal(sourceId: string, leftMs: number): AdmissionRefused {
  return refuse(pauseMessage(sourceId, leftMs), { sourceId, gate: 'parking', retryAfterMs: leftMs, asked: true, hopeless: leftMs > longestPauseMs });
}

/** What a source that rests is refused with, for all callers or for one. */
export function pauseMessage(sourceId: string, leftMs: number): string {
  return `${sourceId} asked for a pause of ${Math.ceil(leftMs)} ms more`;
}
