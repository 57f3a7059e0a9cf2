import { validateHeaderName, validateHeaderValue } from 'node:http';
import { defer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { ConfigError } from '../model/errors.js';
import type { SourceLimits, StreamContext, Upstream } from '../model/source.js';
import type { HttpClient, HttpPart } from './httpBytes.js';
import { readResponse } from './readResponse.js';
import type { ReadResponseOptions } from './readResponse.js';

/** One endpoint with its key and model. Times in milliseconds. */
export interface HttpSourceSettings extends SourceLimits, Partial<Omit<Upstream, 'limits'>> {
  readonly id: string;
  readonly provider: string;
  /** Up to the version, such as `https://api.example.com/v1`; a query is kept. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly connectTimeoutMs: number;
  /** Sent over our own, whatever the case of their names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly client: HttpClient;
  readonly scheduler?: SchedulerLike;
}

/** One request to an endpoint, and how what comes back is read. */
export interface Exchange<T> extends Pick<ReadResponseOptions<T>, 'openReader'> {
  readonly body: string;
  readonly accept: 'application/json' | 'text/event-stream';
}

export interface Endpoint {
  /** What the engine knows of it. */
  readonly upstream: Upstream;
  /** Subscribing sends, unsubscribing closes the connection at once. What `make` throws fails the request; nothing is sent. */
  ask<T>(this: void, make: () => Exchange<T>, context: StreamContext): Observable<T>;
  close(this: void): Promise<void>;
}

/** Throws `ConfigError` for an address or a header that cannot be sent. */
export function openEndpoint(settings: HttpSourceSettings, path: string): Endpoint {
  const { id, client, connectTimeoutMs, scheduler } = settings;
  const base = parseBase(settings);
  const url = urlOf(base, path);
  const fixed = requestHeaders(settings);
  // Made once: they are the same for every request that is not traced.
  const plain = { 'application/json': { accept: 'application/json', ...fixed }, 'text/event-stream': { accept: 'text/event-stream', ...fixed } };
  const secrets = secretsOf(settings, base);
  return {
    upstream: upstreamOf(settings),
    ask: (make, { onUnsent, held$, trace }) =>
      defer(() => {
        const { body, accept, openReader } = make();
        const headers = trace === undefined ? plain[accept] : { ...trace.headers, ...plain[accept] };
        const part$: Observable<HttpPart> = client.post({ url, headers, body, connectTimeoutMs, onUnsent, held$, send: trace?.send });
        return part$.pipe(readResponse({ source: id, openReader, secrets, held$, ...(scheduler === undefined ? {} : { scheduler }) }));
      }),
    close: client.close,
  };
}

function parseBase({ id, baseUrl }: HttpSourceSettings): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new ConfigError([`the base URL of ${id} is no http or https address; write it as https://host/v1`]);
  }
  return base;
}

function urlOf(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

function requestHeaders({ id, apiKey, headers = {} }: HttpSourceSettings): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all = {
    'content-type': 'application/json',
    // Bytes that are still being decompressed would look like silence (T3).
    'accept-encoding': 'identity',
    'user-agent': 'polygateway',
    ...(apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
    ...Object.fromEntries(given),
  };
  for (const [name, value] of Object.entries(all)) checkHeader(id, name, value);
  return all;
}

/** The value stays out of the message: it may be a key. */
function checkHeader(id: string, name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new ConfigError([`the header ${JSON.stringify(name)} of ${id} cannot be sent; look for line breaks and characters that are not ASCII`]);
  }
}

/** What of a query is no key; anything else may be one, such as `sig` or `code`. */
const plainName = /version|deployment|region/i;

/** Header values count whatever their names, with and without a leading word such as `Bearer`. */
function secretsOf({ apiKey = '', headers = {}, client }: HttpSourceSettings, base: URL): string[] {
  const inHeaders = Object.values(headers).flatMap((value) => [value, value.replace(/^\w+\s+/, '')]);
  const inQuery = [...base.searchParams].flatMap(([name, value]) => (plainName.test(name) ? [] : [value]));
  return [apiKey, ...inHeaders, ...inQuery, ...client.secrets].filter((secret) => secret !== '');
}

function upstreamOf(settings: HttpSourceSettings): Upstream {
  const { id, provider, model, maxConcurrency, rpm, tpm, priority, weight, timeoutMs, ttftTimeoutMs, interTokenTimeoutMs } = settings;
  return {
    id,
    provider,
    model,
    limits: present({ timeoutMs, ttftTimeoutMs, interTokenTimeoutMs }),
    ...present({ maxConcurrency, rpm, tpm, priority, weight }),
  };
}

/** Without the fields that are absent. */
function present<T extends object>(fields: T): { [F in keyof T]?: NonNullable<T[F]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [F in keyof T]?: NonNullable<T[F]> };
}
