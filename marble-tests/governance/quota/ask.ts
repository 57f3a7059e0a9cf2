import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Gate, Outcome, Permit, Ticket } from '../../../lib/governance/gate.js';

export type Answer = Permit | AdmissionRefused;

export const success = (totalTokens: number | null = null): Outcome => ({ type: 'success', totalTokens });
export const unsent: Outcome = { type: 'unsent' };

export function ticketOf(wish: Partial<Ticket> = {}): Ticket {
  return { sourceId: 'a/1', callId: 'call', attemptId: 'call-1', role: 'primary', round: 1, estimatedTokens: 100, ...wish };
}

/** What a gate answers in the turn in which it is asked. */
export function ask(gate: Gate, wish: Partial<Ticket> = {}): Answer {
  let answer: Answer | undefined;
  gate.enter(ticketOf(wish)).subscribe({
    next: (permit) => { answer = permit; },
    error: (error: unknown) => {
      if (!(error instanceof AdmissionRefused)) throw error;
      answer = error;
    },
  });
  if (answer === undefined) throw new Error('the gate answered nothing');
  return answer;
}

export function admit(gate: Gate, wish: Partial<Ticket> = {}): Permit {
  const answer = ask(gate, wish);
  if (answer instanceof AdmissionRefused) throw answer;
  return answer;
}

/** `in`, or the words of the refusal. */
export function said(answer: Answer): string {
  return answer instanceof AdmissionRefused ? answer.message : 'in';
}

/** The times of a refusal; `in` for a permit. */
export function times(answer: Answer): unknown {
  return answer instanceof AdmissionRefused ? [answer.notBeforeMs, answer.retryAfterMs] : 'in';
}
