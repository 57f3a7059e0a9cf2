import { defer, of, throwError } from 'rxjs';
import { AdmissionRefused, once } from '../gate.js';
import type { Gate } from '../gate.js';

/** Requests in flight per source, kept in this process. A source without a limit is counted, never refused. */
export interface ConcurrencyGate extends Gate {
  inUse(): Record<string, number>;
}

export function createConcurrencyGate(limits: ReadonlyMap<string, number | undefined>): ConcurrencyGate {
  const inUse = new Map<string, number>([...limits.keys()].map((id) => [id, 0]));
  const change = (id: string, by: number): void => void inUse.set(id, (inUse.get(id) ?? 0) + by);

  return {
    enter: ({ sourceId }) =>
      defer(() => {
        const limit = limits.get(sourceId) ?? Infinity;
        if ((inUse.get(sourceId) ?? 0) >= limit) {
          return throwError(() => new AdmissionRefused(`${sourceId} runs ${limit} requests already`, { sourceId }));
        }
        change(sourceId, 1);
        return of({ progress: () => undefined, settle: once(() => change(sourceId, -1)) });
      }),
    inUse: () => Object.fromEntries(inUse),
  };
}
