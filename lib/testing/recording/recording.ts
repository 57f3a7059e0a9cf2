import type { ChatDelta } from '../../model/delta.js';
import type { ValidRequest } from '../../model/request.js';
import type { Upstream } from '../../model/source.js';

/**
 * What sources were asked and what they said, and when, as `createRecorder` notes it and `replay` plays it.
 *
 * In a file it is JSON, with one delta a line. All times are whole milliseconds: those of a request count from its start,
 * `startedMs` from the start of the first request. `text: false`: every text is a run of `x` as long as what was said.
 *
 *     {
 *       "format": "polygateway-recording",
 *       "version": 1,
 *       "text": true,
 *       "sources": [
 *         {"id":"a/1","provider":"a","model":"m","limits":{"timeoutMs":300000}}
 *       ],
 *       "requests": [
 *         {
 *           "source": "a/1",
 *           "model": "m",
 *           "streamed": true,
 *           "startedMs": 0,
 *           "deltas": [
 *             {"atMs":103,"type":"content","text":"Hello"},
 *             {"atMs":340,"type":"finish","reason":"stop"}
 *           ],
 *           "end": {"type":"completed","atMs":341}
 *         }
 *       ]
 *     }
 */
export interface Recording {
  readonly version: 1;
  /** Whether what was said can be read. */
  readonly text: boolean;
  /** Every source that was there, asked or not, with all that the gateway knows of it. */
  readonly sources: readonly RecordedSource[];
  /** In the order in which they were sent: those that failed and those that were cancelled too. */
  readonly requests: readonly RecordedRequest[];
}

/** What the gateway knows of a source: no address and no key. */
export type RecordedSource = Readonly<Upstream>;

/** One request to one source, and all that came of it. */
export interface RecordedRequest {
  /** The id of the source. */
  readonly source: string;
  /** The model that was asked. */
  readonly model: string;
  readonly streamed: boolean;
  readonly startedMs: number;
  /** What was asked; only where the recorder was told to keep it. */
  readonly request?: ValidRequest;
  readonly deltas: readonly RecordedDelta[];
  readonly end: RecordedEnd;
}

/** A delta, and when it came. */
export type RecordedDelta = { readonly atMs: number } & ChatDelta;

/** `left`: the gateway cancelled it, such as the loser of a hedge; `open`: it was running when the recording was taken. */
export type RecordedEnd =
  | { readonly type: 'completed' | 'left' | 'open'; readonly atMs: number }
  | { readonly type: 'failed'; readonly atMs: number; readonly error: RecordedError };

/** What is kept of an error; `code` tells the class of those that are this library's. What it did not say is absent. */
export interface RecordedError {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly httpStatus?: number;
  readonly retryAfterS?: number;
  readonly providerRequestId?: string;
  readonly cause?: RecordedError;
}
