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
  | { readonly type: 'neutral'; readonly generation: number }
  /** Nothing went out: a probe that was taken from `before` was not taken. */
  | { readonly type: 'undone'; readonly generation: number; readonly before: BreakerState };

type Closed = Extract<BreakerState, { type: 'closed' }>;
type HalfOpen = Extract<BreakerState, { type: 'half-open' }>;
type BreakerResult = Exclude<BreakerEvent, { type: 'probe-taken' }>;

export const freshBreaker: Closed = { type: 'closed', generation: 0, level: 0, sinceMs: 0, inARow: 0, lastResultMs: null, buckets: [] };

const slices = 10;
/** The least share of a cool-down that jitter leaves. */
const leastShare = 0.8;

/** What an attempt would be: let in, a probe, or refused for `leftMs` more; `probing` may be over sooner. */
export type Verdict = { readonly type: 'pass' } | { readonly type: 'probe' } | { readonly type: 'cooling' | 'probing'; readonly leftMs: number };

export function verdictOf(state: BreakerState, nowMs: number): Verdict {
  switch (state.type) {
    case 'closed':
      return { type: 'pass' };
    case 'open':
      return nowMs >= state.untilMs ? { type: 'probe' } : { type: 'cooling', leftMs: state.untilMs - nowMs };
    case 'half-open':
      // A probe that never ends may not keep its place for ever.
      return nowMs >= state.leaseUntilMs ? { type: 'probe' } : { type: 'probing', leftMs: state.leaseUntilMs - nowMs };
    default:
      return state satisfies never;
  }
}

/** The state after an event; what belongs to another generation changes nothing. No timers: time only counts when asked. */
export function transition(state: BreakerState, event: BreakerEvent, nowMs: number, policy: BreakerPolicy): BreakerState {
  if (event.type === 'probe-taken') return verdictOf(state, nowMs).type === 'probe' ? halfOpen(state, nowMs + event.leaseMs) : state;
  // Nobody is let in by an open breaker, so no result is its own.
  if (state.type === 'open' || event.generation !== state.generation) return state;
  return state.type === 'closed' ? afterResult(state, event, nowMs, policy) : afterProbe(state, event, nowMs, policy);
}

function afterProbe(state: HalfOpen, event: BreakerResult, nowMs: number, policy: BreakerPolicy): BreakerState {
  switch (event.type) {
    case 'succeeded':
      return { ...freshBreaker, generation: state.generation + 1, level: nextLevel(state, policy), sinceMs: nowMs };
    case 'failed':
      return opened(state, { level: nextLevel(state, policy), random: event.random, nowMs, policy });
    case 'neutral':
      return { ...coolDownOf(state), type: 'open', generation: state.generation + 1 };
    case 'undone':
      return event.before;
    default:
      return event satisfies never;
  }
}

function afterResult(state: Closed, event: BreakerResult, nowMs: number, policy: BreakerPolicy): BreakerState {
  switch (event.type) {
    case 'succeeded':
      return { ...counted(state, { nowMs, failed: false, policy }), inARow: 0 };
    case 'failed':
      return afterFailure(state, event, nowMs, policy);
    case 'neutral':
    case 'undone':
      return state;
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
  return opened(state, { level: Math.max(0, state.level - healed), random: event.random, nowMs, policy });
}

function counted(state: Closed, { nowMs, failed, policy }: { nowMs: number; failed: boolean; policy: BreakerPolicy }): Closed {
  const slice = Math.floor((nowMs * slices) / policy.windowMs);
  const recent = state.buckets.filter((bucket) => bucket.slice > slice - slices && bucket.slice !== slice);
  const { results, failures } = state.buckets.find((bucket) => bucket.slice === slice) ?? { results: 0, failures: 0 };
  const bucket = { slice, results: results + 1, failures: failures + (failed ? 1 : 0) };
  return { ...state, lastResultMs: nowMs, buckets: [...recent, bucket] };
}

function opened({ generation }: BreakerState, { level, random, nowMs, policy }: { level: number; random: number; nowMs: number; policy: BreakerPolicy }): BreakerState {
  const fullMs = Math.min(policy.cooldownMaxMs, policy.cooldownMs * 2 ** level);
  const coolDownMs = fullMs * (leastShare + (1 - leastShare) * random);
  return { type: 'open', generation: generation + 1, level, coolDownMs, untilMs: nowMs + coolDownMs };
}

/** The level of the next opening. It ends where the cool-down cannot grow, or a long outage would take as long to forgive. */
function nextLevel({ level }: CoolDown, { cooldownMs, cooldownMaxMs }: BreakerPolicy): number {
  return cooldownMs * 2 ** level < cooldownMaxMs ? level + 1 : level;
}

function halfOpen(state: BreakerState, leaseUntilMs: number): BreakerState {
  return state.type === 'closed' ? state : { ...coolDownOf(state), type: 'half-open', generation: state.generation + 1, leaseUntilMs };
}

function coolDownOf({ generation, level, coolDownMs, untilMs }: CoolDown): CoolDown {
  return { generation, level, coolDownMs, untilMs };
}

function sum(buckets: readonly Bucket[], figure: 'results' | 'failures'): number {
  return buckets.reduce((total, bucket) => total + bucket[figure], 0);
}
