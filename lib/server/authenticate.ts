import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ClientKeys } from './clientKeys.js';
import { isLoopbackAddress, isLoopbackHost } from './loopback.js';
import { pathOf } from './pathOf.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

export interface AuthenticateOptions {
  /** Absent: whoever can reach the machine's own address may ask, but no web page and no name that was made to point here. */
  readonly keys?: ClientKeys;
}

const openPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Paths open to all, since what asks for them holds no key and learns nothing; they are answered to the last. */
export function isOpen(target: string): boolean {
  return openPaths.has(pathOf(target));
}

/** Turns requests away that come without a key of ours, or, where there are none, in the name of somebody elsewhere. */
export function authenticate(app: FastifyInstance, options: AuthenticateOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = refusalOf({ target: request.raw.url ?? '', headers: request.headers }, options);
    if (refusal === undefined) done();
    else refuse(reply, refusal);
  });
}

interface Asking {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

function refusalOf({ target, headers }: Asking, { keys }: AuthenticateOptions): Refusal | undefined {
  if (!target.startsWith('/')) return noProxy;
  if (isOpen(target)) return undefined;
  if (keys === undefined) return strangerRefusal(headers);
  const key = keyOf(headers);
  return key !== undefined && keys.has(key) ? undefined : keyRefusal(key === undefined);
}

const noProxy: Refusal = { status: 400, code: 'no_proxy', message: 'this is no proxy: ask for a path such as /v1/chat/completions, not for a whole address' };

function keyOf({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | undefined {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  return bearer ?? (typeof apiKey === 'string' ? apiKey : undefined);
}

function keyRefusal(isMissing: boolean): Refusal {
  const message = isMissing ? 'a client key is needed: send it as `authorization: Bearer KEY`' : 'this client key is not known here: send one that this server was started with';
  return { status: 401, code: 'invalid_api_key', message, headers: { 'www-authenticate': 'Bearer', ...unread } };
}

/** A web page could have this server asked by its visitor's browser, under a name of its own that it lets point here. */
function strangerRefusal({ host = '', origin, forwarded, 'x-forwarded-for': forwardedFor }: IncomingHttpHeaders): Refusal | undefined {
  // A proxy on this machine may ask in the name of everybody.
  if (forwarded !== undefined || !areLocal(forwardedFor)) return forbidden('proxy_not_allowed', 'requests that a proxy passes on from elsewhere are not answered without client keys');
  if (!isLoopbackHost(host)) return forbidden('host_not_allowed', 'only requests to localhost are answered without client keys');
  if (origin !== undefined && !isLoopbackHost(origin.replace(/^https?:\/\//i, ''))) return forbidden('origin_not_allowed', 'pages of other sites are not answered without client keys');
  return undefined;
}

function areLocal(addresses: string | string[] = []): boolean {
  return [addresses].flat().flatMap((list) => list.split(',')).every((address) => isLoopbackAddress(address.trim()));
}

/** Whoever is refused at the door need not send the rest of a body. */
const unread = { connection: 'close' } as const;

function forbidden(code: string, message: string): Refusal {
  return { status: 403, code, message: `${message}: set POLYGATEWAY_SERVE_KEYS to take requests from elsewhere`, headers: unread };
}
