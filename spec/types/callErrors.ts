import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import { isCallError, isChatError } from '../../lib/index.js';
import type {
  CallError,
  ChatError,
  EmbeddingError,
  ExhaustedReason,
  InvalidAnswerError,
  InvalidAnswerReason,
  OcrError,
  PartialOutput,
  ReadError,
  SlowReaderError,
  StreamError,
  StreamInterrupted,
} from '../../lib/index.js';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** What each call may fail with, by code. */
type WholeAnswerCodes = 'request' | 'all_sources_exhausted' | 'call_deadline' | 'governance_backend' | 'closed';
export const ofChat: Same<ChatError['code'], WholeAnswerCodes> = true;
export const ofEmbedding: Same<EmbeddingError['code'], WholeAnswerCodes> = true;
export const ofOcr: Same<OcrError['code'], WholeAnswerCodes> = true;
export const ofStream: Same<StreamError, ChatError | StreamInterrupted> = true;
export const ofReading: Same<ReadError, StreamError | SlowReaderError> = true;
export const ofAny: Same<CallError, ReadError | InvalidAnswerError> = true;
// @ts-expect-error a whole answer is never interrupted
export const notOfChat: Same<ChatError, StreamError> = true;

/** The code tells the class, and with it the fields. */
export function reasonOf(error: unknown): Observable<ExhaustedReason | InvalidAnswerReason | PartialOutput | number | undefined> {
  if (!isCallError(error)) throw error;
  switch (error.code) {
    case 'all_sources_exhausted':
      return of(error.reason satisfies ExhaustedReason);
    case 'stream_interrupted':
      return of(error.partial);
    case 'invalid_answer':
      return of(error.problems.length === 0 ? error.reason : error.repairs);
    case 'request':
    case 'call_deadline':
    case 'governance_backend':
    case 'closed':
    case 'slow_reader':
      return of(error.retryAfterS);
    default:
      return error satisfies never;
  }
}

/** For a call that gives a whole answer there is less to be expected. */
export function isWorthARetry(error: unknown): boolean {
  if (!isChatError(error)) return false;
  switch (error.code) {
    case 'request':
    case 'closed':
      return error.retryable;
    case 'all_sources_exhausted':
      return error.reason !== 'no_runnable_source';
    case 'call_deadline':
    case 'governance_backend':
      return true;
    default:
      return error satisfies never;
  }
}

export function withoutTheDeadline(error: ChatError): string {
  switch (error.code) {
    case 'request':
    case 'closed':
    case 'all_sources_exhausted':
    case 'governance_backend':
      return error.message;
    default:
      // @ts-expect-error `call_deadline` was left out
      return error satisfies never;
  }
}

export function withoutNarrowing(error: CallError): unknown {
  // @ts-expect-error not every error has one
  return error.reason;
}

export function withAWrongCode(error: CallError): boolean {
  // @ts-expect-error no call fails with it: it is the cause of what a call fails with
  return error.code === 'rate_limited';
}
