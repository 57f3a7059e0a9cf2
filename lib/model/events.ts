import type { FailureClass } from './errors.js';
import type { Usage } from './usage.js';

export type Role = 'primary' | 'backup';
export type HedgeTrigger = 'first_increment' | 'stall';
export type BreakerPhase = 'closed' | 'open' | 'half-open';
export type RowClass = FailureClass | 'hedge_cancelled' | 'caller_cancelled' | 'deadline';

/** What is known of an attempt when it has ended; `won` is known when its round is decided (E1). Whole milliseconds. */
export interface AttemptRecord {
  id: string;
  callId: string;
  scope: string;
  round: number;
  role: Role;
  hedgeTrigger: HedgeTrigger | null;
  source: string;
  provider: string;
  model: string;
  streamed: boolean;
  outcome: 'ok' | 'error';
  errorClass: RowClass | null;
  errorMessage: string | null;
  httpStatus: number | null;
  retryAfterMs: number | null;
  finishReason: string | null;
  providerRequestId: string | null;
  won: boolean;
  /** The call's stall clock when the attempt started (B2). */
  waitedMs: number;
  ttftMs: number | null;
  latencyMs: number;
  maxInterTokenMs: number | null;
  increments: number | null;
  usage: Usage | null;
  estimatedTokens: number | null;
  tags: Record<string, string> | null;
  /** `[offset, length]` of each silence longer than every one before it, first wait and tail included. */
  recordGaps: readonly (readonly [number, number])[];
  /** Longest event-loop delay while the attempt ran (M7); `null` where it is not measured. */
  loopLagMs: number | null;
  startedMs: number;
  endedMs: number;
  stallMs: number | null;
  stallCount: number | null;
}

/** Everything that can be watched on `events$`. `atMs` is the gateway's clock, not a date. */
export type GatewayEvent = { atMs: number } & (
  | { type: 'call-started'; callId: string; scope: string }
  | { type: 'call-waiting'; callId: string; reason: string; retryAfterMs: number | null }
  | { type: 'attempt-started'; callId: string; attemptId: string; round: number; role: Role; source: string; trigger: HedgeTrigger | null }
  | { type: 'silence-noticed'; callId: string; attemptId: string; source: string; trigger: HedgeTrigger; silentMs: number }
  | { type: 'hedge-refused'; callId: string; attemptId: string; reason: string }
  | { type: 'attempt-ended'; record: AttemptRecord }
  | { type: 'attempt-unsent'; callId: string; attemptId: string }
  | { type: 'round-decided'; callId: string; round: number; records: readonly AttemptRecord[] }
  | { type: 'retry-scheduled'; callId: string; failureClass: FailureClass; delayMs: number }
  | { type: 'source-parked'; source: string; forMs: number }
  | { type: 'breaker-changed'; source: string; from: BreakerPhase; to: BreakerPhase; coolDownMs: number | null }
  | { type: 'pace-changed'; source: string; concurrency: number | null }
  /** A shared backend stopped deciding, or decides again. */
  | { type: 'backend-changed'; state: 'away' | 'back'; message: string }
  /** A running attempt's place in the fleet is no longer its own; it goes on, so one more than allowed may run. */
  | { type: 'lease-lost'; source: string; attemptId: string }
  | { type: 'call-ended'; callId: string; outcome: 'ok' | 'failed' | 'cancelled'; code: string | null; callMs: number }
  | { type: 'telemetry-trouble'; message: string; lost: number }
);

export type GatewayEventBody = GatewayEvent extends infer E ? (E extends { atMs: number } ? Omit<E, 'atMs'> : never) : never;

/** Handed down to every room that has something to tell. Cannot throw; nobody below knows who listens. */
export type Report = (this: void, event: GatewayEventBody) => void;
