import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { answerRequest } from './answerRequest.js';
import { errorBody } from './chatFrames.js';
import { readJsonBody } from './readJsonBody.js';
import { scriptOrder } from './scriptOrder.js';
import type { ScriptOrder, Scripts } from './scriptOrder.js';
import { withHiddenSecrets } from './seenRequest.js';
import type { SeenRequest } from './seenRequest.js';
import { sendJson } from './sendJson.js';

export interface UpstreamOptions {
  /** What it answers, request by request; see `parseTimeline`. */
  scripts: Scripts;
  /** After the last script of a list: the last again (default), from the start, or any at random every time. */
  order?: ScriptOrder;
  /** 0 (default) takes any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** The model's name in answers and in the list of models; default `sim`. */
  model?: string;
  random?: () => number;
  onRequest?: (request: SeenRequest) => void;
  /** Called once the connection or the answer of a request has ended. */
  onEnd?: (request: SeenRequest) => void;
}

export interface Upstream {
  /** The base URL, `/v1` included. */
  readonly url: string;
  readonly port: number;
  /** The chat requests so far, in the order of their arrival. */
  readonly requests: readonly SeenRequest[];
  /** Cuts every connection and frees the port. */
  readonly close: () => Promise<void>;
}

type Live<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Starts an OpenAI-compatible server on localhost that plays scripts: `POST …/chat/completions` plays the next one,
 * `GET …/models` lists the model, anything else is a 404. A request with `stream: false` gets the answer whole when the script
 * would finish. Rejects with `TimelineError` if a script cannot be played, and with Node's error if the port is taken.
 */
export async function startUpstream({
  scripts,
  order = 'last-repeats',
  port = 0,
  host = '127.0.0.1',
  model = 'sim',
  random = Math.random,
  onRequest,
  onEnd,
}: UpstreamOptions): Promise<Upstream> {
  const scriptOf = scriptOrder({ scripts, order, random });
  const requests: SeenRequest[] = [];
  const open = new Set<ServerResponse>();
  let closed: Promise<void> | undefined;

  function chat({ request, response, arrivedMs, body }: ChatExchange): void {
    const { text, timeline } = scriptOf(requests.length);
    const headers = withHiddenSecrets(request.headers);
    const seen: Live<SeenRequest> = { body, headers, script: text, startedMs: arrivedMs, closedByClientMs: null, finished: false };
    requests.push(seen);
    open.add(response);
    onRequest?.(seen);
    const stop = answerRequest({
      response,
      timeline,
      streamed: body['stream'] === true,
      arrivedMs,
      identity: { id: `chatcmpl-sim${requests.length}`, createdS: Math.floor(Date.now() / 1000), model },
      onFinished: () => (seen.finished = true),
    });
    response.once('close', () => {
      stop();
      open.delete(response);
      if (!seen.finished && closed === undefined) seen.closedByClientMs = performance.now();
      onEnd?.(seen);
    });
  }

  const server = createServer({ noDelay: true }, (request, response) => {
    const arrivedMs = performance.now();
    const path = request.url?.split('?')[0] ?? '/';
    if (request.method === 'POST' && path.endsWith('/chat/completions')) {
      readJsonBody(request, (body) => {
        if (body === undefined) sendProblem(response, 400, 'the body is not a JSON object');
        else chat({ request, response, arrivedMs, body });
      });
    } else if (request.method === 'GET' && path.endsWith('/models')) sendJson(response, 200, modelList(model));
    else sendProblem(response, 404, `there is no ${request.method ?? ''} ${path} here`);
  });
  await listen(server, port, host);
  const address = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/v1`,
    port: address.port,
    requests,
    close: () => (closed ??= closeServer(server, open)),
  };
}

interface ChatExchange {
  request: IncomingMessage;
  response: ServerResponse;
  arrivedMs: number;
  body: Record<string, unknown>;
}

function sendProblem(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, errorBody({ message, status }));
}

function modelList(model: string): object {
  return { object: 'list', data: [{ id: model, object: 'model', created: 0, owned_by: 'polygateway' }] };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function closeServer(server: Server, open: Iterable<ServerResponse>): Promise<void> {
  // Responses tell of their end a moment after the server has told of its own.
  const ends = Array.from(open, (response) => once(response, 'close'));
  server.close();
  server.closeAllConnections();
  await Promise.all([once(server, 'close'), ...ends]);
}
