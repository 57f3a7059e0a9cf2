import { limitsOf, secondsToMs } from '../config/limitsOf.js';
import { composeOcr } from '../gateway/composeOcr.js';
import type { OcrEngine } from '../gateway/composeOcr.js';
import type { OcrSource } from '../model/source.js';
import { createHttpOcrSource } from '../sources/ocrSource.js';
import { openScope } from './openScope.js';
import type { RunningScope, ScopeOptions } from './scope.js';

/** Settings, any of their fields again, and ports: what `createOcr` is given. */
export type OcrOptions = ScopeOptions<OcrSource>;

/** A running gateway for OCR; `close()` it when the program ends, or hold it with `await using`. */
export interface Ocr extends Omit<OcrEngine, 'close'>, RunningScope {}

/**
 * Makes a running gateway that reads documents, with the same governance as chat; hedging keys are ignored (C6). A source
 * is asked over `POST /ocr`, or with `PROTOCOL` = `chat` by a chat request that holds the image.
 *
 * Throws `ConfigError` with everything that is wrong at once (C rules).
 *
 *     const ocr = createOcr({ settings: settingsFromEnv('OCR') });
 *     const { pages } = await ocr.ocr({ document: { type: 'image_url', image_url } });
 *     await ocr.close();
 */
export function createOcr(options: OcrOptions): Ocr {
  return openScope(options, {
    serves: 'ocr',
    openSource: ({ connectTimeoutS, protocol, ...source }, shared) =>
      createHttpOcrSource({
        ...source,
        ...limitsOf({ ...source, protocol, connectTimeoutS }),
        protocol: protocol === 'chat' ? 'chat' : 'mistral',
        connectTimeoutMs: secondsToMs(connectTimeoutS),
        ...shared,
      }),
    compose: composeOcr,
  });
}
