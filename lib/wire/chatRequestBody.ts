import type { ValidRequest } from '../model/request.js';

/**
 * The JSON body of a chat request. The source's `extraBody` goes over the request's fields, since it says what this
 * source needs. Streams ask for usage unless `stream_options` is given; `null` there leaves the field out.
 */
export function chatRequestBody(
  request: ValidRequest,
  { model, extraBody = {} }: { readonly model: string; readonly extraBody?: Readonly<Record<string, unknown>> },
): string {
  const { stream } = request;
  const merged: Record<string, unknown> = { ...request, model: request.model ?? model, ...extraBody, stream, tags: undefined };
  const { stream_options: options = { include_usage: true }, ...body } = merged;
  return JSON.stringify(stream && options !== null ? { ...body, stream_options: options } : body);
}
