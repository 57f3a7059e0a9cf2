import { TransientError } from '../model/errors.js';
import type { OcrAnswer, OcrPage } from '../model/ocr.js';
import { chatUsage } from './chatUsage.js';
import { asList, asRecord, asText } from './jsonFields.js';
import type { JsonRecord } from './jsonFields.js';

/** The pages of a document of `POST /ocr`, in their order; throws where there is none, or one without its text. */
export function ocrAnswer(document: JsonRecord, requestId: string | undefined): OcrAnswer {
  const pages = asList(document['pages']).map(pageOf);
  if (pages.length === 0) throw new TransientError('there is no page in the body');
  const usage = asRecord(document['usage']) ?? asRecord(document['usage_info']);
  const model = asText(document['model']);
  return {
    pages: pages.sort((a, b) => a.index - b.index),
    usage: usage === undefined ? null : chatUsage(usage, null),
    ...(model === '' ? {} : { model }),
    ...(requestId === undefined ? {} : { providerRequestId: requestId }),
  };
}

function pageOf(value: unknown, at: number): OcrPage {
  const page = asRecord(value);
  const { markdown, index } = page ?? {};
  if (page === undefined || typeof markdown !== 'string') throw new TransientError(`page ${at} of the answer has no text`);
  return { ...page, index: Number.isSafeInteger(index) ? (index as number) : at, markdown };
}
