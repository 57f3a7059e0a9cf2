import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers with JSON and ends. */
export function sendJson(response: ServerResponse, status: number, body: object, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
