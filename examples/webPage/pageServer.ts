import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable, pipeline } from 'node:stream';
import { map } from 'rxjs';
import { toAsyncIterable } from 'polygateway';
import type { Gateway } from 'polygateway';
import { pageEvents } from './pageEvents.js';
import type { PageEvent, PageEventsOptions } from './pageEvents.js';

export interface PageServerOptions extends PageEventsOptions {
  readonly gateway: Pick<Gateway, 'stream$'>;
}

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['page.html', 'text/html; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
};

/**
 * A page with a question, and `GET /answer?question=…`, which answers with server-sent events.
 *
 *     const gateway = createGateway({ settings: settingsFromEnv('LLM') });
 *     createPageServer({ gateway }).listen(3000, '127.0.0.1');
 */
export function createPageServer(options: PageServerOptions): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const question = searchParams.get('question') ?? '';
    const file = files[pathname];
    if (pathname === '/answer' && question !== '' && !isFromElsewhere(request)) sendAnswer(response, question, options);
    else if (file !== undefined) void sendFile(response, ...file);
    else response.writeHead(pathname !== '/answer' ? 404 : question === '' ? 400 : 403).end();
  });
}

/** The page's own reading speed reaches the source, and so does its leaving, which destroys the response. */
function sendAnswer(response: ServerResponse, question: string, { gateway, ...options }: PageServerOptions): void {
  const messages = [{ role: 'user', content: question }];
  const texts = toAsyncIterable((held$) => gateway.stream$({ messages }, { held$ }).pipe(pageEvents(options), map(serverSentEvent)));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
  response.flushHeaders();
  // All there is to say of a failure went out as an event; what is left is a page that has gone.
  pipeline(Readable.from(texts), response, () => undefined);
}

function serverSentEvent({ type, ...data }: PageEvent): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Otherwise any page in the same browser could ask, and spend. */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  return !['same-origin', 'none', undefined].includes(headers['sec-fetch-site']);
}

async function sendFile(response: ServerResponse, name: string, type: string): Promise<void> {
  const text = await readFile(new URL(name, import.meta.url), 'utf8');
  response.writeHead(200, { 'content-type': type, 'content-security-policy': "default-src 'self'; img-src data:; style-src 'unsafe-inline'" }).end(text);
}
