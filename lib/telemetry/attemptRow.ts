import type { AttemptRecord, HedgeTrigger, Role, RowClass } from '../model/events.js';
import { maskSecrets } from '../model/mask.js';
import { isoTime } from './isoTime.js';

/**
 * One row of `llm_attempts`, columns in the table's order. Times are whole milliseconds, booleans 0 or 1; `null` means what it
 * does in `AttemptRecord`: it does not apply, could not be measured, or was not said.
 */
export interface AttemptRow {
  id: string;
  call_id: string;
  scope: string;
  round: number | null;
  role: Role;
  hedge_trigger: HedgeTrigger | null;
  source: string;
  provider: string;
  model: string;
  streamed: 0 | 1;
  outcome: 'ok' | 'error';
  error_class: RowClass | null;
  error_message: string | null;
  http_status: number | null;
  retry_after_ms: number | null;
  finish_reason: string | null;
  provider_request_id: string | null;
  won: 0 | 1;
  waited_ms: number | null;
  ttft_ms: number | null;
  latency_ms: number | null;
  max_inter_token_ms: number | null;
  increments: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  reasoning_tokens: number | null;
  cached_tokens: number | null;
  total_tokens: number | null;
  estimated_tokens: number | null;
  /** JSON object of strings. */
  tags: string | null;
  /** JSON list of `[offset_ms, gap_ms]`. */
  record_gaps: string;
  loop_lag_ms: number | null;
  pid: number;
  host: string;
  /** ISO 8601, UTC. */
  started_at: string;
  created_at: string;
  stall_ms: number | null;
  stall_count: number | null;
}

/** The moment a row is made, on both clocks, and the process that makes it. */
export interface Wall {
  /** The gateway's clock. */
  readonly nowMs: number;
  readonly date: Date;
  readonly pid: number;
  readonly host: string;
}

// An upstream may send a whole page as its error, and rows are held in memory while the database is away.
const maxMessageChars = 2000;

/** The row of an attempt. Only text and figures that every database takes are left in it. */
export function toRow(record: AttemptRecord, wall: Wall): AttemptRow {
  const { usage } = record;
  return {
    id: text(record.id),
    call_id: text(record.callId),
    scope: text(record.scope),
    round: whole(record.round),
    role: record.role,
    hedge_trigger: record.hedgeTrigger,
    source: text(record.source),
    provider: text(record.provider),
    model: text(record.model),
    streamed: record.streamed ? 1 : 0,
    outcome: record.outcome,
    error_class: record.errorClass,
    error_message: record.errorMessage === null ? null : errorText(record.errorMessage),
    http_status: whole(record.httpStatus),
    retry_after_ms: whole(record.retryAfterMs),
    finish_reason: textOrNull(record.finishReason),
    provider_request_id: textOrNull(record.providerRequestId),
    won: record.won ? 1 : 0,
    waited_ms: whole(record.waitedMs),
    ttft_ms: whole(record.ttftMs),
    latency_ms: whole(record.latencyMs),
    max_inter_token_ms: whole(record.maxInterTokenMs),
    increments: whole(record.increments),
    prompt_tokens: whole(usage?.promptTokens),
    completion_tokens: whole(usage?.completionTokens),
    reasoning_tokens: whole(usage?.reasoningTokens),
    cached_tokens: whole(usage?.cachedTokens),
    total_tokens: whole(usage?.totalTokens),
    estimated_tokens: whole(record.estimatedTokens),
    tags: record.tags === null ? null : tagsJson(record.tags),
    record_gaps: JSON.stringify(record.recordGaps),
    loop_lag_ms: whole(record.loopLagMs),
    pid: wall.pid,
    host: text(wall.host),
    started_at: startedAt(record.startedMs, wall),
    created_at: isoTime(wall.date.getTime()),
    stall_ms: whole(record.stallMs),
    stall_count: whole(record.stallCount),
  };
}

function whole(figure: number | null | undefined): number | null {
  return typeof figure === 'number' && Number.isFinite(figure) ? Math.trunc(figure) : null;
}

const unfit = /[\0\p{Surrogate}]/u;

/** Without U+0000, which Postgres refuses, and without half characters, which cannot be written as UTF-8. */
function text(raw: string): string {
  return raw.search(unfit) < 0 ? raw : raw.replaceAll('\u0000', '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

function textOrNull(raw: string | null): string | null {
  return raw === null ? null : text(raw);
}

/** Masked before it is cut: half a key is no longer seen as one. */
export function errorText(message: string): string {
  const masked = maskSecrets(message);
  return text(masked.length > maxMessageChars ? `${masked.slice(0, maxMessageChars - 1)}…` : masked);
}

function tagsJson(tags: Record<string, string>): string {
  const json = JSON.stringify(tags);
  // JSON escapes what is unfit, and little else.
  if (!json.includes('\\u')) return json;
  return JSON.stringify(Object.fromEntries(Object.entries(tags).map(([key, value]) => [text(key), text(value)])));
}

/** Taken from the monotonic clock, so that a step of the wall clock during the attempt does not show as its length. */
function startedAt(startedMs: number, { nowMs, date }: Wall): string {
  const agoMs = nowMs - startedMs;
  return isoTime(date.getTime() - (Number.isFinite(agoMs) ? agoMs : 0));
}
