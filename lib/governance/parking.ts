import { defer, of, throwError } from 'rxjs';
import { AdmissionRefused } from './gate.js';
import type { Gate } from './gate.js';

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
    enter: ({ sourceId }) =>
      defer(() => {
        const ms = leftMs(sourceId);
        if (ms <= 0) return of(openPermit);
        return throwError(() => new AdmissionRefused(`${sourceId} asked for a pause of ${Math.ceil(ms)} ms more`, { sourceId, retryAfterMs: ms }));
      }),
  };
}
