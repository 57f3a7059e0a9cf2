import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseRequest } from '../model/request.js';
import type { ChatRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import type { Source } from '../model/source.js';
import { checkedNow, openCalls } from './calls.js';
import type { CallOptions, Scope } from './calls.js';
import { openChat } from './chat.js';
import type { Ports } from './ports.js';

export interface Engine extends Scope {
  /**
   * Asks a source and gives its whole answer; hedged and retried as the settings say.
   *
   *     subscribe:  ^
   *     result:     ------(r|)        or an error, and nothing else
   *
   * Cold: every subscription is a call of its own; the request is checked and copied when `chat$` is called. Fails with
   * `RequestError` (nothing was sent, or it is wrong everywhere), `AllSourcesExhausted`, `CallDeadlineExceeded`,
   * `GovernanceBackendError`, `GatewayClosedError`, or with `signal.reason`. Unsubscribing stops timers, attempts, sockets
   * and waits in the same turn.
   *
   *     gateway.chat$({ messages: [{ role: 'user', content: 'Hello' }] }).subscribe({
   *       next: ({ content, stats }) => console.log(content, stats.generationMs),
   *       error: (error) => console.error(error.code),
   *     });
   */
  chat$(this: void, request: ChatRequest, options?: CallOptions): Observable<ChatResponse>;
  /** `chat$` as a promise; rejects with `signal.reason` when aborted. */
  chat(this: void, request: ChatRequest, options?: CallOptions): Promise<ChatResponse>;
}

/** The engine for chat over its ports; whole calls run in virtual time when the scheduler is a `TestScheduler`. */
export function composeGateway(ports: Ports<Source>): Engine {
  const { ask$, ...scope } = openCalls(ports);
  const chat$: Engine['chat$'] = (request, options) => {
    const valid = checkedNow(() => parseRequest(request));
    return ask$(() => openChat(valid(), ports.sources), options);
  };
  return { ...scope, chat$, chat: (request, options) => firstValueFrom(chat$(request, options)) };
}
