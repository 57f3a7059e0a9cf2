import { Observable, Subject, asapScheduler, asyncScheduler } from 'rxjs';
import type { SchedulerLike, Subscriber } from 'rxjs';
import { AsyncResource } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { connectionFailure } from './connectionFailure.js';
import { proxySecrets } from './proxyRoute.js';
import { readUnlessHeld } from './readUnlessHeld.js';
import { createRoutes, departure, noLimits } from './routes.js';
import type { Connection, Outside, RouteSettings, RoutedOptions, Routes, Waiting } from './routes.js';

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

export interface HttpClientSettings extends RouteSettings {
  readonly scheduler?: SchedulerLike;
}

/** Opens no connection before it is asked to. Throws `ConfigError` for a proxy variable that cannot be used. */
export function createHttpClient(settings: HttpClientSettings = {}): HttpClient {
  const { scheduler = asyncScheduler } = settings;
  const home = new AsyncResource('polygateway.connections');
  const outside: Outside = (work) => home.runInAsyncScope(work);
  const routes = createRoutes(settings, outside);
  const means: Means = { routeOf: routes.routeOf, scheduler, outside };
  return { post: (request) => exchange(request, means), secrets: proxySecrets(settings.env ?? {}), close: routes.close } satisfies HttpClient;
}

const maxRedirects = 3;

/** What a client sends with. */
interface Means {
  readonly routeOf: Routes['routeOf'];
  readonly scheduler: SchedulerLike;
  readonly outside: Outside;
}

function exchange(request: HttpRequest, means: Means): Observable<HttpPart> {
  return new Observable((subscriber) => {
    const sending = new Sending(request, means, subscriber);
    sending.start();
    return () => sending.stop();
  });
}

/** One request, whatever ways it takes. A class, as its ways are, since one is held for each stream. */
class Sending {
  /** Its end is known, or nobody waits for it any more. */
  over = false;
  /** Some of it was written. */
  sent = false;
  readonly subscriber: Subscriber<HttpPart>;
  private live: Way | undefined;
  private answering$: Subject<Socket> | undefined;
  private readonly startedMs: number;
  private readonly request: HttpRequest;
  private readonly means: Means;

  constructor(request: HttpRequest, means: Means, subscriber: Subscriber<HttpPart>) {
    this.request = request;
    this.means = means;
    this.subscriber = subscriber;
    this.startedMs = means.scheduler.now();
  }

  start(): void {
    const { request: { url, held$ }, subscriber } = this;
    if (held$ !== undefined) {
      this.answering$ = new Subject();
      const error = (cause: unknown): void => subscriber.error(cause);
      subscriber.add(readUnlessHeld({ held$, socket$: this.answering$, within: this.means.outside }).subscribe({ error }));
    }
    this.send(url, { fresh: false, redirects: 0 });
  }

  send(to: URL, { fresh, redirects }: { readonly fresh: boolean; readonly redirects: number }): void {
    const { headers, body, connectTimeoutMs, send: sending = atOnce } = this.request;
    const route = this.means.routeOf(to, connectTimeoutMs, fresh);
    const way = new Way(this, { to, proxy: route.proxy, fresh, redirects });
    this.live = way;
    const options: RoutedOptions = {
      origin: route.origin,
      path: route.path,
      method: 'POST',
      headers: route.headers === undefined ? headers : { ...headers, ...route.headers },
      body,
      ...noLimits,
      waiting: way,
    };
    sending(() => route.dispatcher.dispatch(options, way));
  }

  /** It is neither over nor gone on by another way. */
  goesBy(way: Way): boolean {
    return !this.over && this.live === way;
  }

  answeredOn(socket: Socket | undefined): void {
    if (socket !== undefined) this.answering$?.next(socket);
  }

  fail(cause: unknown, { to, proxy, written }: Way): void {
    const { scheduler, outside } = this.means;
    this.over = true;
    const error = connectionFailure(cause, { host: to.host, proxy, sent: written, connectTimeoutMs: this.request.connectTimeoutMs, waitedMs: scheduler.now() - this.startedMs });
    // Undici reports some failures while we are still subscribing.
    outside(() => this.subscriber.add(asapScheduler.schedule(() => this.subscriber.error(error))));
  }

  stop(): void {
    if (this.over) return;
    this.over = true;
    this.live?.leave();
    if (!this.sent) this.request.onUnsent?.();
  }
}

const atOnce = <T>(dispatch: () => T): T => dispatch();

interface WayFacts {
  readonly to: URL;
  /** The proxy between, as it may be shown. */
  readonly proxy: string | undefined;
  /** On a new connection. */
  readonly fresh: boolean;
  readonly redirects: number;
}

/** One way to the server: a first one, and others after a redirect or a redial. */
class Way implements Dispatcher.DispatchHandler, Waiting {
  readonly to: URL;
  readonly proxy: string | undefined;
  written = false;
  private controller: Dispatcher.DispatchController | undefined;
  /** Until the request is written. */
  private connection: Connection | undefined;
  private socket: Socket | undefined;
  private reused = false;
  private answered = false;
  private readonly fresh: boolean;
  private readonly redirects: number;
  private readonly sending: Sending;

  constructor(sending: Sending, { to, proxy, fresh, redirects }: WayFacts) {
    this.sending = sending;
    this.to = to;
    this.proxy = proxy;
    this.fresh = fresh;
    this.redirects = redirects;
  }

  queueAt(connection: Connection): void {
    this.connection = connection;
    connection.waiting += 1;
  }

  leave(): void {
    this.leaveQueue();
    this.controller?.abort(departure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.sending.over) {
      controller.abort(departure);
      return;
    }
    this.reused = this.connection?.used ?? false;
    if (this.connection !== undefined) this.connection.used = true;
    this.socket = this.connection?.socket;
    this.leaveQueue();
    this.sending.sent = this.written = true;
  }

  // Deprecated, but nothing else tells of the first byte before the head is whole.
  onResponseStarted(): void {
    this.answered = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    const { sending, to, redirects } = this;
    if (!sending.goesBy(this) || status < 200) return;
    this.answered = true;
    const target = redirects < maxRedirects ? redirectTarget(to, status, headers['location']) : undefined;
    if (target === undefined) {
      sending.subscriber.next({ type: 'head', status, headers });
      sending.answeredOn(this.socket);
      return;
    }
    sending.send(target, { fresh: false, redirects: redirects + 1 });
    controller.abort(departure);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.sending.goesBy(this)) this.sending.subscriber.next({ type: 'bytes', bytes });
  }

  onResponseEnd(): void {
    if (!this.sending.goesBy(this)) return;
    this.sending.over = true;
    this.sending.subscriber.complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: unknown): void {
    const { sending, written, answered, fresh, to, redirects } = this;
    if (!sending.goesBy(this)) return;
    // Reset while it was idle, the connection fails a request that is not even written to it yet.
    const kept = written ? this.reused : (this.connection?.used ?? false);
    this.leaveQueue();
    // A kept connection that died idle says nothing about the source: one redial, on a new one (TR-01).
    if (kept && !answered && !fresh) sending.send(to, { fresh: true, redirects });
    else sending.fail(cause, this);
  }

  /** The request is written, or is not wanted any more. */
  private leaveQueue(): void {
    if (this.connection !== undefined) this.connection.waiting -= 1;
    this.connection = undefined;
  }
}

/** Only these two keep method and body, and a key goes to no other origin. */
function redirectTarget(from: URL, status: number, location: string | string[] | undefined): URL | undefined {
  if ((status !== 307 && status !== 308) || typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}
