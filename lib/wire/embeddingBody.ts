import type { ValidEmbeddingRequest } from '../model/embedding.js';

/** The JSON body of an embedding request; the source's `extraBody` goes over the request's fields. */
export function embeddingBody(
  request: ValidEmbeddingRequest,
  { model, extraBody = {} }: { readonly model: string; readonly extraBody?: Readonly<Record<string, unknown>> },
): string {
  return JSON.stringify({ ...request, model: request.model ?? model, ...extraBody, input: request.input, tags: undefined });
}
