import { attemptError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';
import { errorReport } from './errorReport.js';
import { failureClass } from './failureClass.js';
import { providerRequestId, shownRequestId } from './providerRequestId.js';
import { retryAfterS } from './retryAfter.js';
import type { Headers } from './headerText.js';

/** A failed response, or what a good one carried in place of an answer; header names in lower case. */
export interface FailedResponse {
  readonly status: number;
  readonly headers: Headers;
  /** A text, or a document already read. */
  readonly body: unknown;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /** Keys that must not show whatever they look like. */
  readonly secrets?: readonly string[];
}

const maxMessageChars = 400;
/** Masking runs before the cut, since half a key is not seen as one; on so much that what it takes out brings no torn end into sight. */
const maxMaskedChars = 8000;

/** The error of the class that a response tells (R1), with a short message that holds no key and no markup (R7). */
export function failure({ status, headers, body, receivedAtMs, secrets = [] }: FailedResponse): AttemptError {
  const report = errorReport(body);
  const kind = failureClass(report, status);
  const mayPass = kind === 'transient' || kind === 'rate_limited';
  const rules = { receivedAtMs, rateLimited: kind === 'rate_limited' };
  const waitS = retryAfterS(headers, rules) ?? retryAfterS(lowerCase(report.headers), rules) ?? report.retryAfterS;
  const requestId = providerRequestId(headers, secrets) ?? (report.requestId === undefined ? undefined : shownRequestId(report.requestId, secrets));
  return attemptError(kind, maskSecrets(message(status, report.message, report.codes[0]), secrets).slice(0, maxMessageChars), {
    httpStatus: status >= 300 ? status : (report.status ?? status),
    ...(mayPass && waitS !== undefined ? { retryAfterS: waitS } : undefined),
    ...(requestId === undefined ? undefined : { providerRequestId: requestId }),
  });
}

function message(status: number, text: string, code: string | undefined): string {
  const where = status >= 300 ? `HTTP ${status}` : 'the source reports an error';
  const named = code === undefined || code === String(status) ? where : `${where} (${code})`;
  return (text === '' ? named : `${named}: ${text}`).slice(0, maxMaskedChars);
}

function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
