import { refuse } from '../gate.js';
import type { AdmissionRefused, Ticket } from '../gate.js';
import type { Verdict } from './breaker.js';

/** A breaker's no, if it is one; a backup is never a probe (H3). */
export function breakerRefusal(sourceId: string, verdict: Verdict, role: Ticket['role']): AdmissionRefused | undefined {
  switch (verdict.type) {
    case 'pass':
      return undefined;
    case 'probe':
      return role === 'primary' ? undefined : refuse(`the breaker of ${sourceId} wants 1 probe, which a backup never is`, { sourceId, gate: 'breaker' });
    case 'cooling':
      return refuse(`the breaker of ${sourceId} is open for ${Math.ceil(verdict.leftMs)} ms more`, { sourceId, gate: 'breaker', retryAfterMs: verdict.leftMs });
    case 'probing':
      return refuse(`the breaker of ${sourceId} waits for its probe, at most ${Math.ceil(verdict.leftMs)} ms more`, { sourceId, gate: 'breaker' });
    default:
      return verdict satisfies never;
  }
}
