import type { ChatResponse } from './response.js';

/** What may be known about a failure. Absent: not known; never a key, never a prompt (R7). */
export interface ErrorFacts {
  /** The id of the source that failed, such as `openai/1`. */
  source?: string;
  /** The status code that it answered with. */
  httpStatus?: number;
  /** For a question to the provider's support. */
  providerRequestId?: string;
  /** When asking again can help at the earliest, in seconds. */
  retryAfterS?: number;
  /** Number of requests that the call has sent. */
  attempts?: number;
  /** The call, as events and rows name it. */
  callId?: string;
  /** How much had come before the failure. */
  partial?: PartialOutput;
  /** The failure behind this one. */
  cause?: unknown;
}

/** How much text a failed attempt had produced; the text itself is never kept in an error. */
export interface PartialOutput {
  /** Number of frames that brought output. */
  increments: number;
  /** Number of UTF-16 code units of text. */
  chars: number;
}

/** What a failure means for the call (R1): try again, wait, leave this source out, or give up at once. */
export type FailureClass = 'transient' | 'rate_limited' | 'source' | 'request';

/**
 * Base of every error of this library. Outside, match on `code`; `retryable` says whether the same call may succeed
 * later. Errors made by Node or by another copy of this library are not `instanceof` this class: compare `code`.
 */
export class GatewayError extends Error {
  override readonly name: string = 'GatewayError';
  readonly code: string = 'gateway';
  readonly retryable: boolean = false;
  source?: string;
  httpStatus?: number;
  providerRequestId?: string;
  retryAfterS?: number;
  attempts?: number;
  callId?: string;
  partial?: PartialOutput;

  constructor(message: string, facts: ErrorFacts = {}) {
    const { cause, ...rest } = facts;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, rest);
  }
}

/** Settings that cannot work (C rules). `problems` holds every one that was found, each with key, value and remedy. */
export class ConfigError extends GatewayError {
  override readonly name = 'ConfigError';
  override readonly code = 'config';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], facts: ErrorFacts = {}) {
    super(
      problems.length === 1 ? (problems[0] ?? '') : `${problems.length} settings are wrong:\n  - ${problems.join('\n  - ')}`,
      facts,
    );
    this.problems = problems;
  }
}

/** Passes with time or at another source: timeouts, connection trouble, 408/409/425/5xx, truncated streams (R1). */
export class TransientError extends GatewayError {
  override readonly name = 'TransientError';
  override readonly code = 'transient';
  override readonly retryable = true;
}

/** A 429 that passes with time (R1, R3). */
export class RateLimitedError extends GatewayError {
  override readonly name = 'RateLimitedError';
  override readonly code = 'rate_limited';
  override readonly retryable = true;
}

/** This source cannot serve the request, another may: key, credit, model, TLS (R1, R4). */
export class SourceError extends GatewayError {
  override readonly name = 'SourceError';
  override readonly code = 'source';
}

/** Wrong at every source; thrown at once, unchanged (R1, R4). */
export class RequestError extends GatewayError {
  override readonly name = 'RequestError';
  override readonly code = 'request';
}

/** Base of the errors that say: try the whole call again later. */
export class GatewayUnavailableError extends GatewayError {
  override readonly name: string = 'GatewayUnavailableError';
  override readonly code: string = 'unavailable';
  override readonly retryable = true;
}

/** Why no source could answer: `maxAttempts` is used up, `stallWindowS` has passed without progress, or no source may be asked. */
export type ExhaustedReason = 'retry_exhausted' | 'stalled' | 'no_runnable_source';

/** No source could answer: the retry budget is gone, the call waited too long, or no source may be asked (R2, R4, B3). */
export class AllSourcesExhausted extends GatewayUnavailableError {
  override readonly name = 'AllSourcesExhausted';
  override readonly code = 'all_sources_exhausted';
  readonly reason: ExhaustedReason;

  constructor(message: string, facts: ErrorFacts & { reason: ExhaustedReason }) {
    const { reason, ...rest } = facts;
    super(message, rest);
    this.reason = reason;
  }
}

/** The shared admission state cannot be reached; admission fails closed (G6). */
export class GovernanceBackendError extends GatewayUnavailableError {
  override readonly name = 'GovernanceBackendError';
  override readonly code = 'governance_backend';
}

/** `callDeadlineS` has passed, or a wait would end past it (R5). */
export class CallDeadlineExceeded extends GatewayError {
  override readonly name = 'CallDeadlineExceeded';
  override readonly code = 'call_deadline';
  override readonly retryable = true;
}

/**
 * A passed-through answer broke off after its text had begun to be delivered: `partial` says how much was, `cause` why. It is
 * not tried again by itself, since what was delivered cannot be taken back (H12).
 */
export class StreamInterrupted extends GatewayUnavailableError {
  override readonly name = 'StreamInterrupted';
  override readonly code = 'stream_interrupted';
}

/** Whoever reads a stream was too slow for too long, so that its source was given up; what was kept for it can still be read. */
export class SlowReaderError extends GatewayError {
  override readonly name = 'SlowReaderError';
  override readonly code = 'slow_reader';
}

/** The gateway was closed before or during the call. */
export class GatewayClosedError extends GatewayError {
  override readonly name = 'GatewayClosedError';
  override readonly code = 'closed';
}

/** What is wrong with an answer at one place of it: `path` as in `items.0.price`, `''` being the whole. */
export interface AnswerProblem {
  readonly path: string;
  /** In the words of the schema's library, which may quote the answer. */
  readonly message: string;
}

/** Why `parse` could make nothing of an answer: it was none (the first four), it was no JSON, or its schema does not take it. */
export type InvalidAnswerReason = 'refusal' | 'length' | 'content_filter' | 'tool_calls' | 'not_json' | 'wrong_shape';

/**
 * The last answer is not what was asked for, also after its repairs; `problems` says where. Not retryable: the sources did their part. What an answer
 * says is in `response`, in `problems` and, of what a schema threw, in `cause`; the message names only places, which may hold keys that the model chose.
 */
export class InvalidAnswerError extends GatewayError {
  override readonly name = 'InvalidAnswerError';
  override readonly code = 'invalid_answer';
  readonly reason: InvalidAnswerReason;
  /** Not enumerable, since a schema's words may quote the answer. */
  declare readonly problems: readonly AnswerProblem[];
  /** Number of times that a bad answer was sent back. */
  readonly repairs: number;
  /** The last answer. Not enumerable: whoever writes an error to a log does not write an answer. */
  declare readonly response: ChatResponse;

  constructor(message: string, facts: ErrorFacts & { reason: InvalidAnswerReason; problems: readonly AnswerProblem[]; repairs: number; response: ChatResponse }) {
    const { reason, problems, repairs, response, ...rest } = facts;
    super(message, rest);
    this.reason = reason;
    this.repairs = repairs;
    Object.defineProperties(this, { problems: { value: problems }, response: { value: response } });
  }
}

/** Which limit passed: `CONNECT_TIMEOUT_S`, `TTFT_TIMEOUT_S`, `INTER_TOKEN_TIMEOUT_S`, `TIMEOUT_S`. */
export type LivenessLimit = 'connect' | 'first' | 'between' | 'total';

/** The `cause` of a watchdog kill (W1): which limit passed, its value, and the time waited. */
export class StreamLivenessTimeout extends Error {
  override readonly name = 'StreamLivenessTimeout';
  readonly code = 'stream_liveness_timeout';
  readonly limit: LivenessLimit;
  readonly limitMs: number;
  readonly waitedMs: number;

  constructor(expired: { limit: LivenessLimit; limitMs: number; waitedMs: number }) {
    super(livenessMessage(expired));
    this.limit = expired.limit;
    this.limitMs = expired.limitMs;
    this.waitedMs = expired.waitedMs;
  }
}

const waitedFor: Record<LivenessLimit, string> = {
  connect: 'a connection',
  first: 'the first increment',
  between: 'the next increment',
  total: 'the end of the attempt',
};

function livenessMessage({ limit, limitMs, waitedMs }: { limit: LivenessLimit; limitMs: number; waitedMs: number }): string {
  return `waited ${(waitedMs / 1000).toFixed(3)} s for ${waitedFor[limit]}, the limit is ${limitMs / 1000} s`;
}

/** What an attempt can fail with, whatever its source has thrown. */
export type AttemptError = TransientError | RateLimitedError | SourceError | RequestError;

const attemptErrors = {
  transient: TransientError,
  rate_limited: RateLimitedError,
  source: SourceError,
  request: RequestError,
} as const;

/** Makes the error of a failure class. */
export function attemptError(failureClass: FailureClass, message: string, facts: ErrorFacts = {}): AttemptError {
  return new attemptErrors[failureClass](message, facts);
}

const attemptErrorNames: { readonly [E in AttemptError as E['code']]: E['name'] } = {
  transient: 'TransientError',
  rate_limited: 'RateLimitedError',
  source: 'SourceError',
  request: 'RequestError',
};

/**
 * Whatever a source threw, as one of the four classes; what is not ours is transient, since it says nothing else. One that is
 * frozen or of another copy of this library is copied, so that it can be told more and is known by its class.
 */
export function toAttemptError(thrown: unknown): AttemptError {
  if (!isOneOf(attemptErrorNames, thrown)) return new TransientError(`the source failed: ${messageOf(thrown)}`, { cause: thrown });
  const error = thrown as AttemptError;
  return isGatewayError(error) && !Object.isFrozen(error) ? error : attemptError(error.code, messageOf(error), { ...errorFacts(error), cause: error });
}

/** By code and name, so that errors of another copy of this library count too. The code alone may be another library's: Node's streams have errors that are `closed` too. */
export function isOneOf(names: Readonly<Record<string, string>>, error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && Object.hasOwn(names, code) && names[code] === fieldOf(error, 'name');
}

export function isGatewayError(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError;
}

/** The message of anything that can be thrown. */
export function messageOf(thrown: unknown): string {
  try {
    return String(typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown);
  } catch {
    return 'something that cannot be written as text';
  }
}

/** The `code` of anything that can be thrown; `undefined` if it has none. By its shape, so that errors of Node's core count too. */
export function codeOf(thrown: unknown): string | undefined {
  const code = fieldOf(thrown, 'code');
  return typeof code === 'string' ? code : undefined;
}

const mostCauses = 100;

/** The first `code` on the way down to the root of what was thrown, or `''`: wrappers keep it in their cause. */
export function rootCode(thrown: unknown): string {
  let error = thrown;
  // An error may be its own cause.
  for (let depth = 0; depth < mostCauses && error !== undefined; depth += 1) {
    const code = codeOf(error);
    if (code !== undefined) return code;
    error = fieldOf(error, 'cause');
  }
  return '';
}

/** A field of anything that can be thrown; one that cannot be read is absent. */
function fieldOf(thrown: unknown, name: string): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null ? (thrown as Readonly<Record<string, unknown>>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Adds facts that only an outer layer knows; what an inner layer said stays. What is known of the call is said anew, since
 * a source may throw one error object in several calls.
 */
export function annotate<E extends GatewayError>(error: E, { callId, attempts, partial, ...rest }: Omit<ErrorFacts, 'cause'>): E {
  Object.assign(error, { ...known(rest), ...errorFacts(error), ...known({ callId, attempts, partial }) });
  return error;
}

/** What an error tells beside its message, for another error of which it is the cause. */
export function errorFacts({ source, httpStatus, providerRequestId, retryAfterS, attempts, callId, partial }: GatewayError): Omit<ErrorFacts, 'cause'> {
  return known({ source, httpStatus, providerRequestId, retryAfterS, attempts, callId, partial });
}

/** Without the fields that are `undefined`. */
function known(facts: Record<string, unknown>): Omit<ErrorFacts, 'cause'> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
