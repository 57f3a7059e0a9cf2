import { Observable, Subject, asapScheduler, asyncScheduler } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { AsyncResource } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Client, Pool, ProxyAgent } from 'undici';
import type { Dispatcher, buildConnector } from 'undici';
import { connectionFailure } from './connectionFailure.js';
import { createProxyRoute, proxyLabel, proxySecrets } from './proxyRoute.js';
import type { Environment } from './proxyRoute.js';
import { readUnlessHeld } from './readUnlessHeld.js';

// The one file that knows undici, which is why it is longer than most.

export type HttpPart =
  | { type: 'head'; status: number; headers: Readonly<Record<string, string | string[] | undefined>> }
  | { type: 'bytes'; bytes: Buffer };

export interface HttpRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connectTimeoutMs: number;
  /** Called at teardown by the caller before anything of the request was written. */
  readonly onUnsent?: (() => void) | undefined;
  /** While the last value is `true`, the body is not read from its connection; one that ends holds no more, its error is the request's. */
  readonly held$?: Observable<boolean> | undefined;
  /** Runs each sending of the request; default: as it is. */
  readonly send?: (<T>(send: () => T) => T) | undefined;
}

/** Sends requests; owns the connections, which are kept and used again. */
export interface HttpClient {
  /**
   * One POST: subscribing sends, unsubscribing closes the connection at once. Emits the head, then the body as it comes;
   * completes where the body ends, which leaves the connection to the next request. Fails with `TransientError` or
   * `SourceError`; a status is never an error here.
   */
  post(this: void, request: HttpRequest): Observable<HttpPart>;
  /** What it tells proxies beside the requests, so that it can be kept out of every message. */
  readonly secrets: readonly string[];
  /** Closes every connection; what is in flight fails. */
  close(this: void): Promise<void>;
}

export interface HttpClientSettings {
  /** Where the proxy variables are read; default: none, so that no proxy is used unasked. */
  readonly env?: Environment;
  /** A certificate authority to trust beside the usual ones, PEM. */
  readonly ca?: string;
  /** Default `false`; an answer over HTTP/2 is not held. */
  readonly allowH2?: boolean;
  readonly scheduler?: SchedulerLike;
}

/** Opens no connection before it is asked to. Throws `ConfigError` for a proxy variable that cannot be used. */
export function createHttpClient(settings: HttpClientSettings = {}): HttpClient {
  const { scheduler = asyncScheduler } = settings;
  const home = new AsyncResource('polygateway.connections');
  const outside: Outside = (work) => home.runInAsyncScope(work);
  const routes = createRoutes(settings, outside);
  return {
    post(request) {
      return exchange(request, { routeOf: routes.routeOf, scheduler, outside });
    },
    secrets: proxySecrets(settings.env ?? {}),
    close: routes.close,
  } satisfies HttpClient;
}

/**
 * Runs work in the asynchronous context in which the client was made. A connection serves many requests, and what happens on it must
 * not seem to belong to the one that opened it, the silence of whose sending would reach what its own caller traces later.
 */
type Outside = (work: () => void) => void;

const maxRedirects = 3;
const departure = new Error('the caller has left');

/** One way to the server: a first one, and others after a redirect or a redial. */
interface Leg {
  controller?: Dispatcher.DispatchController;
  /** Until the request is written. */
  connection?: Connection | undefined;
  socket?: Socket | undefined;
}

type Handler = Dispatcher.DispatchHandler & { onResponseStarted(): void };

function exchange(
  { url, headers, body, connectTimeoutMs, onUnsent, held$, send: sending = (dispatch) => dispatch() }: HttpRequest,
  { routeOf, scheduler, outside }: { readonly routeOf: Routes['routeOf']; readonly scheduler: SchedulerLike; readonly outside: Outside },
): Observable<HttpPart> {
  return new Observable((subscriber) => {
    const startedMs = scheduler.now();
    let over = false;
    let sent = false;
    let live: Leg = {};
    let answering$: Subject<Socket> | undefined;

    function send(to: URL, { fresh, redirects }: { readonly fresh: boolean; readonly redirects: number }): void {
      const leg: Leg = {};
      live = leg;
      const route = routeOf(to, connectTimeoutMs, fresh);
      let reused = false;
      let written = false;
      let answered = false;

      function fail(cause: unknown): void {
        over = true;
        const waitedMs = scheduler.now() - startedMs;
        const error = connectionFailure(cause, { host: to.host, proxy: route.proxy, sent: written, connectTimeoutMs, waitedMs });
        // Undici reports some failures while we are still subscribing.
        outside(() => subscriber.add(asapScheduler.schedule(() => subscriber.error(error))));
      }

      const handler: Handler = {
        onRequestStart(controller) {
          leg.controller = controller;
          if (over) {
            controller.abort(departure);
            return;
          }
          reused = leg.connection?.used ?? false;
          if (leg.connection !== undefined) leg.connection.used = true;
          leg.socket = leg.connection?.socket;
          leaveQueue(leg);
          sent = written = true;
        },
        // Deprecated, but nothing else tells of the first byte before the head is whole.
        // eslint-disable-next-line @typescript-eslint/no-deprecated
        onResponseStarted() {
          answered = true;
        },
        onResponseStart(controller, status, responseHeaders) {
          if (over || leg !== live || status < 200) return;
          answered = true;
          const target = redirects < maxRedirects ? redirectTarget(to, status, responseHeaders['location']) : undefined;
          if (target === undefined) {
            subscriber.next({ type: 'head', status, headers: responseHeaders });
            if (leg.socket !== undefined) answering$?.next(leg.socket);
            return;
          }
          send(target, { fresh: false, redirects: redirects + 1 });
          controller.abort(departure);
        },
        onResponseData(_controller, bytes) {
          if (!over && leg === live) subscriber.next({ type: 'bytes', bytes });
        },
        onResponseEnd() {
          if (over || leg !== live) return;
          over = true;
          subscriber.complete();
        },
        onResponseError(_controller, cause) {
          if (over || leg !== live) return;
          // Reset while it was idle, the connection fails a request that is not even written to it yet.
          const kept = written ? reused : (leg.connection?.used ?? false);
          leaveQueue(leg);
          // A kept connection that died idle says nothing about the source: one redial, on a new one (TR-01).
          if (kept && !answered && !fresh) send(to, { fresh: true, redirects });
          else fail(cause);
        },
      };
      const options: TrackedOptions = {
        origin: route.origin,
        path: route.path,
        method: 'POST',
        headers: route.headers === undefined ? headers : { ...headers, ...route.headers },
        body,
        ...noLimits,
        onConnection(taken) {
          leg.connection = taken;
          taken.waiting += 1;
        },
      };
      sending(() => route.dispatcher.dispatch(options, handler));
    }

    if (held$ !== undefined) {
      answering$ = new Subject();
      subscriber.add(readUnlessHeld({ held$, socket$: answering$, within: outside }).subscribe({ error: (error: unknown) => subscriber.error(error) }));
    }
    send(url, { fresh: false, redirects: 0 });
    return () => {
      if (over) return;
      over = true;
      leaveQueue(live);
      live.controller?.abort(departure);
      if (!sent) onUnsent?.();
    };
  });
}

/** The request is written, or is not wanted any more. */
function leaveQueue(leg: Leg): void {
  if (leg.connection !== undefined) leg.connection.waiting -= 1;
  leg.connection = undefined;
}

/** Only these two keep method and body, and a key goes to no other origin. */
function redirectTarget(from: URL, status: number, location: string | string[] | undefined): URL | undefined {
  if ((status !== 307 && status !== 308) || typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}

/** Undici's own limits are off: they count keepalive bytes and would compete with the watchdog (W5). */
const noLimits = { headersTimeout: 0, bodyTimeout: 0 };

interface Route {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly path: string;
  /** For a proxy that forwards. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The proxy between, as it may be shown. */
  readonly proxy?: string;
}

interface Routes {
  /** `fresh`: on a new connection, which is not kept. */
  routeOf(this: void, url: URL, connectTimeoutMs: number, fresh: boolean): Route;
  close(this: void): Promise<void>;
}

function createRoutes({ env = {}, ca, allowH2 = false }: HttpClientSettings, outside: Outside): Routes {
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
interface Connection {
  /** It is open, and has carried a request before. */
  used: boolean;
  /** Requests that wait to be written to it. */
  waiting: number;
  socket?: Socket | undefined;
}

type TrackedOptions = Dispatcher.DispatchOptions & { onConnection?: (connection: Connection) => void };

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
  client.dispatch = (request: TrackedOptions, handler) => {
    request.onConnection?.(connection);
    return dispatch(request, handler);
  };
  return client;
}
