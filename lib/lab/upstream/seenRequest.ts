import type { IncomingHttpHeaders } from 'node:http';

/** A chat request as the upstream saw it. The object is live: its last three fields change while it is answered. */
export interface SeenRequest {
  readonly body: Record<string, unknown>;
  /** Those that carry secrets can be read by name, but are neither listed nor printed. */
  readonly headers: IncomingHttpHeaders;
  /** The script that it got. */
  readonly script: string;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly startedMs: number;
  /** When the client closed the connection before the answer had ended, on the same clock; else `null`. */
  readonly closedByClientMs: number | null;
  /** The upstream ended the answer itself: `eof`, `rst` or an HTTP answer. */
  readonly finished: boolean;
}

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'api-key', 'x-api-key', 'cookie']);

/** Copies headers so that secrets stay out of logs and assertions' output. */
export function withHiddenSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const copy: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    Object.defineProperty(copy, name, { value, enumerable: !secretHeaders.has(name) });
  }
  return copy;
}
