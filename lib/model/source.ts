import type { Observable } from 'rxjs';
import type { ChatDelta } from './delta.js';
import type { ValidRequest } from './request.js';

/** Limits of one attempt at a source (W1); absent = no such limit. */
export interface SourceLimits {
  /** The attempt as a whole. */
  timeoutMs?: number;
  /** The first increment. */
  ttftTimeoutMs?: number;
  /** Between two increments; falls back to `timeoutMs`. */
  interTokenTimeoutMs?: number;
}

export interface StreamContext {
  attemptId: string;
  /** What is left of the call's deadline. */
  deadlineMs?: number;
  /** Called at teardown by a source that can tell that nothing of the request went out: such an attempt leaves no row. */
  onUnsent?: (this: void) => void;
}

/**
 * Anything that makes an Observable of deltas. Subscribing sends, unsubscribing aborts; it emits no earlier than one
 * scheduler turn after subscription. Completing means that the end of the answer was seen: truncation is an error.
 */
export interface Source {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly limits: SourceLimits;
  readonly maxConcurrency?: number;
  /** Lower is asked first; default 0. */
  readonly priority?: number;
  stream(request: ValidRequest, context: StreamContext): Observable<ChatDelta>;
}
