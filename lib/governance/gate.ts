import { concat, concatMap, defer, finalize, from, ignoreElements, of, tap, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { OfAttempt, RefusingGate } from '../model/events.js';

/** What an attempt asks a gate for. */
export interface Ticket {
  readonly sourceId: string;
  readonly callId: string;
  readonly attemptId: string;
  readonly role: 'primary' | 'backup';
  /** The round of the call, from 1. */
  readonly round: number;
  /** What the attempt is thought to use, prompt and answer together. */
  readonly estimatedTokens: number;
  /** Whoever is refused asks again until he is let in; default: he does not. */
  readonly waits?: boolean;
}

/** The attempt that a ticket is for, as events name it. */
export function attemptOf({ callId, attemptId, sourceId }: Ticket): OfAttempt {
  return { callId, attemptId, source: sourceId };
}

/**
 * How an attempt ended, as far as admission cares (G4). `cancelled` teaches nothing; `unsent` undoes the entry, since
 * nothing went out. `totalTokens` is what was used; `null`: not known, the estimate stands (G2, H5).
 */
export type Outcome = { type: 'success' | 'failure' | 'rate-limited' | 'cancelled'; totalTokens: number | null } | { type: 'unsent' };

/** The right to run one attempt. */
export interface Permit {
  /** An increment came; a half-open probe succeeds with it. */
  progress(): void;
  /** Gives the permit back. Called once; a second call does nothing (G3). */
  settle(outcome: Outcome): void;
  /** The request goes out now. */
  sent?(): void;
  /** A backend may have given the place to somebody else meanwhile: nothing may be sent on it. Absent: it never does. */
  expired?(): boolean;
}

/**
 * One port for quota, parking, breaker and pacing: exactly one permit, or an `AdmissionRefused`, or another error where
 * the gate cannot decide. Unsubscribing before the answer gives a late permit back.
 */
export interface Gate {
  /** One permit, then complete; or an error. Unsubscribing before the answer gives a late permit back. */
  enter(ticket: Ticket): Observable<Permit>;
  /** What `enter` would say now, if it is no; changes nothing. Only gates that know it without asking anybody have it. */
  refusal?(ticket: Ticket): AdmissionRefused | undefined;
  /** What `enter` would give now; called only where nothing refuses. Only gates that decide in this process have it. */
  take?(ticket: Ticket): Permit;
}

/** What a gate says beside its no. */
export interface RefusalFacts {
  /** The source that was asked for. */
  readonly sourceId: string;
  /** What says no, for events and metrics; default `other`. */
  readonly gate?: RefusingGate;
  /** When asking again is likely to help; absent: when something is given back. */
  readonly retryAfterMs?: number;
  /** Asking sooner cannot help; default `retryAfterMs`, else 0. */
  readonly notBeforeMs?: number;
  /** The source itself asked for it, so its callers must not all come back in one instant (R3); default `false`. */
  readonly asked?: boolean;
  /** Too long for any call to wait for (R3); default `false`. */
  readonly hopeless?: boolean;
}

/** A gate's no. It is never the source's failure, so it must not reach breaker or retry budget. */
export class AdmissionRefused extends Error {
  override readonly name = 'AdmissionRefused';
  readonly code = 'admission_refused';
  readonly sourceId: string;
  readonly gate: RefusingGate;
  /** When asking again is likely to help; absent: when something is given back. */
  readonly retryAfterMs?: number;
  /** Asking sooner cannot help. */
  readonly notBeforeMs: number;
  readonly asked: boolean;
  readonly hopeless: boolean;

  constructor(reason: string, { sourceId, gate = 'other', retryAfterMs, notBeforeMs = retryAfterMs ?? 0, asked = false, hopeless = false }: RefusalFacts) {
    super(reason);
    this.sourceId = sourceId;
    this.gate = gate;
    this.notBeforeMs = notBeforeMs;
    this.asked = asked;
    this.hopeless = hopeless;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** Makes a refusal: an answer, not a fault, so nobody reads its stack, and to write one down costs more than all the gates. */
export function refuse(reason: string, facts: RefusalFacts): AdmissionRefused {
  return withoutStack(() => new AdmissionRefused(reason, facts));
}

export function withoutStack<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const made = make();
  Error.stackTraceLimit = stackTraceLimit;
  return made;
}

/** A gate that decides in this process, in the turn in which it is asked. `take` is called only where nothing refuses. */
export function localGate({ refusal, take }: { refusal: (ticket: Ticket) => AdmissionRefused | undefined; take: (ticket: Ticket) => Permit }): Required<Gate> {
  return {
    refusal,
    take,
    enter: (ticket) =>
      defer(() => {
        const refused = refusal(ticket);
        return refused === undefined ? of(take(ticket)) : throwError(() => refused);
      }),
  };
}

/**
 * All gates together or none (G1): what was taken is given back when a later gate refuses, fails or is not awaited. Those
 * that know their no beforehand are heard first, all of them, so that a refusal says when the last of them would agree.
 */
export function allGates(gates: readonly Gate[]): Gate & Required<Pick<Gate, 'refusal'>> {
  const refusalOf = (ticket: Ticket): AdmissionRefused | undefined => {
    const refusals = gates.flatMap((gate) => gate.refusal?.(ticket) ?? []);
    return refusals.length > 0 ? jointRefusal(refusals) : undefined;
  };
  if (gates.every((gate) => isLocal(gate))) {
    return localGate({ refusal: refusalOf, take: (ticket) => new JointPermit(gates.map((gate) => gate.take(ticket))) });
  }
  return {
    refusal: refusalOf,
    enter: (ticket) =>
      defer(() => {
        const refused = refusalOf(ticket);
        if (refused !== undefined) return throwError(() => refused);
        const held: Permit[] = [];
        let granted = false;
        const entered$ = from(gates).pipe(
          concatMap((gate) => gate.enter(ticket)),
          tap({ next: (permit) => held.push(permit) }),
          ignoreElements(),
        );
        const joint$ = defer(() => {
          granted = true;
          return of(new JointPermit(held));
        });
        return concat(entered$, joint$).pipe(
          finalize(() => {
            if (!granted) for (const permit of held) permit.settle({ type: 'unsent' });
          }),
        );
      }),
  };
}

/** Whether it decides in this process, in the turn in which it is asked. */
export function isLocal(gate: Gate): gate is Required<Gate> {
  return gate.take !== undefined && gate.refusal !== undefined;
}

/** One source is let in when the last of its gates agrees. */
export function jointRefusal(refusals: readonly AdmissionRefused[]): AdmissionRefused {
  const [only] = refusals;
  if (only !== undefined && refusals.length === 1) return only;
  const last = refusals.reduce((a, b) => (b.notBeforeMs > a.notBeforeMs ? b : a));
  const known = refusals.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return refuse(refusals.map(({ message }) => message).join(', and '), {
    sourceId: last.sourceId,
    gate: last.gate,
    notBeforeMs: last.notBeforeMs,
    asked: last.asked,
    hopeless: refusals.some(({ hopeless }) => hopeless),
    ...(known.length === 0 ? {} : { retryAfterMs: Math.max(...known) }),
  });
}

/** Permits that are given back together, once; a class, since one is held for each stream. */
class JointPermit implements Permit {
  private isOpen = true;
  private readonly permits: readonly Permit[];
  private readonly giveBack: ((outcome: Outcome) => void) | undefined;

  /** `giveBack` does it in another way than to settle each. */
  constructor(permits: readonly Permit[], giveBack?: (outcome: Outcome) => void) {
    this.permits = permits;
    this.giveBack = giveBack;
  }

  progress(): void {
    for (const permit of this.permits) permit.progress();
  }

  settle(outcome: Outcome): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (this.giveBack !== undefined) this.giveBack(outcome);
    else for (const permit of this.permits) permit.settle(outcome);
  }

  sent(): void {
    for (const permit of this.permits) permit.sent?.();
  }

  expired(): boolean {
    return this.permits.some((permit) => permit.expired?.() === true);
  }
}

/** The same permit, given back another way, once. */
export function settledBy(permit: Permit, settle: (outcome: Outcome) => void): Permit {
  return new JointPermit([permit], settle);
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
