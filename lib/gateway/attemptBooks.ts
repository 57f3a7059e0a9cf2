import { rootCode } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import type { AttemptRecord, OfAttempt, RowClass } from '../model/events.js';
import type { Reply } from '../model/reply.js';
import type { Usage } from '../model/usage.js';
import type { Outcome } from '../governance/gate.js';
import type { Ending } from '../operators/concludeWith.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import type { AttemptSpec, Completed } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { toFigures, withTail } from './figures.js';
import type { AttemptFigures } from './figures.js';
import type { LoopLag, Ports } from './ports.js';

/**
 * Opens when the source is about to be subscribed: from its start on the attempt exists and ends in exactly one row (E1).
 * Listeners are told only after all that they could ask about is written; what they do may end the call.
 */
export class Books<A> {
  private sent = false;
  private readonly attempt: OfAttempt;
  private readonly waitedMs: number;
  private readonly endProductive: () => void;
  private readonly lag: ReturnType<LoopLag['start']> | undefined;
  private readonly call: CallState<A>;
  private readonly spec: AttemptSpec<A>;
  private readonly ports: Ports;

  constructor(call: CallState<A>, spec: AttemptSpec<A>, ports: Ports) {
    const { source } = spec.admitted;
    this.call = call;
    this.spec = spec;
    this.ports = ports;
    this.attempt = { callId: call.id, attemptId: spec.id, source: source.id };
    this.waitedMs = Math.trunc(call.clock.stalledMs());
    this.endProductive = call.clock.attempting();
    this.lag = ports.loopLag?.start();
    call.noteTry(source.id, spec.role);
  }

  /** The request goes out now; false when whoever was told of it has ended the attempt. */
  start(): boolean {
    const { call, spec: { round, role, trigger, admitted: { source, permit } }, waitedMs } = this;
    this.ports.report({ type: 'attempt-started', ...this.attempt, round, role, trigger, provider: source.provider, model: call.task.model ?? source.model, waitedMs });
    this.sent = !call.over;
    if (this.sent) permit.sent?.();
    return this.sent;
  }

  /** The source says that nothing went out. */
  unsent(): void {
    this.sent = false;
  }

  /** Books the end: once, whatever it is; `lastMs` is the end on the clock of the figures. */
  close(ending: Ending, figures: StallFigures, lastMs: number): Completed<A> | undefined {
    const { call, spec } = this;
    const verdict = judge(ending, call, spec);
    const unsent = !this.sent && ending.type === 'unsubscribed';
    try {
      return this.book(verdict, figures, { unsent, lastMs });
    } finally {
      // Whatever a faulty source has made impossible to book (G3).
      spec.admitted.permit.settle(unsent ? { type: 'unsent' } : toOutcome(verdict, spec.exchange.reply));
    }
  }

  private book(verdict: Verdict, figures: StallFigures, { unsent, lastMs }: { unsent: boolean; lastMs: number }): Completed<A> | undefined {
    const { call, spec, attempt, waitedMs, ports: { scheduler, report } } = this;
    const endMs = scheduler.now();
    this.endProductive();
    const loopLagMs = this.lag?.stop() ?? null;
    const inWholeMs = toFigures(figures, endMs, { streamed: call.task.streamed && !spec.exchange.reply.whole, answered: verdict.rowClass === null });
    const completed = verdict.rowClass === null ? toCompleted(spec, call, inWholeMs, endMs) : undefined;
    if (completed !== undefined) call.noteCompletion(completed);

    if (unsent) {
      call.attempts -= 1;
      report({ type: 'attempt-unsent', ...attempt });
    } else {
      const timing = { waitedMs, loopLagMs, recordGaps: withTail(figures, lastMs), startedMs: figures.startMs, endedMs: endMs };
      const record = recordOf(call, spec, verdict, inWholeMs, timing);
      spec.onBooked(record);
      report({ type: 'attempt-ended', ...attempt, record });
    }
    if (verdict.error !== undefined) call.noteFailure(attempt, verdict.error);
    return completed;
  }
}

interface Verdict {
  readonly rowClass: RowClass | null;
  readonly error?: AttemptError;
  readonly message: string | null;
}

const endedByUs = {
  hedge_cancelled: { rowClass: 'hedge_cancelled', message: 'the other attempt of the round won' },
  deadline: { rowClass: 'deadline', message: 'the call reached its deadline' },
  closed: { rowClass: 'caller_cancelled', message: 'the gateway was closed' },
} as const;

const valid = { rowClass: null, message: null } as const;

function judge<A>(ending: Ending, call: CallState<A>, spec: AttemptSpec<A>): Verdict {
  const { reply } = spec.exchange;
  switch (ending.type) {
    case 'completed':
      return valid;
    case 'failed': {
      const error = ending.error as AttemptError;
      return { rowClass: error.code, error, message: error.message };
    }
    case 'unsubscribed':
      // From the finish reason on only usage and the end marker are waited for, and the deadline ends that wait (H15).
      if (call.endedBy === 'deadline' && reply.finished && reply.increments > 0 && isWanted(call, spec)) return valid;
      if (call.committed !== undefined && call.committed !== spec) return endedByUs.hedge_cancelled;
      return call.endedBy === undefined ? { rowClass: 'caller_cancelled', message: 'the caller left' } : endedByUs[call.endedBy];
    default:
      return ending satisfies never;
  }
}

/** Of an answer that is passed on, its end alone is worth nothing (H12). */
function isWanted<A>({ committed }: CallState<A>, spec: AttemptSpec<A>): boolean {
  return spec.exchange.said === undefined || committed === spec;
}

/** What admission learns (G4): transient trouble is a failure, a 429 is none, everything else teaches nothing. */
function toOutcome({ rowClass, error }: Verdict, reply: Reply<unknown>): Outcome {
  const totalTokens = tokensUsed(reply, error);
  if (rowClass === null) return { type: 'success', totalTokens };
  if (rowClass === 'rate_limited') return { type: 'rate-limited', totalTokens };
  return { type: rowClass === 'transient' && !isOurs(error) ? 'failure' : 'cancelled', totalTokens };
}

/** As reported; none where the request was refused with a status; else nobody knows, and the provider may bill (H5). */
function tokensUsed({ usage, increments }: Reply<unknown>, error: AttemptError | undefined): number | null {
  if (usage !== null) return totalOf(usage);
  return increments === 0 && (error?.httpStatus ?? 0) >= 400 ? 0 : null;
}

function totalOf({ totalTokens, promptTokens, completionTokens }: Usage): number | null {
  if (totalTokens !== null) return totalTokens;
  return promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens;
}

const ourOwnTrouble = new Set(['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS']);

/** This machine has no network, or no socket to spare: every source would fail alike, and no breaker should open for it. */
function isOurs(error: AttemptError | undefined): boolean {
  return error !== undefined && ourOwnTrouble.has(rootCode(error.cause));
}

type Timing = Pick<AttemptRecord, 'waitedMs' | 'loopLagMs' | 'recordGaps' | 'startedMs' | 'endedMs'>;

/** One literal, though a long one: put together from parts it would cost more than all else that is booked. */
function recordOf<A>(call: CallState<A>, spec: AttemptSpec<A>, { rowClass, error, message }: Verdict, figures: AttemptFigures, timing: Timing): AttemptRecord {
  const { id, round, role, trigger, admitted: { source }, exchange: { reply } } = spec;
  const { task } = call;
  return {
    id,
    callId: call.id,
    scope: call.scope,
    round,
    role,
    hedgeTrigger: trigger,
    source: source.id,
    provider: source.provider,
    model: reply.model ?? task.model ?? source.model,
    streamed: task.streamed,
    outcome: rowClass === null ? 'ok' : 'error',
    errorClass: rowClass,
    errorMessage: message,
    httpStatus: error?.httpStatus ?? null,
    retryAfterMs: error?.retryAfterS === undefined ? null : Math.trunc(error.retryAfterS * 1000),
    finishReason: reply.finishReason,
    // A refusal brings no delta that could carry it.
    providerRequestId: reply.providerRequestId ?? error?.providerRequestId ?? null,
    won: false,
    waitedMs: timing.waitedMs,
    ttftMs: figures.ttftMs,
    latencyMs: figures.wallMs,
    maxInterTokenMs: figures.maxInterTokenMs,
    increments: task.streamed ? reply.increments : null,
    usage: reply.usage,
    estimatedTokens: call.estimateFor(source),
    tags: task.tags,
    recordGaps: timing.recordGaps,
    loopLagMs: timing.loopLagMs,
    startedMs: timing.startedMs,
    endedMs: timing.endedMs,
    stallMs: figures.stallMs,
    stallCount: figures.stallCount,
  };
}

function toCompleted<A>({ id, role, admitted, exchange: { reply } }: AttemptSpec<A>, call: CallState<A>, figures: AttemptFigures, endMs: number): Completed<A> {
  return {
    type: 'completed',
    attemptId: id,
    role,
    source: admitted.source,
    answer: reply.answer(),
    finishReason: reply.finishReason,
    endMs,
    figures,
    increments: call.task.streamed ? reply.increments : null,
  };
}
