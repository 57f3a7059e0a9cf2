import { Observable, asyncScheduler, of, throwError, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { AdmissionRefused, once } from '../../lib/governance/gate.js';
import type { Gate, Outcome, Permit, Ticket } from '../../lib/governance/gate.js';
import { createMemoryGovernance } from '../../lib/governance/memory.js';
import { patientBreaker } from '../support/virtualGateway.js';

export const ticket: Ticket = { sourceId: 'a/1', callId: 'call', attemptId: 'call-1', role: 'primary', round: 1, estimatedTokens: 100 };
export const cancelled: Outcome = { type: 'cancelled', totalTokens: null };

/** A scope in memory with these limits of concurrency, whose other governors have nothing to say. */
export function memoryGovernance(limits: Readonly<Record<string, number | undefined>>, scheduler: SchedulerLike): ReturnType<typeof createMemoryGovernance> {
  const sources = Object.entries(limits).map(([id, maxConcurrency]) => ({ id, limits: {}, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) }));
  return createMemoryGovernance({ sources, breaker: patientBreaker, now: () => scheduler.now(), random: () => 1, report: () => undefined });
}

/** A gate that writes down what it gave and what it got back. */
export interface CountingGate extends Gate {
  granted: number;
  /** The outcomes its permits were given back with, in order. */
  readonly settled: Outcome['type'][];
  progressed: number;
}

/** Grants at once, always; or refuses, always. */
export function openGate(): CountingGate {
  const gate: CountingGate = { granted: 0, settled: [], progressed: 0, enter: () => of(grant(gate)) };
  return gate;
}

export function closedGate(reason: string, retryAfterMs?: number): Gate {
  const facts = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { enter: ({ sourceId }) => throwError(() => new AdmissionRefused(reason, { sourceId, ...facts })) };
}

/**
 * A gate whose answer takes time and cannot be called off, like one that asks a server: what is granted after the caller
 * has left is given back when the answer comes. `decide` refuses by throwing.
 */
export function remoteGate(options: { readonly answerMs: () => number; readonly decide?: () => void; readonly scheduler?: SchedulerLike }): CountingGate {
  const { answerMs, decide = () => undefined, scheduler = asyncScheduler } = options;
  const gate: CountingGate = {
    granted: 0,
    settled: [],
    progressed: 0,
    enter: () =>
      new Observable<Permit>((subscriber) => {
        timer(answerMs(), scheduler).subscribe(() => {
          try {
            decide();
          } catch (error) {
            subscriber.error(error);
            return;
          }
          const permit = grant(gate);
          if (subscriber.closed) permit.settle(cancelled);
          subscriber.next(permit);
          subscriber.complete();
        });
      }),
  };
  return gate;
}

function grant(gate: CountingGate): Permit {
  gate.granted += 1;
  return {
    progress: () => { gate.progressed += 1; },
    settle: once(({ type }) => void gate.settled.push(type)),
  };
}
