import type { Source } from '../model/source.js';
import { createChatReader } from '../wire/chatReader.js';
import { chatRequestBody } from '../wire/chatRequestBody.js';
import { openEndpoint } from './endpoint.js';
import type { HttpSourceSettings } from './endpoint.js';

export interface HttpChatSettings extends HttpSourceSettings {
  /** Split a leading `<think>…</think>` off the text; default `false`. */
  readonly thinkTags?: boolean;
}

/** A chat source over HTTP. `close` closes its client. Throws `ConfigError` for an address or a header that cannot be sent. */
export function createHttpSource(settings: HttpChatSettings): Source & { close(): Promise<void> } {
  const { model, extraBody = {}, thinkTags = false } = settings;
  const { upstream, ask, close } = openEndpoint(settings, 'chat/completions');
  return {
    ...upstream,
    stream: (request, context) =>
      ask(
        () => ({
          body: chatRequestBody(request, { model, extraBody }),
          accept: request.stream ? 'text/event-stream' : 'application/json',
          openReader: ({ emit, failureOf, requestId }) => createChatReader({ emit, failureOf, requestId, streamed: request.stream, thinkTags }),
        }),
        context,
      ),
    close,
  };
}
