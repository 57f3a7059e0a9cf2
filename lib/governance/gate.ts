import { concat, concatMap, defer, finalize, from, ignoreElements, of, tap } from 'rxjs';
import type { Observable } from 'rxjs';

/** What an attempt asks a gate for. */
export interface Ticket {
  readonly sourceId: string;
  readonly callId: string;
  readonly attemptId: string;
  readonly role: 'primary' | 'backup';
}

/** How an attempt ended, as far as admission cares (G4). `cancelled` gives back and teaches nothing. */
export type Outcome = { type: 'success'; totalTokens: number | null } | { type: 'failure' } | { type: 'rate-limited' } | { type: 'cancelled' };

/** The right to run one attempt. */
export interface Permit {
  /** An increment came; a half-open probe succeeds with it. */
  progress(): void;
  /** Gives the permit back. Called once; a second call does nothing (G3). */
  settle(outcome: Outcome): void;
}

/**
 * One port for quota, parking, breaker and pacing: exactly one permit, or an `AdmissionRefused`, or another error where
 * the gate cannot decide. Unsubscribing before the answer gives a late permit back.
 */
export interface Gate {
  enter(ticket: Ticket): Observable<Permit>;
}

/** A gate's no. It is never the source's failure, so it must not reach breaker or retry budget. */
export class AdmissionRefused extends Error {
  override readonly name = 'AdmissionRefused';
  readonly code = 'admission_refused';
  readonly sourceId: string;
  /** When asking again can help; absent: when something is given back. */
  readonly retryAfterMs?: number;

  constructor(reason: string, { sourceId, retryAfterMs }: { sourceId: string; retryAfterMs?: number }) {
    super(reason);
    this.sourceId = sourceId;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** All gates together or none (G1): what was taken is given back when a later gate refuses, fails or is not awaited. */
export function allGates(gates: readonly Gate[]): Gate {
  return {
    enter: (ticket) =>
      defer(() => {
        const held: Permit[] = [];
        let granted = false;
        const entered$ = from(gates).pipe(
          concatMap((gate) => gate.enter(ticket)),
          tap({ next: (permit) => held.push(permit) }),
          ignoreElements(),
        );
        const joint$ = defer(() => {
          granted = true;
          return of(jointPermit(held));
        });
        return concat(entered$, joint$).pipe(
          finalize(() => {
            if (!granted) for (const permit of held) permit.settle({ type: 'cancelled' });
          }),
        );
      }),
  };
}

function jointPermit(permits: readonly Permit[]): Permit {
  return {
    progress: () => { for (const permit of permits) permit.progress(); },
    settle: once((outcome) => { for (const permit of permits) permit.settle(outcome); }),
  };
}

/** Makes a settle that counts only the first time. */
export function once(settle: (outcome: Outcome) => void): (outcome: Outcome) => void {
  let settled = false;
  return (outcome) => {
    if (settled) return;
    settled = true;
    settle(outcome);
  };
}
