import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server on the loopback that reads each request whole, notes it, and has `answer` answer it. */
export interface JsonServer {
  readonly origin: string;
  readonly requests: readonly { url: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[];
  /** Connections that are open, and how many there have been. */
  readonly open: ReadonlySet<Socket>;
  connections(): number;
  close(): Promise<void>;
}

export async function startJsonServer(answer: (response: ServerResponse, request: IncomingMessage) => void): Promise<JsonServer> {
  const requests: JsonServer['requests'][number][] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => { text += String(chunk); });
    request.on('end', () => {
      requests.push({ url: request.url ?? '', headers: request.headers, body: JSON.parse(text) as Record<string, unknown> });
      answer(response, request);
    });
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open,
    connections: () => connections,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
