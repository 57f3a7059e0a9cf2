import { randomUUID } from 'node:crypto';
import type { AttemptError } from '../model/errors.js';
import type { OfAttempt, Role } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { StreamPiece } from '../model/streamItem.js';
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

/** In one piece: Node puts it together from twenty, which would be held for as long as each stream lives. */
const newCallId = (): string => Buffer.from(randomUUID(), 'latin1').toString('latin1');

/** What one call remembers. Made per subscription, never shared; a class, since one is held for as long as each stream lives. */
export class CallState<A> {
  readonly id = newCallId();
  readonly scope: string;
  readonly task: Task<A>;
  readonly clock: StallClock;
  readonly enteredMs: number;
  endedBy: EndedBy | undefined;
  /** Its end has been told; nothing may be sent any more. */
  over = false;
  /** The best valid completion so far; more than one branch can have one, or wait with it (H4). */
  held: Completed<A> | undefined;
  winner: Completed<A> | undefined;
  /** The attempt whose words have begun to be passed on; nothing else is sent any more (H12). */
  committed: AttemptSpec<A> | undefined;
  /** The attempts that run now. */
  readonly live = new Set<AttemptSpec<A>>();
  lastFailure: AttemptError | undefined;
  rounds = 0;
  /** Requests sent. */
  attempts = 0;
  /** Backups among them. */
  hedges = 0;
  /** Passes a piece of the answer straight on to the reader. */
  readonly pass: (piece: StreamPiece) => void;
  private ledger = emptyLedger;
  private failedThisRound: string[] = [];
  private readonly ports: Ports;

  constructor(task: Task<A>, ports: Ports, pass: (piece: StreamPiece) => void) {
    this.task = task;
    this.pass = pass;
    this.ports = ports;
    this.scope = ports.policy.scope;
    this.enteredMs = ports.scheduler.now();
    this.clock = createStallClock({ now: () => ports.scheduler.now() });
  }

  /** Milliseconds left of the deadline; `Infinity` without one. */
  deadlineLeftMs(): number {
    const { policy, scheduler } = this.ports;
    return policy.callDeadlineMs === null ? Infinity : this.enteredMs + policy.callDeadlineMs - scheduler.now();
  }

  /** Sources that may be asked now, best first, and those that want peace until later. */
  runnable(): { sources: Upstream[]; resting: AdmissionRefused[] } {
    const ranked = rank(this.inPlay(), (id) => notesOf(this.ledger, id).tries, this.ports.strategy);
    return {
      sources: ranked.filter(({ id }) => this.restMs(id) <= 0),
      resting: ranked
        .filter(({ id }) => this.restMs(id) > 0)
        .map(({ id }) => refuse(pauseMessage(id, this.restMs(id)), { sourceId: id, gate: 'parking', retryAfterMs: this.restMs(id), asked: true })),
    };
  }

  allOut(): boolean {
    return this.inPlay().length === 0;
  }

  noteTry(sourceId: string, role: Role): void {
    this.attempts += 1;
    if (role === 'backup') this.hedges += 1;
    this.ledger = tried(this.ledger, sourceId);
  }

  noteFailure(attempt: OfAttempt, error: AttemptError): void {
    const { policy, scheduler, governance, report } = this.ports;
    const sourceId = attempt.source;
    this.lastFailure = error;
    this.failedThisRound.push(sourceId);
    const noted = attemptFailed(this.ledger, sourceId, error, scheduler.now(), policy);
    this.ledger = noted.ledger;
    if (noted.parkMs === undefined) return;
    governance.parking.park(sourceId, noted.parkMs);
    report({ type: 'source-parked', ...attempt, forMs: noted.parkMs });
  }

  noteCompletion(completed: Completed<A>): void {
    if (this.held === undefined || isBetter(completed, this.held)) this.held = completed;
  }

  nextAttemptId(): string {
    return `${this.id}-${this.attempts + 1}`;
  }

  /** What an attempt asks admission for, as part of this round. */
  ticketFor(source: Upstream, role: Role, round: number): Ticket {
    return {
      sourceId: source.id,
      callId: this.id,
      attemptId: this.nextAttemptId(),
      role,
      round,
      estimatedTokens: this.estimateFor(source) ?? 0,
      waits: role === 'primary' && this.ports.policy.backpressure === 'wait',
    };
  }

  /** Tokens that a request to this source is thought to use; `null` where no source counts them: counting takes time. */
  estimateFor(source: Upstream): number | null {
    return this.ports.sources.some(({ tpm }) => tpm !== undefined) ? this.task.estimate(source) : null;
  }

  /** Keeps the winner's answer; whether a further request has to follow, which starts with a budget of its own. */
  wantsMore(): boolean {
    if (this.winner === undefined || this.task.take?.(this.winner.answer) !== true) return false;
    this.ledger = answered(this.ledger);
    this.held = undefined;
    this.winner = undefined;
    return true;
  }

  /**
   * A pause that was asked for, with jitter of this call's own that only adds (R3), as far as the deadline allows: all who
   * wait for the same source would else come back in the same instant.
   */
  pauseMs(askedMs: number): number {
    const jitteredMs = askedPauseMs(askedMs, this.ports.policy);
    return jitteredMs < this.deadlineLeftMs() ? jitteredMs : askedMs;
  }

  /** Decides what follows a failed round; the wait holds the source's own wish (R2) and fits the deadline (R5). */
  afterRound(error: AttemptError): NextStep | { type: 'too-late' } {
    this.lastFailure = error;
    const failed = new Set(this.failedThisRound);
    this.failedThisRound = [];
    const decided = roundFailed(this.ledger, error.code, this.ports.policy);
    this.ledger = decided.ledger;
    if (decided.next.type !== 'again') return decided.next;
    // Nobody is left to wait for (R4).
    if (this.allOut()) return { type: 'again', delayMs: 0 };
    const restLeftMs = Math.min(...this.inPlay().map(({ id }) => this.restMs(id)));
    const delayMs = Math.max(decided.next.delayMs, this.pauseMs(Math.max(0, restLeftMs)));
    if (delayMs === 0 || delayMs < this.deadlineLeftMs()) return { type: 'again', delayMs };
    // There is no time left to wait for those who have just failed; whoever else there is is asked at once.
    this.ledger = [...failed].reduce(putOut, this.ledger);
    return this.runnable().sources.length > 0 ? { type: 'again', delayMs: 0 } : { type: 'too-late' };
  }

  private inPlay(): Upstream[] {
    return this.ports.sources.filter(({ id }) => !notesOf(this.ledger, id).out);
  }

  private restMs(id: string): number {
    return notesOf(this.ledger, id).notBeforeMs - this.ports.scheduler.now();
  }
}

/** A weak completion gives way to any other; at the same instant the primary goes first (H4). */
function isBetter(completed: Completed<unknown>, held: Completed<unknown>): boolean {
  if (isWeak(completed) !== isWeak(held)) return isWeak(held);
  return completed.role === 'primary' && completed.endMs === held.endMs;
}
