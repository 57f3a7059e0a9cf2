import type { BreakerPhase, Report } from '../../model/events.js';
import type { SourceLimits } from '../../model/source.js';
import { attemptOf, localGate, once } from '../gate.js';
import type { AdmissionRefused, Gate, Outcome, Permit, Ticket } from '../gate.js';
import { freshBreaker, transition, verdictOf } from './breaker.js';
import type { BreakerEvent, BreakerPolicy, BreakerState } from './breaker.js';
import { breakerRefusal } from './breakerRefusal.js';

export interface BreakerGateOptions {
  /** `probeLeaseMs`: its place is kept for at least that long. */
  readonly sources: readonly { readonly id: string; readonly probeLeaseMs?: number }[];
  readonly policy: BreakerPolicy;
  readonly now: () => number;
  readonly random: () => number;
  readonly report: Report;
  /** A source has recovered, as this attempt has shown. */
  readonly onClosed?: (ticket: Ticket) => void;
}

/** A probe that its own limits end has given its place back before another can take it. */
const leaseMarginMs = 1000;

/** How long a healthy probe of this source may take to say something. */
export function probeLeaseMs({ ttftTimeoutMs, timeoutMs }: SourceLimits): number {
  return (timeoutMs ?? ttftTimeoutMs ?? 0) + leaseMarginMs;
}

export interface BreakerGate extends Required<Gate> {
  /** Lets an attempt in whatever it thinks of it, and hears how it ends. */
  take(this: void, ticket: Ticket): Permit;
  phases(): Record<string, BreakerPhase>;
}

/**
 * The breakers of a scope, kept in this process; a source it does not know has none. Reports `breaker-changed` with each
 * change of phase.
 */
export function createBreakerGate({ sources, policy, now, random, report, onClosed = () => undefined }: BreakerGateOptions): BreakerGate {
  const leases = new Map(sources.map(({ id, probeLeaseMs: leaseMs = 0 }) => [id, leaseMs]));
  const states = new Map<string, BreakerState>(sources.map(({ id }) => [id, freshBreaker]));
  const stateOf = (id: string): BreakerState => states.get(id) ?? freshBreaker;

  function happen(ticket: Ticket, event: BreakerEvent): BreakerState {
    const id = ticket.sourceId;
    const before = stateOf(id);
    const nowMs = now();
    const after = transition(before, event, nowMs, policy);
    if (states.has(id)) states.set(id, after);
    if (after.type === before.type) return after;
    // First, since whoever hears of it may come in the same turn, and not everybody may.
    if (after.type === 'closed') onClosed(ticket);
    report({ type: 'breaker-changed', ...attemptOf(ticket), from: before.type, to: after.type, coolDownMs: after.type === 'open' ? coolDownLeft(after, nowMs) : null });
    return after;
  }

  function refusal({ sourceId, role }: Ticket): AdmissionRefused | undefined {
    return breakerRefusal(sourceId, verdictOf(stateOf(sourceId), now()), role);
  }

  function take(ticket: Ticket): Permit {
    const { sourceId } = ticket;
    const before = stateOf(sourceId);
    const admittedMs = now();
    let isProbe = before.type !== 'closed';
    let { generation } = before.type === 'closed' ? before : happen(ticket, { type: 'probe-taken', leaseMs: Math.max(before.coolDownMs, leases.get(sourceId) ?? 0) });
    return {
      progress() {
        if (!isProbe) return;
        isProbe = false;
        // From here on it is an attempt of the closed breaker like any other (G4); one that lost its place stays a stranger.
        if (stateOf(sourceId).generation === generation) ({ generation } = happen(ticket, { type: 'succeeded', generation }));
      },
      settle: once((outcome) => {
        isProbe = false;
        happen(ticket, toEvent(outcome, { generation, admittedMs, random, before }));
      }),
    };
  }

  return { ...localGate({ refusal, take }), take, phases: () => Object.fromEntries([...states].map(([id, { type }]) => [id, type])) };
}

/** A probe without a verdict leaves its breaker open, and ready for the next. */
function coolDownLeft({ coolDownMs, untilMs }: { coolDownMs: number; untilMs: number }, nowMs: number): number {
  return untilMs > nowMs ? coolDownMs : 0;
}

interface Admission {
  readonly generation: number;
  readonly admittedMs: number;
  readonly random: () => number;
  readonly before: BreakerState;
}

function toEvent({ type }: Outcome, { generation, admittedMs, random, before }: Admission): BreakerEvent {
  switch (type) {
    case 'success':
      return { type: 'succeeded', generation };
    case 'failure':
      return { type: 'failed', generation, admittedMs, random: random() };
    case 'rate-limited':
    case 'cancelled':
      return { type: 'neutral', generation };
    case 'unsent':
      return { type: 'undone', generation, before };
    default:
      return type satisfies never;
  }
}
