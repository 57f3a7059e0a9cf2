import { firstValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { parseOcrRequest } from '../model/ocr.js';
import type { OcrRequest, OcrResponse } from '../model/ocr.js';
import type { OcrSource } from '../model/source.js';
import { checkedNow, openCalls } from './calls.js';
import type { CallOptions, Scope } from './calls.js';
import { openOcr } from './ocr.js';
import type { Ports } from './ports.js';

/** What an `Ocr` can be asked. */
export interface OcrEngine extends Scope {
  /**
   * Reads a document and gives its pages as Markdown; retried as the settings say, never hedged.
   *
   *     subscribe:  ^
   *     result:     ------(r|)        or an error, and nothing else
   *
   * Cold: every subscription is a call of its own; the request is checked and copied when `ocr$` is called. Every failure
   * burns the budget, a 429 too. Fails as `chat$` does. Unsubscribing stops timers, attempts, sockets and waits in the same
   * turn.
   *
   *     ocr.ocr$({ document: { type: 'document_url', document_url } }).subscribe(({ pages }) => console.log(pages.length));
   */
  ocr$(this: void, request: OcrRequest, options?: CallOptions): Observable<OcrResponse>;
  /** `ocr$` as a promise; rejects with what `ocr$` fails with, and with `signal.reason` when aborted. */
  ocr(this: void, request: OcrRequest, options?: CallOptions): Promise<OcrResponse>;
}

/** The engine for OCR over its ports. */
export function composeOcr(ports: Ports<OcrSource>): OcrEngine {
  const { ask$, ...scope } = openCalls(ports);
  const ocr$: OcrEngine['ocr$'] = (request, options) => {
    const valid = checkedNow(() => parseOcrRequest(request));
    return ask$(() => openOcr(valid(), ports.sources), options);
  };
  return { ...scope, ocr$, ocr: (request, options) => firstValueFrom(ocr$(request, options)) };
}
