import { codeOf, isGatewayError } from '../model/errors.js';
import type { GatewayError } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';
import type { Refusal } from './refusal.js';

/** The one place where an error becomes a status: what a client is told of anything that can be thrown. */
export function httpError(error: unknown): Refusal {
  if (isGatewayError(error)) return ofGateway(error);
  return ofRequest[codeOf(error) ?? ''] ?? (isClientsFault(error) ? unreadable : internal);
}

/** Ours alone: whoever asks again in the same way fails in the same way, and what happened is told to nobody. */
const internal: Refusal = { status: 500, type: 'server_error', code: 'internal_error', message: 'this server failed to handle the request; that is a fault of its own' };

const unreadable: Refusal = { status: 400, code: 'invalid_request', message: 'the request could not be read' };
const noJson: Refusal = { status: 400, code: 'invalid_json', message: 'the body is not a JSON document, or holds a key such as __proto__ that no request needs' };

/** What fastify says of a request that cannot be read. */
const ofRequest: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: noJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: { ...noJson, message: 'the body is empty; send a JSON object' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, code: 'unsupported_media_type', message: 'the body is not said to be JSON; send it with the header content-type: application/json' },
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, code: 'request_too_large', message: 'the body is larger than this server takes' },
  FST_ERR_BAD_URL: { status: 400, code: 'invalid_url', message: 'the path cannot be read: a % must be followed by two hexadecimal digits' },
};

function isClientsFault(error: unknown): boolean {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500;
}

interface Verdict {
  readonly status: number;
  readonly type: string;
  readonly code: string;
}

function ofGateway(error: GatewayError): Refusal {
  const verdict = verdictOn(error);
  return { ...verdict, message: maskSecrets(error.message), headers: { ...(mayPass(verdict.status) ? retryAfter(error) : {}), ...(wasRetried(error) ? { 'x-should-retry': 'false' } : {}) } };
}

function verdictOn(error: GatewayError): Verdict {
  switch (error.code) {
    case 'request':
      return { status: requestStatus(error.httpStatus), type: 'invalid_request_error', code: requestCode(error.message) };
    case 'call_deadline':
      return { status: 504, type: 'server_error', code: error.code };
    case 'all_sources_exhausted':
      return exhausted(error);
    case 'governance_backend':
    case 'closed':
      return { status: 503, type: 'server_error', code: error.code };
    case 'stream_interrupted':
      return { status: 502, type: 'server_error', code: error.code };
    default:
      return { status: 500, type: 'server_error', code: error.code };
  }
}

/** A status that speaks of keys would send the client to look at a key that it does not have. */
function requestStatus(httpStatus = 400): number {
  return httpStatus < 400 || httpStatus >= 500 || [401, 403, 407].includes(httpStatus) ? 400 : httpStatus;
}

/** The codes by which clients tell what they can do something about; the class of the failure has been decided already. */
const requestCodes: readonly (readonly [RegExp, string])[] = [
  [/context[_ ]?(length|window|size)|(prompt|input|request)[_ ](is )?too[_ ](long|large)|string_above_max_length/i, 'context_length_exceeded'],
  [/content[_ ]?(filter|policy|moderation|management)|policy[_ ]violation|responsible_?ai|data_?inspection|prohibited_content/i, 'content_filter'],
];

function requestCode(message: string): string {
  return requestCodes.find(([pattern]) => pattern.test(message))?.[1] ?? 'invalid_request';
}

/** What the sources said last decides: a limit passes, a refusal of our key or model is a matter of this server's settings. */
function exhausted({ code, cause }: GatewayError): Verdict {
  switch (codeOf(cause)) {
    case 'rate_limited':
      return { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' };
    case 'source':
      return { status: 502, type: 'server_error', code };
    default:
      return { status: 503, type: 'server_error', code };
  }
}

function mayPass(status: number): boolean {
  return status === 429 || status === 503;
}

/** A source may ask for a pause without end, a header cannot. */
function retryAfter({ retryAfterS = Infinity }: GatewayError): Record<string, string> {
  return retryAfterS === Infinity ? {} : { 'retry-after': String(Math.ceil(retryAfterS)) };
}

/** Official clients try a 5xx again by themselves, unless they are told that it has been done here (R6). */
function wasRetried(error: GatewayError): boolean {
  return error.code === 'call_deadline' || ('reason' in error && error.reason === 'retry_exhausted');
}
