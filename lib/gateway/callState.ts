import { randomUUID } from 'node:crypto';
import type { AttemptError } from '../model/errors.js';
import type { OfAttempt, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import { refuse } from '../governance/gate.js';
import type { AdmissionRefused, Ticket } from '../governance/gate.js';
import { pauseMessage } from '../governance/parking.js';
import { askedPauseMs } from '../governance/retry/backoff.js';
import { answered, attemptFailed, emptyLedger, notesOf, putOut, roundFailed, tried } from '../governance/retry/ledger.js';
import type { NextStep } from '../governance/retry/ledger.js';
import { rank } from '../governance/selection/rank.js';
import { createStallClock } from '../governance/stallClock.js';
import type { StallClock } from '../governance/stallClock.js';
import { isWeak } from './attemptSpec.js';
import type { AttemptSpec, Completed } from './attemptSpec.js';
import type { Ports } from './ports.js';
import type { Task } from './task.js';

/** Why we ended an attempt ourselves; unsubscription carries no reason, so it is written here first. */
export type EndedBy = 'hedge_cancelled' | 'deadline' | 'closed';

/** What one call remembers. Made per subscription, never shared. */
export interface CallState<A> {
  readonly id: string;
  readonly scope: string;
  readonly task: Task<A>;
  readonly clock: StallClock;
  readonly enteredMs: number;
  endedBy: EndedBy | undefined;
  /** Its end has been told; nothing may be sent any more. */
  over: boolean;
  /** The best valid completion so far; more than one branch can have one, or wait with it (H4). */
  readonly held: Completed<A> | undefined;
  winner: Completed<A> | undefined;
  /** The attempt whose words have begun to be passed on; nothing else is sent any more (H12). */
  committed: AttemptSpec<A> | undefined;
  lastFailure: AttemptError | undefined;
  rounds: number;
  /** Requests sent. */
  attempts: number;
  /** Backups among them. */
  hedges: number;
  /** Milliseconds left of the deadline; `Infinity` without one. */
  deadlineLeftMs(): number;
  /** Sources that may be asked now, best first, and those that want peace until later. */
  runnable(): { sources: Upstream[]; resting: AdmissionRefused[] };
  allOut(): boolean;
  noteTry(sourceId: string, role: Role): void;
  noteFailure(attempt: OfAttempt, error: AttemptError): void;
  noteCompletion(completed: Completed<A>): void;
  nextAttemptId(): string;
  /** Tokens that a request to this source is thought to use; `null` where no source counts them. */
  estimateFor(this: void, source: Upstream): number | null;
  /** What an attempt asks admission for, as part of this round. */
  ticketFor(this: void, source: Upstream, role: Role, round: number): Ticket;
  /** Keeps the winner's answer; whether a further request has to follow, which starts with a budget of its own. */
  wantsMore(this: void): boolean;
  /**
   * A pause that was asked for, with jitter of this call's own that only adds (R3), as far as the deadline allows: all who
   * wait for the same source would else come back in the same instant.
   */
  pauseMs(this: void, askedMs: number): number;
  /** Decides what follows a failed round; the wait holds the source's own wish (R2) and fits the deadline (R5). */
  afterRound(error: AttemptError): NextStep | { type: 'too-late' };
}

export function openCall<A>(task: Task<A>, ports: Ports): CallState<A> {
  const { policy, sources, scheduler, strategy, report } = ports;
  const now = (): number => scheduler.now();
  const enteredMs = now();
  let ledger = emptyLedger;
  let held: Completed<A> | undefined;
  // Counting takes time, so it is left where nobody asks.
  const countsTokens = sources.some(({ tpm }) => tpm !== undefined);
  const failedThisRound = new Set<string>();

  const inPlay = (): Upstream[] => sources.filter(({ id }) => !notesOf(ledger, id).out);
  const restMs = (id: string): number => notesOf(ledger, id).notBeforeMs - now();

  const call: CallState<A> = {
    id: randomUUID(),
    scope: policy.scope,
    task,
    clock: createStallClock({ now }),
    enteredMs,
    endedBy: undefined,
    over: false,
    get held() {
      return held;
    },
    winner: undefined,
    committed: undefined,
    lastFailure: undefined,
    rounds: 0,
    attempts: 0,
    hedges: 0,
    deadlineLeftMs: () => (policy.callDeadlineMs === null ? Infinity : enteredMs + policy.callDeadlineMs - now()),
    runnable() {
      const ranked = rank(inPlay(), (id) => notesOf(ledger, id).tries, strategy);
      return {
        sources: ranked.filter(({ id }) => restMs(id) <= 0),
        resting: ranked
          .filter(({ id }) => restMs(id) > 0)
          .map(({ id }) => refuse(pauseMessage(id, restMs(id)), { sourceId: id, gate: 'parking', retryAfterMs: restMs(id), asked: true })),
      };
    },
    allOut: () => inPlay().length === 0,
    noteTry(sourceId, role) {
      call.attempts += 1;
      if (role === 'backup') call.hedges += 1;
      ledger = tried(ledger, sourceId);
    },
    noteFailure(attempt, error) {
      const sourceId = attempt.source;
      call.lastFailure = error;
      failedThisRound.add(sourceId);
      const noted = attemptFailed(ledger, sourceId, error, now(), policy);
      ledger = noted.ledger;
      if (noted.parkMs === undefined) return;
      ports.governance.parking.park(sourceId, noted.parkMs);
      report({ type: 'source-parked', ...attempt, forMs: noted.parkMs });
    },
    noteCompletion(completed) {
      if (held === undefined || isBetter(completed, held)) held = completed;
    },
    nextAttemptId: () => `${call.id}-${call.attempts + 1}`,
    ticketFor: (source, role, round) => ({
      sourceId: source.id,
      callId: call.id,
      attemptId: call.nextAttemptId(),
      role,
      round,
      estimatedTokens: call.estimateFor(source) ?? 0,
      waits: role === 'primary' && policy.backpressure === 'wait',
    }),
    estimateFor: (source) => (countsTokens ? task.estimate(source) : null),
    wantsMore() {
      if (call.winner === undefined || task.take?.(call.winner.answer) !== true) return false;
      ledger = answered(ledger);
      held = undefined;
      call.winner = undefined;
      return true;
    },
    pauseMs(askedMs) {
      const jitteredMs = askedPauseMs(askedMs, policy);
      return jitteredMs < call.deadlineLeftMs() ? jitteredMs : askedMs;
    },
    afterRound(error) {
      call.lastFailure = error;
      const failed = [...failedThisRound];
      failedThisRound.clear();
      const decided = roundFailed(ledger, error.code, policy);
      ledger = decided.ledger;
      if (decided.next.type !== 'again') return decided.next;
      // Nobody is left to wait for (R4).
      if (call.allOut()) return { type: 'again', delayMs: 0 };
      const restLeftMs = Math.min(...inPlay().map(({ id }) => restMs(id)));
      const delayMs = Math.max(decided.next.delayMs, call.pauseMs(Math.max(0, restLeftMs)));
      if (delayMs === 0 || delayMs < call.deadlineLeftMs()) return { type: 'again', delayMs };
      // There is no time left to wait for those who have just failed; whoever else there is is asked at once.
      ledger = failed.reduce(putOut, ledger);
      return call.runnable().sources.length > 0 ? { type: 'again', delayMs: 0 } : { type: 'too-late' };
    },
  };
  return call;
}

/** A weak completion gives way to any other; at the same instant the primary goes first (H4). */
function isBetter(completed: Completed<unknown>, held: Completed<unknown>): boolean {
  if (isWeak(completed) !== isWeak(held)) return isWeak(held);
  return completed.role === 'primary' && completed.endMs === held.endMs;
}
