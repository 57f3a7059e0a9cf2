import type { Observable } from 'rxjs';
import type { ChatDelta } from './delta.js';
import type { EmbeddingAnswer, ValidEmbeddingRequest } from './embedding.js';
import type { OcrAnswer, ValidOcrRequest } from './ocr.js';
import type { ValidRequest } from './request.js';
import type { TraceCarrier } from './tracing.js';

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
  /** While the last value is `true`, whoever reads the answer can take no more: a source that can stop reading stops until `false`. */
  held$?: Observable<boolean>;
  /** Where the call is traced: what the request takes along. */
  trace?: TraceCarrier;
}

/** What the engine knows of a source, whatever it is asked for. */
export interface Upstream {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly limits: SourceLimits;
  readonly maxConcurrency?: number;
  /** Requests and tokens that it may be sent in any 60 s; default: no limit. */
  readonly rpm?: number;
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
  stream(request: ValidRequest, context: StreamContext): Observable<ChatDelta>;
}

/** Anything that embeds a batch: one answer, then complete, or an error. Subscribing sends, unsubscribing aborts. */
export interface EmbeddingSource extends Upstream {
  /** Inputs that it takes in one request; default 128. */
  readonly maxBatch?: number;
  embed(request: ValidEmbeddingRequest, context: StreamContext): Observable<EmbeddingAnswer>;
}

/** Anything that reads a document: one answer, then complete, or an error. Subscribing sends, unsubscribing aborts. */
export interface OcrSource extends Upstream {
  recognize(request: ValidOcrRequest, context: StreamContext): Observable<OcrAnswer>;
}
