import type { Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { answerBroken } from './answerBroken.js';

export interface LimitOptions {
  /** Default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Longest time for the head of a request to come; default 10. */
  readonly headersS?: number;
  /** Longest time for all of a request to come; default 60. */
  readonly requestS?: number;
  /** How long a connection is kept for another request: longer than the 60 s of common load balancers, so that they close first; default 65. */
  readonly keepAliveS?: number;
}

const mebibyte = 2 ** 20;
const maxHeaderBytes = 16 * 1024;
/** An idle connection costs about 10 KB and a file descriptor; without a bound, idle clients could take those that calls need. */
export const maxConnections = 10_000;

/** What a client may cost before it has asked for anything; options of the HTTP server. */
export function serverLimits({ maxBodyBytes = 32 * mebibyte, headersS = 10, requestS = 60, keepAliveS = 65 }: LimitOptions = {}): FastifyHttpOptions<Server> {
  return {
    bodyLimit: maxBodyBytes,
    requestTimeout: requestS * 1000,
    keepAliveTimeout: keepAliveS * 1000,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerBroken,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersS * 1000,
      requestTimeout: requestS * 1000,
      // How often the two are looked at; Node's own 30 s would let a slow one stay four times as long.
      connectionsCheckingInterval: Math.min(1000, headersS * 250),
    },
  };
}
