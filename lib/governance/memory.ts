import { createAdmission } from './admit.js';
import type { Gate } from './gate.js';
import { createParking } from './parking.js';
import type { Parking } from './parking.js';
import { createProgress } from './progress.js';
import type { Progress } from './progress.js';
import { createConcurrencyGate } from './quota/concurrencyGate.js';
import { createWaitingLine } from './waitingLine.js';
import type { WaitingLine } from './waitingLine.js';

/** The admission state of one scope. */
export interface Governance {
  readonly admission: Gate;
  readonly parking: Parking;
  readonly progress: Progress;
  readonly line: WaitingLine;
  /** Permits in use per source. */
  permits(): Record<string, number>;
}

/** Keeps the admission state in this process; every answer is synchronous. A further governor is one more gate here. */
export function createMemoryGovernance(options: {
  readonly sources: readonly { readonly id: string; readonly maxConcurrency?: number }[];
  readonly now: () => number;
}): Governance {
  const { sources, now } = options;
  const parking = createParking({ now });
  const concurrency = createConcurrencyGate(new Map(sources.map(({ id, maxConcurrency }) => [id, maxConcurrency])));
  const line = createWaitingLine();
  return {
    admission: createAdmission({ gates: [parking, concurrency], line }),
    parking,
    progress: createProgress({ now }),
    line,
    permits: () => concurrency.inUse(),
  };
}
