import { SourceError } from '../model/errors.js';
import type { OcrDocument, ValidOcrRequest } from '../model/ocr.js';
import type { ValidRequest } from '../model/request.js';

/** The JSON body of `POST /ocr`; the source's `extraBody` goes over the request's fields. */
export function ocrBody(
  request: ValidOcrRequest,
  { model, extraBody = {} }: { readonly model: string; readonly extraBody?: Readonly<Record<string, unknown>> },
): string {
  return JSON.stringify({ ...request, model: request.model ?? model, ...extraBody, document: request.document, tags: undefined });
}

const instruction = 'Transcribe this document to Markdown, completely and literally, tables as Markdown tables. Answer with the transcription alone.';

/** The chat request that has a model read the document. Throws `SourceError` for a document that chat cannot hold: another source may read it. */
export function ocrChatRequest(request: ValidOcrRequest): ValidRequest {
  if (request.pages !== undefined && request.pages !== null) {
    throw new SourceError('pages was given, but a source that is asked by chat reads the whole document: leave it out, or use a source with POST /ocr');
  }
  const content = [{ type: 'text', text: instruction }, contentPart(request.document)];
  return { ...(request.model == null ? {} : { model: request.model }), messages: [{ role: 'user', content }], stream: false };
}

function contentPart(document: OcrDocument): object {
  switch (document.type) {
    case 'image_url': {
      const image = document.image_url;
      return { type: 'image_url', image_url: typeof image === 'string' ? { url: image } : image };
    }
    case 'document_url':
      if (document.document_url.startsWith('data:')) {
        return { type: 'file', file: { filename: document.document_name ?? 'document.pdf', file_data: document.document_url } };
      }
      throw new SourceError('a source that is asked by chat cannot fetch a document: send it as a data: URL, send its pages as images, or use a source with POST /ocr');
    case 'file':
      return { type: 'file', file: { file_id: document.file_id } };
    default:
      return document satisfies never;
  }
}
