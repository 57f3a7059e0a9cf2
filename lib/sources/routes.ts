import type { Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Client, Pool, ProxyAgent } from 'undici';
import type { Dispatcher, buildConnector } from 'undici';
import { createProxyRoute, proxyLabel } from './proxyRoute.js';
import type { Environment } from './proxyRoute.js';

export interface RouteSettings {
  /** Where the proxy variables are read; default: none, so that no proxy is used unasked. */
  readonly env?: Environment;
  /** A certificate authority to trust beside the usual ones, PEM. */
  readonly ca?: string;
  /** Default `false`; an answer over HTTP/2 is not held. */
  readonly allowH2?: boolean;
}

/**
 * Runs work in the asynchronous context in which the client was made. A connection serves many requests, and what happens on it must
 * not seem to belong to the one that opened it, the silence of whose sending would reach what its own caller traces later.
 */
export type Outside = (work: () => void) => void;

/** What a request is ended with whose caller has left. */
export const departure = new Error('the caller has left');

/** Undici's own limits are off: they count keepalive bytes and would compete with the watchdog (W5). */
export const noLimits = { headersTimeout: 0, bodyTimeout: 0 };

interface Route {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly path: string;
  /** For a proxy that forwards. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The proxy between, as it may be shown. */
  readonly proxy?: string;
}

/** Ways to the servers, with the connections of each, which are kept and used again. */
export interface Routes {
  /** `fresh`: on a new connection, which is not kept. */
  routeOf(this: void, url: URL, connectTimeoutMs: number, fresh: boolean): Route;
  close(this: void): Promise<void>;
}

export function createRoutes({ env = {}, ca, allowH2 = false }: RouteSettings, outside: Outside): Routes {
  const proxyOf = createProxyRoute(env);
  const dispatchers = new Map<string, Dispatcher>();
  const tls = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  let closed = false;

  /** Undici's own Agent would close a pool that has just been made for the one whose last connection is gone. */
  function dispatcherOf(to: { readonly origin: string } | { readonly proxy: URL }, timeout: number, fresh: boolean): Dispatcher {
    const name = `${'proxy' in to ? to.proxy.href : to.origin} ${timeout} ${fresh}`;
    const known = dispatchers.get(name);
    if (known !== undefined) return known;
    const options = { ...noLimits, allowH2, ...(fresh ? { pipelining: 0 } : {}) };
    const connect = { ...tls, timeout };
    const pools = trackedPools(outside);
    const made = 'origin' in to ? pools(to.origin, { ...options, connect }) : new ProxyAgent({ ...options, factory: pools, ...tunnel(to.proxy, connect) });
    dispatchers.set(name, made);
    if (closed) void made.destroy();
    return made;
  }

  return {
    routeOf(url, timeout, fresh) {
      const proxy = proxyOf(url);
      const path = url.pathname + url.search;
      if (proxy === undefined) return { dispatcher: dispatcherOf({ origin: url.origin }, timeout, fresh), origin: url.origin, path };
      const label = { proxy: proxyLabel(proxy) };
      if (url.protocol === 'https:' || !isHttp(proxy)) {
        return { dispatcher: dispatcherOf({ proxy }, timeout, fresh), origin: url.origin, path, ...label };
      }
      // Proxies commonly refuse a tunnel to a plain port, so plain requests are forwarded.
      const token = proxyToken(proxy);
      const headers = { host: url.host, ...(token === undefined ? {} : { 'proxy-authorization': token }) };
      return { dispatcher: dispatcherOf({ origin: proxy.origin }, timeout, fresh), origin: proxy.origin, path: url.origin + path, headers, ...label };
    },
    async close() {
      closed = true;
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

function isHttp(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

function proxyToken({ username, password }: URL): string | undefined {
  if (username === '') return undefined;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

function tunnel(proxy: URL, connect: { timeout: number; ca?: string[] }): ProxyAgent.Options {
  const address = new URL(proxy);
  const token = isHttp(proxy) ? proxyToken(proxy) : undefined;
  if (token !== undefined) address.username = address.password = '';
  return {
    uri: address.href,
    // Undici knows a user without a password only this way.
    ...(token === undefined ? {} : { token }),
    proxyTls: connect,
    requestTls: connect,
    // A proxy that never answers CONNECT is a connection that does not come about.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connect.timeout }),
  };
}

/** One connection of a pool. */
export interface Connection {
  /** It is open, and has carried a request before. */
  used: boolean;
  /** Requests that wait to be written to it. */
  waiting: number;
  socket?: Socket | undefined;
}

/** What waits for a connection. */
export interface Waiting {
  /** The request waits to be written to this one. */
  queueAt(connection: Connection): void;
}

export type RoutedOptions = Dispatcher.DispatchOptions & { waiting?: Waiting };

/** A pool that tells each request which connection it was given; undici itself does not. */
function trackedPools(outside: Outside): (origin: string | URL, options: object) => Dispatcher {
  const factory = (origin: URL, options: { connect?: buildConnector.connector }): Dispatcher => trackedClient(origin, options, outside);
  return (origin, options) => new Pool(origin, { ...options, factory });
}

function trackedClient(origin: URL, options: { connect?: buildConnector.connector }, outside: Outside): Dispatcher {
  const connection: Connection = { used: false, waiting: 0 };
  const client = new Client(origin, {
    ...options,
    connect(target, callback) {
      // After an abort undici would connect anew, for a request that nobody waits for.
      if (connection.waiting > 0) outside(() => options.connect?.(target, opened));
      else callback(departure, null);

      function opened(...result: Parameters<typeof callback>): void {
        connection.socket = result[1] ?? undefined;
        callback(...result);
      }
    },
  });
  const unused = (): void => {
    connection.used = false;
  };
  client.on('connect', unused).on('disconnect', unused);
  client.on('disconnect', () => { connection.socket = undefined; });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request: RoutedOptions, handler) => {
    request.waiting?.queueAt(connection);
    return dispatch(request, handler);
  };
  return client;
}
