import type { ChatDelta } from './delta.js';
import type { ChatResponse } from './response.js';

/** The attempt that is passed on from here; the counts are final, since nothing more is sent for this call. */
export interface StreamStart {
  type: 'start';
  callId: string;
  source: string;
  /** The model that was asked for; what the source calls it comes with its `facts`. */
  model: string;
  /** Requests sent. */
  attempts: number;
  /** Backups started, also those of which nothing went out. */
  hedges: number;
}

/** The answer as a whole, with its figures. */
export interface StreamEnd<R = ChatResponse> {
  type: 'end';
  response: R;
}

/** What of an answer is passed on while it comes. */
export type StreamPiece = StreamStart | ChatDelta;

/** What a passed-on answer consists of: its start, its deltas, its end. */
export type StreamItem = StreamPiece | StreamEnd;
