import type { EmbeddingEngine } from '../gateway/composeEmbedding.js';
import type { Engine } from '../gateway/composeGateway.js';
import type { ClientKeys } from './clientKeys.js';

export type Delivery = 'commit' | 'buffered';

/** What the front door has of a gateway. */
export type ChatDoor = Pick<Engine, 'chat$' | 'stream$' | 'stats' | 'events$'>;
export type EmbeddingDoor = Pick<EmbeddingEngine, 'embed$' | 'stats' | 'events$'>;

export interface FrontDoorOptions {
  readonly chat: ChatDoor;
  /** Absent: `/v1/embeddings` answers 404 and says which settings it needs. */
  readonly embedding?: EmbeddingDoor;
  /** What `/v1/models` lists: the models of the sources, each once. */
  readonly models: readonly string[];
  /** Default `commit`. */
  readonly delivery?: Delivery;
  /** Absent: nobody is asked for a key, and only requests to a loopback name are answered. */
  readonly keys?: ClientKeys;
  /** A streamed answer that has nothing to say for this long gets a comment, so that nobody between takes it for dead; default 15. */
  readonly keepaliveS?: number;
  /** Longest time that a client may leave what was written to it unread; default 60. */
  readonly slowClientS?: number;
  /** Default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Told once a request has ended. */
  readonly onRequest?: (request: FinishedRequest) => void;
}

/** One request that has ended; nothing of it is secret or a prompt. */
export interface FinishedRequest {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** `null`: the client left before there was one. */
  readonly status: number | null;
  /** Answered in full, ended by an error, or left by the client. */
  readonly ended: 'ok' | 'failed' | 'client-gone';
  readonly ms: number;
  readonly callId?: string;
  readonly source?: string;
  readonly attempts?: number;
  readonly hedges?: number;
  readonly stallMs?: number | null;
  /** The code of the error that was told. */
  readonly code?: string;
}
