import type { IncomingMessage } from 'node:http';

/** Reads a request to its end; `undefined` if it is not a JSON object. Never calls back if the client leaves before. */
export function readJsonBody(request: IncomingMessage, done: (body: Record<string, unknown> | undefined) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => done(jsonObject(Buffer.concat(chunks).toString('utf8'))));
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
