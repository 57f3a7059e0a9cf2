import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that tells all it was sent in the way that the prompt names; it serves as a proxy too. */
export interface EchoProvider {
  readonly origin: string;
  /** All that was told so far. */
  readonly told: () => string;
  /** How often each way was asked for. */
  readonly asked: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

type Way = (response: ServerResponse, echo: string) => unknown;

const firstWord = 'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n';

function report(message: string): object {
  return { error: { message, type: 'error', code: message.split(' ')[2] ?? '', param: message, request_id: message }, request_id: message };
}

function refusing(status: number): Way {
  return (response, echo) => response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0', 'x-request-id': idIn(echo), server: idIn(echo), 'www-authenticate': idIn(echo) }).end(JSON.stringify(report(`refused: ${echo}`)));
}

/** As long as a header may be: longer than what is kept of it. */
function idIn(echo: string): string {
  return echo.slice(0, 4000).replaceAll(/\S*$/g, '');
}

function streaming(end: (response: ServerResponse, echo: string) => unknown): Way {
  return (response, echo) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': idIn(echo) }).write(firstWord);
    setTimeout(() => void end(response, echo), 5);
  };
}

const errorFrame = streaming((response, echo) => response.end(`data: ${JSON.stringify(report(echo))}\n\n`));
const wordsFirst: Way = streaming((response, echo) => response.end(`event: error\ndata: ${echo}\n\n`));

export const ways: Readonly<Record<string, Way>> = {
  400: refusing(400),
  401: refusing(401),
  404: refusing(404),
  429: refusing(429),
  500: refusing(500),
  'a text': (response, echo) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`what came: ${echo}`),
  'a long text': (response, echo) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${echo} `.repeat(200)),
  'a page': (response, echo) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<html><title>${echo}</title></html>`),
  'an error with 200': (response, echo) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(report(echo))),
  'an error frame': errorFrame,
  'an error event': wordsFirst,
  'a broken frame': streaming((response, echo) => response.end(`data: {"echo": ${echo}\n\n`)),
  'no HTTP': (response, echo) => response.socket?.end(`HTTP/9.9 ${echo}\r\n\r\n`),
  'an answer': streaming((response) => response.end('data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')),
};

/** Begins with the bare keys, so that no name before one of them gives it away, and is cut in places that nobody chose. */
function echoOf({ url = '', headers, rawHeaders }: IncomingMessage): string {
  const values = ['authorization', 'x-team', 'proxy-authorization'].map((name) => String(headers[name] ?? '').replace(/^\w+ /, ''));
  const query = new URL(url, 'http://x').searchParams.get('sig') ?? '';
  const forms = [...values, query].flatMap((value) => [value, encodeURIComponent(value), Buffer.from(`user:${value}`).toString('base64'), Buffer.from(value).toString('base64url')]);
  return [query, ...forms, url, ...rawHeaders].join(' ');
}

export async function startEchoProvider(): Promise<EchoProvider> {
  let told = '';
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += String(chunk); });
    request.on('end', () => {
      const echo = echoOf(request);
      told += `${echo}\n`;
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const way = messages[0]!.content;
      asked.set(way, (asked.get(way) ?? 0) + 1);
      (ways[way] ?? ways['an answer'])!(response, echo);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told: () => told,
    asked,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}
