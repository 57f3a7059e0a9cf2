import type { BreakerPolicy } from '../../../lib/governance/breaker/breaker.js';
import type { Outcome, Ticket } from '../../../lib/governance/gate.js';
import type { BreakerPhase } from '../../../lib/model/events.js';

/** One stretch of time in one phase; who was admitted in it holds it, and is a stranger in any other. */
interface Stretch {
  readonly phase: BreakerPhase;
  readonly sinceMs: number;
  /** Of the cool-down, or of the probe's lease. */
  readonly untilMs: number;
  readonly coolDownMs: number;
  /** Openings that have not been forgiven. */
  readonly openings: number;
  readonly results: { readonly atMs: number; readonly admittedMs: number; readonly failed: boolean }[];
}

export interface PlainAttempt {
  stretch: Stretch;
  readonly before: Stretch;
  readonly admittedMs: number;
}

export type PlainAnswer = 'in' | { readonly retryAfterMs: number | undefined };

/** The breaker as the rules put it, searched in a log of everything that happened; what it costs does not matter. */
export interface PlainBreaker {
  phase(): BreakerPhase;
  ask(role: Ticket['role'], nowMs: number): PlainAnswer;
  enter(nowMs: number): PlainAttempt;
  progress(attempt: PlainAttempt, nowMs: number): void;
  settle(attempt: PlainAttempt, outcome: Outcome['type'], nowMs: number): void;
}

export function plainBreaker(policy: BreakerPolicy, { firstLimitMs, random }: { firstLimitMs: number; random: number }): PlainBreaker {
  const closedAt = (sinceMs: number, openings: number): Stretch => ({ phase: 'closed', sinceMs, untilMs: 0, coolDownMs: 0, openings, results: [] });
  let present = closedAt(0, 0);
  const isDue = (nowMs: number): boolean => present.phase !== 'closed' && nowMs >= present.untilMs;

  function open(nowMs: number, openingsBefore: number): void {
    let coolDownMs = policy.cooldownMs;
    for (let count = 0; count < openingsBefore; count += 1) coolDownMs = Math.min(policy.cooldownMaxMs, coolDownMs * 2);
    coolDownMs = Math.min(policy.cooldownMaxMs, coolDownMs) * (0.8 + (1 - 0.8) * random);
    present = { phase: 'open', sinceMs: nowMs, untilMs: nowMs + coolDownMs, coolDownMs, openings: openingsBefore + 1, results: [] };
  }

  /** Openings that still lengthen the cool-down; more than these would not. */
  function unforgiven(nowMs: number): number {
    let most = 0;
    while (policy.cooldownMs * 2 ** most < policy.cooldownMaxMs) most += 1;
    let left = Math.min(most, present.openings);
    for (let healthyMs = nowMs - present.sinceMs; healthyMs >= policy.windowMs && left > 0; healthyMs -= policy.windowMs) left -= 1;
    return left;
  }

  function row(): number {
    const backwards = [...present.results].reverse();
    let length = 0;
    for (const [at, { failed, admittedMs }] of backwards.entries()) {
      if (!failed) return length;
      length += 1;
      const earlier = backwards[at + 1];
      if (earlier !== undefined && admittedMs - earlier.atMs > policy.windowMs) return length;
    }
    return length;
  }

  function isShareTooHigh(nowMs: number): boolean {
    const tenth = (ms: number): number => Math.floor((ms * 10) / policy.windowMs);
    const recent = present.results.filter(({ atMs }) => tenth(nowMs) - tenth(atMs) < 10);
    return recent.length >= policy.minCalls && recent.filter(({ failed }) => failed).length >= policy.ratio * recent.length;
  }

  function note(attempt: PlainAttempt, failed: boolean, nowMs: number): void {
    if (present.phase === 'half-open') {
      if (failed) open(nowMs, unforgiven(present.sinceMs));
      else present = closedAt(nowMs, present.openings);
      return;
    }
    present.results.push({ atMs: nowMs, admittedMs: attempt.admittedMs, failed });
    if (failed && (row() >= policy.failures || isShareTooHigh(nowMs))) open(nowMs, unforgiven(nowMs));
  }

  return {
    phase: () => present.phase,
    ask(role, nowMs) {
      if (present.phase === 'closed' || (isDue(nowMs) && role === 'primary')) return 'in';
      return { retryAfterMs: present.phase === 'open' && !isDue(nowMs) ? present.untilMs - nowMs : undefined };
    },
    enter(nowMs) {
      const before = present;
      if (before.phase !== 'closed') present = { ...before, phase: 'half-open', sinceMs: nowMs, untilMs: nowMs + Math.max(before.coolDownMs, firstLimitMs) };
      return { stretch: present, before, admittedMs: nowMs };
    },
    progress(attempt, nowMs) {
      if (attempt.stretch !== present || present.phase !== 'half-open') return;
      note(attempt, false, nowMs);
      attempt.stretch = present;
    },
    settle(attempt, outcome, nowMs) {
      if (attempt.stretch !== present) return;
      if (outcome === 'success' || outcome === 'failure') note(attempt, outcome === 'failure', nowMs);
      else if (present.phase === 'half-open') present = outcome === 'unsent' ? attempt.before : { ...attempt.before, phase: 'open', untilMs: nowMs };
    },
  };
}
