import { TransientError } from '../model/errors.js';
import type { OcrAnswer, OcrResponse, ValidOcrRequest } from '../model/ocr.js';
import type { OcrSource } from '../model/source.js';
import { documentTokens } from '../governance/quota/estimateTokens.js';
import type { Answered } from './call.js';
import type { Asked } from './call.js';
import { find } from './task.js';
import { wholeExchange } from './wholeExchange.js';

/** An OCR call: one document, one answer. */
export function openOcr(request: ValidOcrRequest, sources: readonly OcrSource[]): Asked<OcrAnswer, OcrResponse> {
  return {
    task: {
      operation: 'ocr',
      streamed: false,
      model: request.model ?? null,
      tags: request.tags ?? null,
      estimate: () => documentTokens,
      open: (source) => wholeExchange<OcrAnswer>((context) => find(sources, source).recognize(request, context), (answer) => fitting(answer, source.id)),
    },
    respond: toResponse,
  };
}

function fitting(answer: OcrAnswer, source: string): OcrAnswer {
  if (answer.pages.length === 0) throw new TransientError(`${source} gave no page`);
  return answer;
}

function toResponse({ call, winner: { answer, source, figures }, callMs }: Answered<OcrAnswer>): OcrResponse {
  return {
    pages: [...answer.pages],
    usage: answer.usage,
    callId: call.id,
    model: answer.model ?? call.task.model ?? source.model,
    source: source.id,
    providerRequestId: answer.providerRequestId ?? null,
    latencyMs: figures.wallMs,
    callMs,
    stats: { attempts: call.attempts, answered: 1, waitedMs: Math.trunc(call.clock.stalledMs()) },
  };
}
