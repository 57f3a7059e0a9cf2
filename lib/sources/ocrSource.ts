import { defer, map, reduce } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import { SourceError, TransientError } from '../model/errors.js';
import { createFold } from '../model/fold.js';
import type { AnswerFold } from '../model/fold.js';
import type { OcrAnswer } from '../model/ocr.js';
import type { OcrSource } from '../model/source.js';
import { createChatReader } from '../wire/chatReader.js';
import { chatRequestBody } from '../wire/chatRequestBody.js';
import { createDocumentReader } from '../wire/documentReader.js';
import { ocrAnswer } from '../wire/ocrAnswer.js';
import { ocrBody, ocrChatRequest } from '../wire/ocrBody.js';
import { openEndpoint } from './endpoint.js';
import type { HttpSourceSettings } from './endpoint.js';

/** `mistral`: `POST /ocr`; `chat`: a chat request that holds the document. */
export type OcrProtocol = 'mistral' | 'chat';

export interface HttpOcrSettings extends HttpSourceSettings {
  readonly protocol: OcrProtocol;
  /** Over chat: split a leading `<think>…</think>` off the text; default `false`. */
  readonly thinkTags?: boolean;
}

/** A source that reads documents over HTTP. Throws `ConfigError` as `createHttpSource` does. */
export function createHttpOcrSource(settings: HttpOcrSettings): OcrSource & { close(): Promise<void> } {
  return settings.protocol === 'chat' ? overChat(settings) : overOcr(settings);
}

function overOcr(settings: HttpOcrSettings): OcrSource & { close(): Promise<void> } {
  const { model, extraBody = {} } = settings;
  const { upstream, ask, close } = openEndpoint(settings, 'ocr');
  return {
    ...upstream,
    recognize: (request, context) =>
      ask(
        () => ({
          body: ocrBody(request, { model, extraBody }),
          accept: 'application/json',
          openReader: ({ requestId, ...reader }) => createDocumentReader({ ...reader, read: (document) => ocrAnswer(document, requestId) }),
        }),
        context,
      ),
    close,
  };
}

function overChat(settings: HttpOcrSettings): OcrSource & { close(): Promise<void> } {
  const { model, extraBody = {}, thinkTags = false } = settings;
  const { upstream, ask, close } = openEndpoint(settings, 'chat/completions');
  return {
    ...upstream,
    recognize: (request, context) =>
      defer(() =>
        ask<ChatDelta>(
          () => ({
            body: chatRequestBody(ocrChatRequest(request), { model, extraBody }),
            accept: 'application/json',
            openReader: (reader) => createChatReader({ ...reader, streamed: false, thinkTags }),
          }),
          context,
        ).pipe(
          reduce((fold, delta) => {
            fold.add(delta);
            return fold;
          }, createFold(context.attemptId)),
          map(pageOf),
        ),
      ),
    close,
  };
}

function pageOf(fold: AnswerFold): OcrAnswer {
  const { content, refusal, finishReason, usage, model, providerRequestId } = fold.answer();
  // The document's or the model's doing: asking the same source again would not help, and it is not down.
  if (finishReason === 'length') throw new SourceError('the text of the document was cut at the length limit of the model: raise max_tokens in EXTRA_BODY');
  if (finishReason === 'content_filter') throw new SourceError('a content filter of the source cut the text of the document or withheld it');
  if (refusal !== null) throw new SourceError('the model refused to read the document');
  if (content === '') throw new TransientError('the model gave no text');
  return {
    pages: [{ index: 0, markdown: content }],
    usage,
    ...(model === undefined ? {} : { model }),
    ...(providerRequestId === undefined ? {} : { providerRequestId }),
  };
}
