import { isOneOf } from './errors.js';
import type {
  AllSourcesExhausted,
  CallDeadlineExceeded,
  GatewayClosedError,
  GovernanceBackendError,
  InvalidAnswerError,
  RequestError,
  SlowReaderError,
  StreamInterrupted,
} from './errors.js';

/** What `chat$` and `chat` fail with, beside the reason of an aborted signal. */
export type ChatError = RequestError | AllSourcesExhausted | CallDeadlineExceeded | GovernanceBackendError | GatewayClosedError;

/** What `embed$` and `embed` fail with, beside the reason of an aborted signal. */
export type EmbeddingError = ChatError;

/** What `ocr$` and `ocr` fail with, beside the reason of an aborted signal. */
export type OcrError = ChatError;

/** What `stream$` fails with, beside the reason of an aborted signal. */
export type StreamError = ChatError | StreamInterrupted;

/** What a reader of `stream`, `toAsyncIterable` or `toReadableStream` may meet. */
export type ReadError = StreamError | SlowReaderError;

/** Everything that a call can fail with, `parse` included: a union on `code`. A caller's own `signal.reason` is not among it. */
export type CallError = ReadError | InvalidAnswerError;

const chatErrors: { readonly [E in ChatError as E['code']]: E['name'] } = {
  request: 'RequestError',
  all_sources_exhausted: 'AllSourcesExhausted',
  call_deadline: 'CallDeadlineExceeded',
  governance_backend: 'GovernanceBackendError',
  closed: 'GatewayClosedError',
};

const callErrors: { readonly [E in CallError as E['code']]: E['name'] } = {
  ...chatErrors,
  stream_interrupted: 'StreamInterrupted',
  slow_reader: 'SlowReaderError',
  invalid_answer: 'InvalidAnswerError',
};

/**
 * Whether a call failed with an error of this library, so that `switch (error.code)` knows its fields; by code and name, so
 * that errors of another copy of it count too. `false` for what a caller aborted with, and for faults of one's own.
 *
 *     catchError((error: unknown) => {
 *       if (isCallError(error) && error.code === 'all_sources_exhausted') return of(error.reason);
 *       throw error;
 *     })
 */
export function isCallError(error: unknown): error is CallError {
  return isOneOf(callErrors, error);
}

/**
 * `isCallError` for calls that give a whole answer: `chat$`, `embed$`, `ocr$`.
 *
 *     const seconds = isChatError(error) ? error.retryAfterS : undefined;
 */
export function isChatError(error: unknown): error is ChatError {
  return isOneOf(chatErrors, error);
}
