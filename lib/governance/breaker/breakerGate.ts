import type { BreakerPhase, Report } from '../../model/events.js';
import { AdmissionRefused, localGate, once } from '../gate.js';
import type { Gate, Outcome, Permit, Ticket } from '../gate.js';
import { freshBreaker, transition, verdictOf } from './breaker.js';
import type { BreakerEvent, BreakerPolicy, BreakerState } from './breaker.js';

export interface BreakerGateOptions {
  /** `firstLimitMs`: how long a healthy probe may take to say something; its place is kept for at least that long. */
  readonly sources: readonly { readonly id: string; readonly firstLimitMs?: number }[];
  readonly policy: BreakerPolicy;
  readonly now: () => number;
  readonly random: () => number;
  readonly report: Report;
  /** A source has recovered. */
  readonly onClosed?: (sourceId: string) => void;
}

export interface BreakerGate extends Required<Gate> {
  phases(): Record<string, BreakerPhase>;
}

/** The breakers of a scope, kept in this process. */
export function createBreakerGate({ sources, policy, now, random, report, onClosed = () => undefined }: BreakerGateOptions): BreakerGate {
  const firstLimits = new Map(sources.map(({ id, firstLimitMs = 0 }) => [id, firstLimitMs]));
  const states = new Map<string, BreakerState>(sources.map(({ id }) => [id, freshBreaker]));
  const stateOf = (id: string): BreakerState => states.get(id) ?? freshBreaker;

  function happen(id: string, event: BreakerEvent): void {
    const before = stateOf(id);
    const after = transition(before, event, now(), policy);
    states.set(id, after);
    if (after.type === before.type) return;
    report({ type: 'breaker-changed', source: id, from: before.type, to: after.type, coolDownMs: after.type === 'open' ? after.coolDownMs : null });
    if (after.type === 'closed') onClosed(id);
  }

  function refusal({ sourceId, role }: Ticket): AdmissionRefused | undefined {
    const verdict = verdictOf(stateOf(sourceId), now());
    if (verdict.type === 'pass' || (verdict.type === 'probe' && role === 'primary')) return undefined;
    if (verdict.type === 'probe') return new AdmissionRefused(`the breaker of ${sourceId} wants a probe, which a backup never is`, { sourceId });
    if (verdict.untilMs === null) return new AdmissionRefused(`the breaker of ${sourceId} waits for its probe`, { sourceId });
    const retryAfterMs = verdict.untilMs - now();
    return new AdmissionRefused(`the breaker of ${sourceId} is open for ${Math.ceil(retryAfterMs)} ms more`, { sourceId, retryAfterMs });
  }

  function take({ sourceId }: Ticket): Permit {
    const before = stateOf(sourceId);
    if (before.type !== 'closed') happen(sourceId, { type: 'probe-taken', leaseMs: Math.max(before.coolDownMs, firstLimits.get(sourceId) ?? 0) });
    const admittedMs = now();
    let { generation } = stateOf(sourceId);
    const isProbe = before.type !== 'closed';
    return {
      progress() {
        const state = stateOf(sourceId);
        if (!isProbe || state.type !== 'half-open' || state.generation !== generation) return;
        happen(sourceId, { type: 'succeeded', generation });
        // From here on it is an attempt of the closed breaker like any other (G4).
        ({ generation } = stateOf(sourceId));
      },
      settle: once((outcome) => happen(sourceId, toEvent(outcome, { generation, admittedMs, random }))),
    };
  }

  return { ...localGate({ refusal, take }), phases: () => Object.fromEntries([...states].map(([id, { type }]) => [id, type])) };
}

function toEvent({ type }: Outcome, { generation, admittedMs, random }: { generation: number; admittedMs: number; random: () => number }): BreakerEvent {
  switch (type) {
    case 'success':
      return { type: 'succeeded', generation };
    case 'failure':
      return { type: 'failed', generation, admittedMs, random: random() };
    case 'rate-limited':
    case 'cancelled':
    case 'unsent':
      return { type: 'neutral', generation };
    default:
      return type satisfies never;
  }
}
