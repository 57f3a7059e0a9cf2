import { refuse } from '../gate.js';
import type { AdmissionRefused } from '../gate.js';

export interface Paced {
  readonly concurrency: number;
  readonly inFlight: number;
  readonly slowStart: boolean;
}

export function pacedRefusal(sourceId: string, { concurrency, inFlight, slowStart }: Paced): AdmissionRefused {
  const why = slowStart ? 'since it came back' : 'after a 429';
  return refuse(`${sourceId} is paced to ${concurrency} ${concurrency === 1 ? 'request' : 'requests'} at once ${why}, and runs ${inFlight}`, { sourceId, gate: 'pacing' });
}
