import type { Observable } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import type { Operation } from '../model/events.js';
import type { Reply, Sign } from '../model/reply.js';
import type { StreamContext, Upstream } from '../model/source.js';

/** What one call is to get done; the engine knows nothing else of chat, embedding and OCR. Made per call, never shared. */
export interface Task<A> {
  readonly operation: Operation;
  /** Answers come in pieces, so that silence can be told from work. */
  readonly streamed: boolean;
  /** The model that was asked for; without one, each source's own. */
  readonly model: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  /** Tokens that the next request is thought to use at this source. */
  estimate(source: Upstream): number;
  /** One request to this source; a call opens one per attempt. */
  open(source: Upstream, callId: string): Exchange<A>;
  /** For an answer that is passed on to a reader: when he can take no more. */
  readonly held$?: Observable<boolean> | undefined;
  /** Takes what an answer brought; whether the call needs a further request. Without it, one answer is all. */
  take?(answer: A): boolean;
}

/** One request and what comes back. */
export interface Exchange<A, P = unknown> {
  /** Subscribing sends, unsubscribing aborts. Completes when the end of the answer was seen. */
  part$(context: StreamContext): Observable<P>;
  /** Takes each part that comes; what it throws is the failure of the attempt. */
  read(part: P): Sign;
  readonly reply: Reply<A>;
  /** Where the answer is passed on as it comes: what of a part is. */
  said?(part: P): ChatDelta;
}

/** The source by its id, with the methods that only the task knows. */
export function find<S extends Upstream>(sources: readonly S[], { id }: Upstream): S {
  const found = sources.find((source) => source.id === id);
  if (found === undefined) throw new Error(`there is no source ${id}`);
  return found;
}

/** Computes at the first need, and once. */
export function once<T>(compute: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: compute() }).value;
}
