import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { throwError } from 'rxjs';
import { createEmbedding } from '../../lib/index.js';
import type { EmbeddingOptions, GatewayOptions } from '../../lib/index.js';
import { createFrontDoor } from '../../lib/server/frontDoor.js';
import type { FinishedRequest, FrontDoor, FrontDoorOptions } from '../../lib/server/frontDoor.js';
import { closeAfterTest, gatewayTo, until } from '../gateway/scene.js';
import type { Scene } from '../gateway/scene.js';

export { closeAfterTest, closeAll, nothingInFlight, until, upstream } from '../gateway/scene.js';

/** A gateway behind a front door that listens, and all that was told of its requests. */
export interface FrontDoorScene extends Scene {
  /** Without `/v1`. */
  readonly url: string;
  readonly door: FrontDoor;
  readonly finished: FinishedRequest[];
}

type Places = Parameters<typeof gatewayTo>[0];

export interface SceneOptions {
  readonly gateway?: Partial<GatewayOptions>;
  readonly door?: Partial<FrontDoorOptions>;
  /** Where texts are embedded. */
  readonly embedding?: string;
  /** Fails every call in place of the gateway. */
  readonly failWith?: Error;
}

/** Opens a front door to these places, named `a/1`, `b/1` … in their order; `closeAll` closes it. */
export async function frontDoorTo(places: Places, { gateway, door: options, embedding, failWith }: SceneOptions = {}): Promise<FrontDoorScene> {
  const scene = gatewayTo(places, gateway);
  const finished: FinishedRequest[] = [];
  const door = createFrontDoor({
    chat: failWith === undefined ? scene.gateway : { ...scene.gateway, chat$: () => throwError(() => failWith) },
    ...(embedding === undefined ? {} : { embedding: embeddingAt(embedding) }),
    models: ['m'],
    onRequest: (request) => void finished.push(request),
    ...options,
  });
  closeAfterTest(() => door.drain(0));
  const { url } = await door.listen({ host: '127.0.0.1', port: 0 });
  return { ...scene, url, door, finished };
}

function embeddingAt(baseUrl: string): ReturnType<typeof createEmbedding> {
  const settings: EmbeddingOptions['settings'] = { scope: 'EMBEDDING', sources: [{ provider: 'e', model: 'vectors', baseUrl }] };
  const embedding = createEmbedding({ settings, random: () => 1, backoffS: 0.02, maxAttempts: 1 });
  closeAfterTest(embedding.close);
  return embedding;
}

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly trailers: NodeJS.Dict<string>;
}

export interface AskOptions {
  readonly method?: string;
  readonly path?: string;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is under way, and its answer as far as it has come. */
export interface Asking {
  /** Rejects where the connection breaks before the answer has ended. */
  readonly answer: Promise<Answer>;
  readonly hasHead: () => boolean;
  readonly text: () => string;
  readonly request: ClientRequest;
  /** Reads no further until `resume`. */
  pause(): void;
  resume(): void;
}

/** Sends a request on a connection of its own; default: `POST /v1/chat/completions`. */
export function begin(url: string, { method = 'POST', path = '/v1/chat/completions', body, headers = {} }: AskOptions = {}): Asking {
  let text = '';
  let response: IncomingMessage | undefined;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = httpRequest(`${url}${path}`, { method, headers: { ...type, ...headers }, agent: false });
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (came) => {
      response = came;
      came.setEncoding('utf8');
      came.on('data', (piece: string) => { text += piece; });
      came.on('error', reject);
      came.on('end', () => resolve({ status: came.statusCode ?? 0, headers: came.headers, text, trailers: came.trailers }));
    });
  });
  answer.catch(() => undefined);
  closeAfterTest(() => request.destroy());
  request.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  return { answer, hasHead: () => response !== undefined, text: () => text, request, pause: () => response?.pause(), resume: () => response?.resume() };
}

export function ask(url: string, options?: AskOptions): Promise<Answer> {
  return begin(url, options).answer;
}

/** The body of a chat request. */
export function chat(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { model: 'whatever', messages: [{ role: 'user', content: 'Hello' }], ...fields };
}

/** What an event stream says, event by event; comments as they are. */
export function eventsOf(text: string): unknown[] {
  const events = text.split('\n\n').filter((event) => event !== '');
  return events.map((event) => (event.startsWith('data: {') ? (JSON.parse(event.slice(6)) as unknown) : event));
}

/** Nothing of any call is left: no attempt, no waiter, no connection. */
export async function atRest({ gateway }: Scene, withinMs?: number): Promise<void> {
  await until(() => gateway.stats().calls === 0 && gateway.stats().attempts === 0 && gateway.stats().waiters === 0, 'the gateway is at rest', withinMs);
}
