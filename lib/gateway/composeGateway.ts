import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseRequest, parseStreamRequest } from '../model/request.js';
import type { LooseChatRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import type { Source } from '../model/source.js';
import type { StreamItem } from '../model/streamItem.js';
import { toAsyncIterable } from '../adapters/toAsyncIterable.js';
import { webStreamOf } from '../adapters/toReadableStream.js';
import { checkedNow, openCalls } from './calls.js';
import type { CallOptions, Scope, StreamOptions } from './calls.js';
import { openChat, openStream } from './chat.js';
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
  chat$(this: void, request: LooseChatRequest, options?: CallOptions): Observable<ChatResponse>;
  /**
   * `chat$` as a promise; rejects with what `chat$` fails with, and with `signal.reason` when aborted.
   *
   *     const { content } = await gateway.chat({ messages }, { signal: AbortSignal.timeout(60_000) });
   */
  chat(this: void, request: LooseChatRequest, options?: CallOptions): Promise<ChatResponse>;
  /**
   * Asks a source and passes its answer on as it comes, from the attempt that speaks first (H12).
   *
   *     the source:  ---a--b--c|
   *     result:      ---(sa)--b--c(e|)      s = start, e = end, with the whole answer and its figures
   *
   * Until the first increment it is hedged (`hedgeAfterS`) and retried as `chat$` is, and fails as `chat$` does. From then
   * on nothing is asked again: the failure is `StreamInterrupted`, or `RequestError`, `CallDeadlineExceeded`,
   * `GatewayClosedError`, each with `partial`, which says how much had been passed on. `hedgeStallAfterS` has no effect;
   * `stream: false` is a `RequestError`. Observables know no back-pressure: a subscriber that is slow by itself has to tell
   * through `held$`, as `stream` and `toReadableStream` do. Cold, as `chat$`; unsubscribing stops all in the same turn.
   *
   *     gateway.stream$({ messages }).pipe(filter((item) => item.type === 'content')).subscribe({
   *       next: ({ text }) => process.stdout.write(text),
   *       error: ({ code, partial }) => console.error(code, partial),
   *     });
   */
  stream$(this: void, request: LooseChatRequest, options?: StreamOptions): Observable<StreamItem>;
  /**
   * `stream$` to be read at the reader's own pace: a reader that is slow stops the source's socket, and one that leaves
   * (`break`, `return()`, a cancelled stream) closes it at once. Throws what `stream$` fails with, and `SlowReaderError` to a
   * reader that has taken nothing for a minute.
   *
   *     for await (const item of gateway.stream({ messages })) {
   *       if (item.type === 'content') process.stdout.write(item.text);
   *     }
   */
  stream(this: void, request: LooseChatRequest, options?: CallOptions): ChatStream;
}

/** A passed-on answer, to be read once: one call, however it is read. */
export interface ChatStream extends AsyncIterableIterator<StreamItem>, AsyncDisposable {
  /** What is left of it, as items, not as bytes: for `new Response(…)` see `toReadableStream`. `cancel()` closes the source at once. */
  toReadableStream(this: void): ReadableStream<StreamItem>;
}

/** The engine for chat over its ports; whole calls run in virtual time when the scheduler is a `TestScheduler`. */
export function composeGateway(ports: Ports<Source>): Engine {
  const { ask$, pass$, ...scope } = openCalls(ports);
  const chat$: Engine['chat$'] = (request, options) => {
    const valid = checkedNow(() => parseRequest(request));
    return ask$(() => openChat(valid(), ports.sources), options);
  };
  const stream$: Engine['stream$'] = (request, { held$, ...options } = {}) => {
    const valid = checkedNow(() => parseStreamRequest(request));
    return pass$(() => openStream(valid(), ports.sources, held$), options);
  };
  const stream: Engine['stream'] = (request, options = {}) => {
    const items = toAsyncIterable((held$) => stream$(request, { ...options, held$ }), { scheduler: ports.scheduler });
    return Object.assign(items, { toReadableStream: () => webStreamOf(items) });
  };
  return { ...scope, chat$, chat: (request, options) => firstValueFrom(chat$(request, options)), stream$, stream };
}
