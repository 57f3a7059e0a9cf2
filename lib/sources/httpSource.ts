import { validateHeaderName, validateHeaderValue } from 'node:http';
import { defer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { ConfigError } from '../model/errors.js';
import type { Source, SourceLimits } from '../model/source.js';
import { chatRequestBody } from '../wire/chatRequestBody.js';
import type { HttpClient } from './httpBytes.js';
import { readChat } from './readChat.js';

/** One OpenAI-compatible endpoint with its key and model. Times in milliseconds. */
export interface HttpSourceSettings extends SourceLimits {
  readonly id: string;
  readonly provider: string;
  /** Up to the version, such as `https://api.example.com/v1`; a query is kept. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly connectTimeoutMs: number;
  readonly maxConcurrency?: number;
  readonly priority?: number;
  /** Sent over our own, whatever the case of their names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly extraBody?: Readonly<Record<string, unknown>>;
  /** Split a leading `<think>…</think>` off the text; default `false`. */
  readonly thinkTags?: boolean;
  readonly client: HttpClient;
  readonly scheduler?: SchedulerLike;
}

/** A source over HTTP. `close` closes its client. Throws `ConfigError` for an address or a header that cannot be sent. */
export function createHttpSource(settings: HttpSourceSettings): Source & { close(): Promise<void> } {
  const { id, provider, model, client, connectTimeoutMs, maxConcurrency, priority } = settings;
  const { extraBody = {}, thinkTags = false, scheduler } = settings;
  const base = parseBase(settings);
  const url = chatUrl(base);
  const fixed = requestHeaders(settings);
  const secrets = secretsOf(settings, base);
  return {
    id,
    provider,
    model,
    limits: limitsOf(settings),
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(priority === undefined ? {} : { priority }),
    stream(request, { onUnsent }) {
      const parts$ = defer(() =>
        client.post({
          url,
          headers: { accept: request.stream ? 'text/event-stream' : 'application/json', ...fixed },
          body: chatRequestBody(request, { model, extraBody }),
          connectTimeoutMs,
          onUnsent,
        }),
      );
      return parts$.pipe(readChat({ source: id, request, thinkTags, secrets, ...(scheduler === undefined ? {} : { scheduler }) }));
    },
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

function chatUrl(base: URL): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
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

const secretName = /key|auth|token|secret|password/i;

/** Header values count whatever their names, with and without a leading word such as `Bearer`. */
function secretsOf({ apiKey = '', headers = {} }: HttpSourceSettings, base: URL): string[] {
  const inHeaders = Object.values(headers).flatMap((value) => [value, value.replace(/^\w+\s+/, '')]);
  const inQuery = [...base.searchParams].flatMap(([name, value]) => (secretName.test(name) ? [value] : []));
  return [apiKey, ...inHeaders, ...inQuery].filter((secret) => secret !== '');
}

function limitsOf({ timeoutMs, ttftTimeoutMs, interTokenTimeoutMs }: HttpSourceSettings): SourceLimits {
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(ttftTimeoutMs === undefined ? {} : { ttftTimeoutMs }),
    ...(interTokenTimeoutMs === undefined ? {} : { interTokenTimeoutMs }),
  };
}
