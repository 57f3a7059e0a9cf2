import type { AttemptError } from '../model/errors.js';
import type { AttemptRecord, RowClass } from '../model/events.js';
import type { AnswerFold } from '../model/fold.js';
import type { Outcome } from '../governance/gate.js';
import type { Ending } from '../operators/finalizeWith.js';
import type { StallFigures } from '../operators/stallMetrics.js';
import type { AttemptSpec, Completed } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { toFigures, withTail } from './figures.js';
import type { AttemptFigures } from './figures.js';
import type { Ports } from './ports.js';

interface Books {
  /** The request goes out now; false when whoever was told of it has ended the attempt. */
  start(this: void): boolean;
  /** The source says that nothing went out. */
  unsent(this: void): void;
  /** Books the end: once, whatever it is. */
  close(ending: Ending, figures: StallFigures): Completed | undefined;
}

/**
 * Opens when the source is about to be subscribed: from its start on the attempt exists and ends in exactly one row (E1).
 * Listeners are told only after all that they could ask about is written; what they do may end the call.
 */
export function openBooks(call: CallState, spec: AttemptSpec, ports: Ports): Books {
  const { scheduler, report, loopLag } = ports;
  const { source, permit } = spec.admitted;
  const waitedMs = Math.trunc(call.clock.stalledMs());
  const endProductive = call.clock.attempting();
  const lag = loopLag?.start();
  let sent = false;

  call.noteTry(source.id, spec.role);

  return {
    start() {
      report({ type: 'attempt-started', callId: call.id, attemptId: spec.id, round: spec.round, role: spec.role, source: source.id, trigger: spec.trigger });
      sent = !call.over;
      return sent;
    },
    unsent: () => { sent = false; },
    close(ending, figures) {
      const endMs = scheduler.now();
      endProductive();
      const loopLagMs = lag?.stop() ?? null;
      const verdict = judge(ending, call, spec.fold);
      const inWholeMs = toFigures(figures, endMs, { streamed: call.request.stream && !spec.fold.whole, answered: verdict.rowClass === null });
      const completed = verdict.rowClass === null ? toCompleted(spec, call, inWholeMs, endMs) : undefined;
      if (completed !== undefined) call.noteCompletion(completed);

      if (!sent && ending.type === 'unsubscribed') {
        call.attempts -= 1;
        report({ type: 'attempt-unsent', callId: call.id, attemptId: spec.id });
      } else {
        const timing = { waitedMs, loopLagMs, recordGaps: withTail(figures, endMs), startedMs: figures.startMs, endedMs: endMs };
        const record = { ...identity(call, spec), ...outcomeOf(verdict), ...measured(spec, call, inWholeMs, verdict.error), ...timing };
        spec.onBooked(record);
        report({ type: 'attempt-ended', record });
      }
      if (verdict.error !== undefined) call.noteFailure(source.id, verdict.error);
      permit.settle(toOutcome(verdict, spec.fold.usage?.totalTokens ?? null));
      return completed;
    },
  };
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

function judge(ending: Ending, call: CallState, fold: AnswerFold): Verdict {
  switch (ending.type) {
    case 'completed':
      return valid;
    case 'failed': {
      const error = ending.error as AttemptError;
      return { rowClass: error.code, error, message: error.message };
    }
    case 'unsubscribed':
      // From the finish reason on only usage and the end marker are waited for, and the deadline ends that wait (H15).
      if (call.endedBy === 'deadline' && fold.finished && fold.increments > 0) return valid;
      return call.endedBy === undefined ? { rowClass: 'caller_cancelled', message: 'the caller left' } : endedByUs[call.endedBy];
    default:
      return ending satisfies never;
  }
}

/** What admission learns (G4): transient trouble is a failure, a 429 is none, everything else teaches nothing. */
function toOutcome({ rowClass }: Verdict, totalTokens: number | null): Outcome {
  if (rowClass === null) return { type: 'success', totalTokens };
  if (rowClass === 'transient') return { type: 'failure' };
  return rowClass === 'rate_limited' ? { type: 'rate-limited' } : { type: 'cancelled' };
}

type RecordPart<K extends keyof AttemptRecord> = Pick<AttemptRecord, K>;

function identity(
  call: CallState,
  { id, round, role, trigger, admitted: { source } }: AttemptSpec,
): RecordPart<'id' | 'callId' | 'round' | 'role' | 'hedgeTrigger' | 'source' | 'provider' | 'streamed' | 'tags' | 'scope' | 'won' | 'estimatedTokens'> {
  return {
    id,
    callId: call.id,
    scope: call.scope,
    round,
    role,
    hedgeTrigger: trigger,
    source: source.id,
    provider: source.provider,
    streamed: call.request.stream,
    tags: call.request.tags ?? null,
    won: false,
    estimatedTokens: null,
  };
}

function outcomeOf({ rowClass, error, message }: Verdict): RecordPart<'outcome' | 'errorClass' | 'errorMessage' | 'httpStatus' | 'retryAfterMs'> {
  return {
    outcome: rowClass === null ? 'ok' : 'error',
    errorClass: rowClass,
    errorMessage: message,
    httpStatus: error?.httpStatus ?? null,
    retryAfterMs: error?.retryAfterS === undefined ? null : Math.trunc(error.retryAfterS * 1000),
  };
}

function measured(
  { fold, admitted }: AttemptSpec,
  call: CallState,
  figures: AttemptFigures,
  error: AttemptError | undefined,
): RecordPart<'model' | 'finishReason' | 'providerRequestId' | 'ttftMs' | 'latencyMs' | 'maxInterTokenMs' | 'increments' | 'usage' | 'stallMs' | 'stallCount'> {
  return {
    model: fold.model ?? call.request.model ?? admitted.source.model,
    finishReason: fold.finishReason,
    // A refusal brings no delta that could carry it.
    providerRequestId: fold.providerRequestId ?? error?.providerRequestId ?? null,
    ttftMs: figures.ttftMs,
    latencyMs: figures.wallMs,
    maxInterTokenMs: figures.maxInterTokenMs,
    increments: call.request.stream ? fold.increments : null,
    usage: fold.usage,
    stallMs: figures.stallMs,
    stallCount: figures.stallCount,
  };
}

function toCompleted({ id, role, admitted, fold }: AttemptSpec, call: CallState, figures: AttemptFigures, endMs: number): Completed {
  return {
    type: 'completed',
    attemptId: id,
    role,
    source: admitted.source,
    answer: fold.answer(),
    endMs,
    figures,
    increments: call.request.stream ? fold.increments : null,
  };
}
