import type { FailureClass } from './errors.js';
import type { Usage } from './usage.js';

/** Whether an attempt opened its round, or was started because another was silent. */
export type Role = 'primary' | 'backup';
/** What made a hedge: no first increment within `hedgeAfterS`, or a stream that has begun silent for `hedgeStallAfterS`. */
export type HedgeTrigger = 'first_increment' | 'stall';
/** Asked as usual, not asked, or asked by one probe. */
export type BreakerPhase = 'closed' | 'open' | 'half-open';
/** Why an attempt did not end well: its failure, another one won, the caller left, the call's deadline passed. */
export type RowClass = FailureClass | 'hedge_cancelled' | 'caller_cancelled' | 'deadline';

/**
 * What is known of an attempt when it has ended; `won` is known when its round is decided (E1). Whole milliseconds; counts are
 * numbers of frames and tokens. `null`: it does not apply (no error, no hedge), could not be measured, or was not said.
 */
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
  /** `[offset, length]` of each silence longer than every one of its kind before it: the first wait is one kind, the waits after it, the tail included, the other. */
  recordGaps: readonly (readonly [number, number])[];
  /** Longest event-loop delay while the attempt ran (M7); `null` where it is not measured. */
  loopLagMs: number | null;
  startedMs: number;
  endedMs: number;
  stallMs: number | null;
  stallCount: number | null;
}

/** What is asked for; in the words of OpenTelemetry's conventions for generative AI, as far as they have one. */
export type Operation = 'chat' | 'embeddings' | 'ocr';

/** What refuses an attempt its start: a governor, other processes' turn, that no source is left to ask, a backend that does not decide. */
export type RefusingGate = 'parking' | 'breaker' | 'pacing' | 'concurrency' | 'requests' | 'tokens' | 'hedge-cap' | 'turn' | 'none-left' | 'backend' | 'other';

/** One request of a call to a source. */
export interface OfAttempt {
  readonly callId: string;
  readonly attemptId: string;
  readonly source: string;
}

/**
 * Everything that can be watched on `events$`: a union on `type`. `atMs` is the gateway's clock, not a date. Whatever a call
 * causes has its `callId`, whatever an attempt causes `attemptId` and `source` too.
 */
export type GatewayEvent = { readonly atMs: number } & (
  | { type: 'call-started'; callId: string; scope: string; operation: Operation; model: string | null; streamed: boolean }
  /** No source may be asked now; told once per wait. */
  | { type: 'call-waiting'; callId: string; gate: RefusingGate; reason: string; retryAfterMs: number | null }
  /** The request goes out. `waitedMs`: the call's stall clock (B2). */
  | ({ type: 'attempt-started'; round: number; role: Role; trigger: HedgeTrigger | null; provider: string; model: string; waitedMs: number } & OfAttempt)
  /** The primary has been silent for as long as the settings say; a backup is asked for. */
  | ({ type: 'silence-noticed'; trigger: HedgeTrigger; silentMs: number } & OfAttempt)
  /** No backup starts; the attempt is the primary, which goes on. `source` is the primary's. */
  | ({ type: 'hedge-refused'; gate: RefusingGate; reason: string } & OfAttempt)
  | ({ type: 'attempt-ended'; record: AttemptRecord } & OfAttempt)
  /** Nothing of it went out: it leaves no row. */
  | ({ type: 'attempt-unsent' } & OfAttempt)
  /** Its rows are handed over; only now is `won` known. */
  | { type: 'round-decided'; callId: string; round: number; records: readonly AttemptRecord[] }
  /** `source` is where the failure came from that counts. */
  | { type: 'retry-scheduled'; callId: string; round: number; source: string | null; failureClass: FailureClass; delayMs: number }
  | ({ type: 'source-parked'; forMs: number } & OfAttempt)
  /** Of a breaker and a pace, the attempt is the one whose start or end changed them. */
  | ({ type: 'breaker-changed'; from: BreakerPhase; to: BreakerPhase; coolDownMs: number | null } & OfAttempt)
  | ({ type: 'pace-changed'; concurrency: number | null } & OfAttempt)
  /** A shared backend stopped deciding, or decides again. */
  | { type: 'backend-changed'; state: 'away' | 'back'; message: string }
  /** A running attempt's place in the fleet is no longer its own; it goes on, so one more than allowed may run. */
  | ({ type: 'lease-lost' } & OfAttempt)
  /** `attempts`: requests sent; `hedges`: backups started, one of which nothing went out too; `waitedMs`: the stall clock at the end; `source` is the winner's. */
  | { type: 'call-ended'; callId: string; outcome: 'ok' | 'failed' | 'cancelled'; code: string | null; callMs: number; source: string | null; attempts: number; hedges: number; waitedMs: number }
  | { type: 'telemetry-trouble'; message: string; lost: number }
);

/** An event without its time. */
export type GatewayEventBody = GatewayEvent extends infer E ? (E extends { atMs: number } ? Omit<E, 'atMs'> : never) : never;

/** Handed down to every room that has something to tell. Cannot throw; nobody below knows who listens. */
export type Report = (this: void, event: GatewayEventBody) => void;
