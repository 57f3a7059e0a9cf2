import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseEmbeddingRequest } from '../model/embedding.js';
import type { EmbeddingRequest, EmbeddingResponse } from '../model/embedding.js';
import type { EmbeddingSource } from '../model/source.js';
import { checkedNow, openCalls } from './calls.js';
import type { CallOptions, Scope } from './calls.js';
import { openEmbedding } from './embedding.js';
import type { Ports } from './ports.js';

/** What an `Embedding` can be asked. */
export interface EmbeddingEngine extends Scope {
  /**
   * Gives a vector for every input, in the order of the inputs; retried as the settings say, never hedged.
   *
   *     subscribe:  ^
   *     result:     ------(r|)        or an error, and nothing else
   *
   * More inputs than a source takes at once (`MAX_BATCH`) go in several requests, one after the other, each with a retry
   * budget of its own. Cold: every subscription is a call of its own; the request is checked and copied when `embed$` is
   * called. Every failure burns the budget, a 429 too. Fails as `chat$` does; what had been answered is lost then.
   * Unsubscribing stops timers, attempts, sockets and waits in the same turn.
   *
   *     embedding.embed$({ input: ['one', 'two'] }).subscribe(({ vectors }) => console.log(vectors.length));
   */
  embed$(this: void, request: EmbeddingRequest, options?: CallOptions): Observable<EmbeddingResponse>;
  /** `embed$` as a promise; rejects with what `embed$` fails with, and with `signal.reason` when aborted. */
  embed(this: void, request: EmbeddingRequest, options?: CallOptions): Promise<EmbeddingResponse>;
}

/** The engine for embeddings over its ports. */
export function composeEmbedding(ports: Ports<EmbeddingSource>): EmbeddingEngine {
  const { ask$, ...scope } = openCalls(ports);
  const embed$: EmbeddingEngine['embed$'] = (request, options) => {
    const valid = checkedNow(() => parseEmbeddingRequest(request));
    return ask$(() => openEmbedding(valid(), ports.sources), options);
  };
  return { ...scope, embed$, embed: (request, options) => firstValueFrom(embed$(request, options)) };
}
