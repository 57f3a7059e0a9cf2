/** When a breaker opens, and for how long. */
export interface BreakerPolicy {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** The first cool-down; it doubles with each opening, up to `cooldownMaxMs`. */
  readonly cooldownMs: number;
  readonly cooldownMaxMs: number;
  /** Share of failures among the results of the window that opens it, once there are `minCalls`. */
  readonly ratio: number;
  readonly windowMs: number;
  readonly minCalls: number;
}

/** The results that ended in one slice of the window. */
export interface Bucket {
  readonly slice: number;
  readonly results: number;
  readonly failures: number;
}

/** `generation` tells apart what belongs to the present state; `level` how often it has opened of late. */
export type BreakerState =
  | { readonly type: 'closed'; readonly generation: number; readonly level: number; readonly sinceMs: number; readonly inARow: number; readonly lastResultMs: number | null; readonly buckets: readonly Bucket[] }
  | ({ readonly type: 'open' } & CoolDown)
  | ({ readonly type: 'half-open'; readonly leaseUntilMs: number } & CoolDown);

interface CoolDown {
  readonly generation: number;
  readonly level: number;
  readonly coolDownMs: number;
  readonly untilMs: number;
}

/** What happens to a breaker. Results carry the generation in which their attempt was admitted. */
export type BreakerEvent =
  | { readonly type: 'probe-taken'; readonly leaseMs: number }
  | { readonly type: 'succeeded'; readonly generation: number }
  | { readonly type: 'failed'; readonly generation: number; readonly admittedMs: number; readonly random: number }
  /** The attempt has told nothing about the source: the probe's place is free again (G4). */
  | { readonly type: 'neutral'; readonly generation: number };

type Closed = Extract<BreakerState, { type: 'closed' }>;

export const freshBreaker: Closed = { type: 'closed', generation: 0, level: 0, sinceMs: 0, inARow: 0, lastResultMs: null, buckets: [] };

const slices = 10;
/** The least share of a cool-down that jitter leaves. */
const leastShare = 0.8;

/** What an attempt would be: let in, a probe, or refused until something happens or `untilMs`. */
export type Verdict = { readonly type: 'pass' } | { readonly type: 'probe' } | { readonly type: 'refuse'; readonly untilMs: number | null };

export function verdictOf(state: BreakerState, nowMs: number): Verdict {
  switch (state.type) {
    case 'closed':
      return { type: 'pass' };
    case 'open':
      return nowMs >= state.untilMs ? { type: 'probe' } : { type: 'refuse', untilMs: state.untilMs };
    case 'half-open':
      // A probe that never ends may not keep its place for ever.
      return nowMs >= state.leaseUntilMs ? { type: 'probe' } : { type: 'refuse', untilMs: null };
    default:
      return state satisfies never;
  }
}

/** The state after an event; what belongs to another generation changes nothing. No timers: time only counts when asked. */
export function transition(state: BreakerState, event: BreakerEvent, nowMs: number, policy: BreakerPolicy): BreakerState {
  if (event.type === 'probe-taken') return verdictOf(state, nowMs).type === 'probe' ? halfOpen(state, nowMs + event.leaseMs) : state;
  if (event.generation !== state.generation) return state;
  switch (event.type) {
    case 'succeeded':
      return state.type === 'closed' ? counted(state, { nowMs, failed: false, policy }) : closed(state, nowMs);
    case 'failed':
      return state.type === 'closed' ? afterFailure(state, event, nowMs, policy) : opened(state.level + 1, state.generation, event.random, nowMs, policy);
    case 'neutral':
      return state.type === 'half-open' ? { ...coolDownOf(state), type: 'open', generation: state.generation + 1 } : state;
    default:
      return event satisfies never;
  }
}

function afterFailure(state: Closed, event: { admittedMs: number; random: number }, nowMs: number, policy: BreakerPolicy): BreakerState {
  // Idleness breaks the row, slowness does not: a silent source fails late, one attempt right after the other.
  const idle = state.lastResultMs !== null && event.admittedMs - state.lastResultMs > policy.windowMs;
  const inARow = idle ? 1 : state.inARow + 1;
  const next = { ...counted(state, { nowMs, failed: true, policy }), inARow };
  const results = sum(next.buckets, 'results');
  const tooMany = results >= policy.minCalls && sum(next.buckets, 'failures') / results >= policy.ratio;
  if (inARow < policy.failures && !tooMany) return next;
  const healed = Math.floor((nowMs - state.sinceMs) / policy.windowMs);
  return opened(Math.max(0, state.level - healed), state.generation, event.random, nowMs, policy);
}

function counted(state: Closed, { nowMs, failed, policy }: { nowMs: number; failed: boolean; policy: BreakerPolicy }): Closed {
  const slice = Math.floor((nowMs * slices) / policy.windowMs);
  const recent = state.buckets.filter((bucket) => bucket.slice > slice - slices && bucket.slice !== slice);
  const { results, failures } = state.buckets.find((bucket) => bucket.slice === slice) ?? { results: 0, failures: 0 };
  const bucket = { slice, results: results + 1, failures: failures + (failed ? 1 : 0) };
  return { ...state, inARow: 0, lastResultMs: nowMs, buckets: [...recent, bucket] };
}

/** `level` is that of the cool-down to come; the state keeps the next one. */
function opened(level: number, generation: number, random: number, nowMs: number, policy: BreakerPolicy): BreakerState {
  const fullMs = Math.min(policy.cooldownMaxMs, policy.cooldownMs * 2 ** Math.min(level, 30));
  const coolDownMs = fullMs * (leastShare + (1 - leastShare) * random);
  return { type: 'open', generation: generation + 1, level, coolDownMs, untilMs: nowMs + coolDownMs };
}

function halfOpen(state: BreakerState, leaseUntilMs: number): BreakerState {
  return state.type === 'closed' ? state : { ...coolDownOf(state), type: 'half-open', generation: state.generation + 1, leaseUntilMs };
}

/** Opening again counts from the next level on. */
function closed({ generation, level }: CoolDown, nowMs: number): BreakerState {
  return { ...freshBreaker, generation: generation + 1, level: level + 1, sinceMs: nowMs };
}

function coolDownOf({ generation, level, coolDownMs, untilMs }: CoolDown): CoolDown {
  return { generation, level, coolDownMs, untilMs };
}

function sum(buckets: readonly Bucket[], figure: 'results' | 'failures'): number {
  return buckets.reduce((total, bucket) => total + bucket[figure], 0);
}
