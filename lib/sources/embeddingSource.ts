import type { EmbeddingSource } from '../model/source.js';
import { createDocumentReader } from '../wire/documentReader.js';
import { embeddingAnswer } from '../wire/embeddingAnswer.js';
import { embeddingBody } from '../wire/embeddingBody.js';
import { openEndpoint } from './endpoint.js';
import type { HttpSourceSettings } from './endpoint.js';

export interface HttpEmbeddingSettings extends HttpSourceSettings {
  readonly maxBatch?: number;
}

/** `POST /embeddings` over HTTP; vectors as lists or as base64, as the provider likes. Throws `ConfigError` as `createHttpSource` does. */
export function createHttpEmbeddingSource(settings: HttpEmbeddingSettings): EmbeddingSource & { close(): Promise<void> } {
  const { model, extraBody = {}, maxBatch } = settings;
  const { upstream, ask, close } = openEndpoint(settings, 'embeddings');
  return {
    ...upstream,
    ...(maxBatch === undefined ? {} : { maxBatch }),
    embed: (request, context) =>
      ask(
        () => ({
          body: embeddingBody(request, { model, extraBody }),
          accept: 'application/json',
          openReader: ({ requestId, ...reader }) =>
            createDocumentReader({ ...reader, read: (document) => embeddingAnswer(document, { inputs: request.input.length, dimensions: request.dimensions, requestId }) }),
        }),
        context,
      ),
    close,
  };
}
