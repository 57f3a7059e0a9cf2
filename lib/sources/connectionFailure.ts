import { SourceError, StreamLivenessTimeout, TransientError, messageOf, rootCode } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';

/** How far an exchange had come when it failed. */
export interface FailedExchange {
  /** `host:port`. */
  readonly host: string;
  /** The proxy between, as it may be shown. */
  readonly proxy?: string | undefined;
  /** The request had been written to a connection. */
  readonly sent: boolean;
  readonly connectTimeoutMs: number;
  readonly waitedMs: number;
}

const connectTimeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT']);
const unknownName = /^(ENOTFOUND|EAI_)/;
const badTls = /^(CERT_|ERR_TLS_|ERR_SSL_|UND_ERR_PRX_TLS|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|EPROTO)/;

/** The class of an error of the HTTP client, by its code: names and TLS are the source's, the rest passes (R1). */
export function connectionFailure(cause: unknown, exchange: FailedExchange): AttemptError {
  forgetBytes(cause);
  const { host, proxy, sent, connectTimeoutMs, waitedMs } = exchange;
  const code = rootCode(cause);
  const place = proxy === undefined ? host : `${host} through the proxy ${proxy}`;
  const reason = maskSecrets(messageOf(cause).slice(0, 1000)).slice(0, 200);
  if (sent) return new TransientError(`the connection to ${place} failed: ${reason}`, { cause });
  if (connectTimeouts.has(code)) {
    const expired = new StreamLivenessTimeout({ limit: 'connect', limitMs: connectTimeoutMs, waitedMs });
    return new TransientError(`${place}: ${expired.message}`, { cause: expired });
  }
  if (unknownName.test(code)) return new SourceError(`the name of ${place} cannot be resolved: ${reason}`, { cause });
  if (badTls.test(code)) return new SourceError(`no secure connection to ${place}: ${reason}`, { cause });
  const refusal = proxy === undefined ? undefined : /Proxy response \((\d+)\)/.exec(reason)?.[1];
  if (refusal !== undefined) return proxyRefusal(Number(refusal), place, cause);
  return new TransientError(`no connection to ${place}: ${reason}`, { cause });
}

/** Undici hangs what it could not read on its error; that may quote the request, key and all. */
function forgetBytes(cause: unknown): void {
  if (typeof cause === 'object' && cause !== null && 'name' in cause && cause.name === 'HTTPParserError') Object.assign(cause, { data: undefined });
}

function proxyRefusal(status: number, place: string, cause: unknown): AttemptError {
  const message = `no connection to ${place}: the proxy answered HTTP ${status}${status === 407 ? ', it wants a user and a password' : ''}`;
  return status < 500 ? new SourceError(message, { cause }) : new TransientError(message, { cause });
}
