import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import { silencesOf } from './replay.js';
import type { Silences } from './replay.js';

/** How an attempt ended: `refused` is a valid end that waits for a better one (H4); what was `cut` would have gone on. */
export type End = 'answered' | 'refused' | 'failed' | 'cut';

/** Where an attempt stood when it was cut. */
export type CutState =
  /** Silent for `silentMs`, longer than ever before in this attempt. */
  | { readonly type: 'silent'; readonly kind: 'first' | 'between'; readonly silentMs: number }
  /** Speaking for `sinceMs`, after its first silence of more than `overMs` (`null`: since its first increment), and never silent for longer than `longestMs`. */
  | { readonly type: 'speaking'; readonly overMs: number | null; readonly sinceMs: number; readonly longestMs: number };

/** What the prediction needs of an attempt. */
export interface AttemptShape extends Silences {
  readonly source: string;
  readonly lengthMs: number;
  readonly longestMs: number;
  readonly end: End;
  /** Set where `end` is `cut`. */
  readonly cut: CutState | undefined;
  /** As reported, else as estimated. */
  readonly tokens: number | undefined;
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
}

export interface RoundShape {
  /** From the end of the round before it, or the call's entering, to its start. */
  readonly waitMs: number;
  readonly primary: AttemptShape;
  readonly backups: readonly AttemptShape[];
  /** What was seen of this round ends with an answer or a cut: what would have followed a failure was not. */
  readonly open: boolean;
}

export interface CallShape {
  readonly rounds: readonly RoundShape[];
  readonly lengthMs: number;
  readonly answered: boolean;
  readonly hedged: boolean;
  readonly endedBy: 'deadline' | 'caller' | undefined;
  /** A hedge of the time hides what the primary would have done, or what would have followed its failure. */
  readonly hidden: boolean;
  readonly longestFirstMs: number;
  readonly longestGapMs: number;
}

/** `undefined` where a round has no primary, or where a time is missing: such rows can't be replayed. */
export function shapeCall(attempts: readonly StoredAttempt[]): CallShape | undefined {
  const rounds = roundsOf(attempts);
  const [first] = rounds[0] ?? [];
  if (first === undefined || !rounds.every(isWhole)) return undefined;
  const enteredMs = first.startedAtMs - (first.waited_ms ?? 0);
  const promptTokens = attempts.map(({ prompt_tokens: tokens }) => tokens).find((tokens) => tokens !== null) ?? undefined;
  const ends = rounds.map(endOf);
  const shapes = rounds.map((round, at) => shapeRound(round, ends[at - 1] ?? enteredMs, promptTokens));
  const winner = attempts.find(({ won }) => won);
  const answered = winner !== undefined;
  return {
    rounds: shapes,
    lengthMs: (winner === undefined ? Math.max(...ends) : endMs(winner)) - enteredMs,
    answered,
    hedged: attempts.some(({ role }) => role === 'backup'),
    endedBy: answered ? undefined : endedBy(attempts),
    hidden: rounds.some(([primary]) => primary?.error_class === 'hedge_cancelled') || shapes.some(({ open, primary }) => open && primary.end === 'failed'),
    longestFirstMs: Math.max(...shapes.map(({ primary }) => primary.firstMs)),
    longestGapMs: Math.max(...shapes.map(({ primary }) => primary.longestMs)),
  };
}

/** Chat alone is hedged: streams, and answers with a finish reason, which embeddings and OCR never have. */
export function isChat(attempts: readonly StoredAttempt[]): boolean {
  if (attempts.some(({ streamed, finish_reason: reason }) => streamed || reason !== null)) return true;
  return attempts.every(({ outcome, scope }) => outcome === 'error' && scope !== 'EMBEDDING' && scope !== 'OCR');
}

/** Each with its primary first. */
function roundsOf(attempts: readonly StoredAttempt[]): StoredAttempt[][] {
  const byNumber = new Map<number, StoredAttempt[]>();
  for (const attempt of attempts) byNumber.set(attempt.round ?? 1, [...(byNumber.get(attempt.round ?? 1) ?? []), attempt]);
  const rank = ({ role, startedAtMs }: StoredAttempt): number => (role === 'primary' ? -Infinity : startedAtMs);
  return [...byNumber].sort(([a], [b]) => a - b).map(([, round]) => round.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)));
}

function isWhole(round: readonly StoredAttempt[]): boolean {
  return round[0]?.role === 'primary' && round.every(({ latency_ms: latencyMs }) => latencyMs !== null);
}

const endMs = ({ startedAtMs, latency_ms: latencyMs }: StoredAttempt): number => startedAtMs + (latencyMs ?? 0);

function endOf(round: readonly StoredAttempt[]): number {
  const winner = round.find(({ won }) => won);
  return winner === undefined ? Math.max(...round.map(endMs)) : endMs(winner);
}

function endedBy(attempts: readonly StoredAttempt[]): CallShape['endedBy'] {
  if (attempts.some(({ error_class: errorClass }) => errorClass === 'deadline')) return 'deadline';
  return attempts.some(({ error_class: errorClass }) => errorClass === 'caller_cancelled') ? 'caller' : undefined;
}

function shapeRound([primary, ...backups]: readonly StoredAttempt[], beforeMs: number, promptTokens: number | undefined): RoundShape {
  if (primary === undefined) throw new Error('a round has a primary');
  const [backup] = backups;
  const askedMs = backup?.hedge_trigger === 'stall' ? backup.startedAtMs - primary.startedAtMs : undefined;
  const round = [primary, ...backups];
  return {
    waitMs: Math.max(0, primary.startedAtMs - beforeMs),
    primary: shapeAttempt(primary, promptTokens, askedMs),
    backups: backups.map((attempt) => shapeAttempt(attempt, promptTokens)),
    open: round.some((attempt) => attempt.won || endOfAttempt(attempt) === 'cut'),
  };
}

function shapeAttempt(attempt: StoredAttempt, promptTokens: number | undefined, askedMs?: number): AttemptShape {
  const silences = silencesOf(attempt);
  const end = endOfAttempt(attempt);
  return {
    ...silences,
    source: attempt.source,
    lengthMs: attempt.latency_ms ?? 0,
    longestMs: silences.gaps.at(-1)?.[1] ?? 0,
    end,
    cut: end === 'cut' ? cutState(attempt, silences, askedMs) : undefined,
    tokens: tokensOf(attempt),
    promptTokens,
    completionTokens: attempt.completion_tokens ?? undefined,
  };
}

const cutClasses: ReadonlySet<unknown> = new Set(['hedge_cancelled', 'caller_cancelled', 'deadline']);

function endOfAttempt({ outcome, error_class: errorClass, finish_reason: reason }: StoredAttempt): End {
  if (outcome === 'ok') return reason === 'content_filter' ? 'refused' : 'answered';
  return cutClasses.has(errorClass) ? 'cut' : 'failed';
}

/** A request that was turned away with a status has cost nothing. */
function tokensOf({ total_tokens: total, estimated_tokens: estimated, http_status: status, increments }: StoredAttempt): number | undefined {
  if (total !== null) return total;
  return (status ?? 0) >= 400 && (increments ?? 0) === 0 ? 0 : (estimated ?? undefined);
}

/** Offset and length are rounded down each, their sum is up to this much short of the end. */
const roundedMs = 2;

function cutState({ latency_ms: latencyMs, ttft_ms: ttftMs, increments }: StoredAttempt, { firstMs, gaps }: Silences, askedMs: number | undefined): CutState {
  const lengthMs = latencyMs ?? 0;
  if (ttftMs === null && (increments ?? 0) === 0) return { type: 'silent', kind: 'first', silentMs: lengthMs };
  const last = gaps.at(-1);
  if (last !== undefined && last[0] + last[1] >= lengthMs - roundedMs) return { type: 'silent', kind: 'between', silentMs: last[1] };
  const asking = askedMs === undefined ? undefined : gaps.find(([offset, gap]) => offset + gap >= askedMs);
  const longestMs = last?.[1] ?? 0;
  if (asking === undefined || askedMs === undefined) return { type: 'speaking', overMs: null, sinceMs: lengthMs - firstMs, longestMs };
  return { type: 'speaking', overMs: levelOf(askedMs - asking[0]), sinceMs: lengthMs - asking[0] - asking[1], longestMs };
}

/** In steps, below the threshold of the time: a backup starts a little after it, and comparable attempts are looked up by it. */
function levelOf(silentMs: number): number {
  const stepMs = silentMs < 2000 ? 100 : 1000;
  return Math.max(0, Math.ceil(silentMs / stepMs) - 1) * stepMs;
}
