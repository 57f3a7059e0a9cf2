import type { Observable } from 'rxjs';
import type { ChatDelta } from './delta.js';
import type { EmbeddingAnswer, ValidEmbeddingRequest } from './embedding.js';
import type { OcrAnswer, ValidOcrRequest } from './ocr.js';
import type { ValidRequest } from './request.js';
import type { TraceCarrier } from './tracing.js';

/** Limits of one attempt at a source (W1), in milliseconds; absent = no such limit. */
export interface SourceLimits {
  /** The attempt as a whole. */
  timeoutMs?: number;
  /** The first increment. */
  ttftTimeoutMs?: number;
  /** Between two increments; falls back to `timeoutMs`. */
  interTokenTimeoutMs?: number;
}

/** What a source is told about the attempt that it is asked for. Absent: nothing to say or to obey. */
export interface StreamContext {
  /** The id of the attempt, as events and rows name it. */
  attemptId: string;
  /** What is left of the call's deadline; absent: it has none. */
  deadlineMs?: number;
  /** Called at teardown by a source that can tell that nothing of the request went out: such an attempt leaves no row. */
  onUnsent?: (this: void) => void;
  /** While the last value is `true`, whoever reads the answer can take no more: a source that can stop reading stops until `false`. */
  held$?: Observable<boolean>;
  /** Where the call is traced: what the request takes along. */
  trace?: TraceCarrier;
}

/** What the engine knows of a source, whatever it is asked for. */
export interface Upstream {
  /** Unique in its scope, such as `openai/1`. */
  readonly id: string;
  /** Whose it is, for telemetry. */
  readonly provider: string;
  /** What is asked for where the request names no model. */
  readonly model: string;
  readonly limits: SourceLimits;
  /** Requests in flight at once, a number; default: no limit. */
  readonly maxConcurrency?: number;
  /** Number of requests that it may be sent in any 60 s; default: no limit. */
  readonly rpm?: number;
  /** Number of tokens that it may be sent in any 60 s; default: no limit. */
  readonly tpm?: number;
  /** Lower is asked first; default 0. */
  readonly priority?: number;
  /** Share of the requests under the strategy `weighted`; default 1. */
  readonly weight?: number;
}

/**
 * Anything that makes an Observable of deltas. Subscribing sends, unsubscribing aborts; it emits no earlier than one
 * scheduler turn after subscription. Completing means that the end of the answer was seen: truncation is an error.
 */
export interface Source extends Upstream {
  /** Cold: one request a subscription. Fails with an error of this library's classes, or with any other, which counts as transient. */
  stream(request: ValidRequest, context: StreamContext): Observable<ChatDelta>;
}

/** Anything that embeds a batch: one answer, then complete, or an error. Subscribing sends, unsubscribing aborts. */
export interface EmbeddingSource extends Upstream {
  /** Inputs that it takes in one request; default 128. */
  readonly maxBatch?: number;
  /** Cold: one request a subscription; fails as `Source.stream` does. */
  embed(request: ValidEmbeddingRequest, context: StreamContext): Observable<EmbeddingAnswer>;
}

/** Anything that reads a document: one answer, then complete, or an error. Subscribing sends, unsubscribing aborts. */
export interface OcrSource extends Upstream {
  /** Cold: one request a subscription; fails as `Source.stream` does. */
  recognize(request: ValidOcrRequest, context: StreamContext): Observable<OcrAnswer>;
}
