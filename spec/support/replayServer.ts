import { createSecureServer } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { testCertificates } from './testCertificates.js';
import type { WireCase, WireResponse } from './wireCases.js';

/** Serves wire cases on the loopback, byte by byte as they are written down. */
export interface ReplayServer {
  baseUrl(wireCase: WireCase): string;
  /** The authority that signed this server's certificates, PEM. */
  ca: string;
  close(): Promise<void>;
}

export async function startReplayServer(wireCases: readonly WireCase[]): Promise<ReplayServer> {
  const byId = new Map(wireCases.map((wireCase) => [wireCase.id, wireCase.response]));
  const certificates = testCertificates();
  const sockets = new Set<Socket>();
  const caseOf = (path: string): WireResponse | undefined => byId.get(path.split('/')[1] ?? '');

  function onSocket(socket: Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true).on('error', () => undefined).on('close', () => sockets.delete(socket));
    onRequest(socket, (path) => void serve(socket, caseOf(path)));
  }

  const h2 = createSecureServer(certificates.valid);
  h2.on('stream', (stream, headers) => void serveH2(stream, headers, caseOf(String(headers[':path']))));
  h2.on('connection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  const servers: Record<'plain' | 'tls_expired' | 'tls_untrusted' | 'h2', Server> = {
    plain: createServer(onSocket),
    tls_expired: createTlsServer(certificates.expired, onSocket),
    tls_untrusted: createTlsServer(certificates.untrusted, onSocket),
    h2,
  };
  for (const server of Object.values(servers)) {
    server.on('tlsClientError', () => undefined).on('sessionError', () => undefined);
    await listen(server);
  }
  const refusing = await listen(createServer());
  await closed(refusing);

  function originOf({ transport }: WireResponse): string {
    if (transport === undefined || transport === 'dns') return `http://127.0.0.1:${portOf(servers.plain)}`;
    if (transport === 'refused') return `http://127.0.0.1:${refusedPort}`;
    return `https://127.0.0.1:${portOf(servers[transport])}`;
  }

  const refusedPort = refusing.port;
  return {
    baseUrl: ({ id, request, response }) => request.base_url ?? `${originOf(response)}/${id}/v1`,
    ca: certificates.ca,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(Object.values(servers).map((server) => closed({ server })));
    },
  };
}

async function listen(server: Server): Promise<{ server: Server; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: portOf(server) };
}

function closed({ server }: { server: Server }): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Waits for the whole of one request; a connection serves one. */
function onRequest(socket: Socket, handle: (path: string) => void): void {
  let received = Buffer.alloc(0);
  let busy = false;
  socket.on('data', (data) => {
    if (busy) return;
    received = Buffer.concat([received, data]);
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = received.subarray(0, end).toString('latin1');
    const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    busy = true;
    handle(head.split(' ')[1] ?? '/');
  });
}

async function serve(socket: Socket, response: WireResponse | undefined): Promise<void> {
  if (response === undefined) {
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    return;
  }
  const { framing, chunks, end } = response;
  await sleep(response.header_delay_ms ?? 0);
  if (framing !== 'raw') socket.write(headOf(response));
  for (const chunk of chunks) {
    if ((chunk.delay_ms ?? 0) > 0) await sleep(chunk.delay_ms);
    if (socket.destroyed) return;
    const bytes = bytesOf(chunk);
    const parts = framing.startsWith('chunked') ? [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')] : [bytes];
    await new Promise((resolve) => socket.write(Buffer.concat(parts), resolve));
  }
  if (framing === 'chunked' && end === 'close') socket.write('0\r\n\r\n');
  if (end === 'close') socket.end();
  if (end !== 'reset') return;
  await sleep(40);
  socket.resetAndDestroy();
}

function bytesOf({ base64, repeat = 1 }: WireResponse['chunks'][number]): Buffer {
  return Buffer.concat(Array<Buffer>(repeat).fill(Buffer.from(base64, 'base64')));
}

function headOf({ status, headers, framing, chunks, end }: WireResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filled(value)] as const);
  const all = new Map(lines);
  if (framing.startsWith('chunked')) all.set('transfer-encoding', 'chunked');
  if (framing === 'length' && !all.has('content-length')) {
    all.set('content-length', String(chunks.reduce((sum, chunk) => sum + bytesOf(chunk).length, 0)));
  }
  if (end !== 'hang') all.set('connection', 'close');
  return `HTTP/1.1 ${status ?? 200} Case\r\n${[...all].map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

function filled(value: string): string {
  return value.replace(/\{\{http_date:\+(\d+)\}\}/g, (_, seconds) => new Date(Date.now() + Number(seconds) * 1000).toUTCString());
}

async function serveH2(stream: ServerHttp2Stream, _headers: IncomingHttpHeaders, response: WireResponse | undefined): Promise<void> {
  stream.on('error', () => undefined);
  if (response === undefined) {
    stream.respond({ ':status': 404 }, { endStream: true });
    return;
  }
  const { goaway, end } = response;
  const headers = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), filled(value)]);
  stream.respond({ ':status': response.status ?? 200, ...(Object.fromEntries(headers) as Record<string, string>) });
  for (const [at, chunk] of response.chunks.entries()) {
    if (stream.destroyed) return;
    stream.write(bytesOf(chunk));
    await sleep(20);
    if (goaway === undefined || at + 1 !== goaway.after_chunk) continue;
    stream.session?.goaway(goaway.code, goaway.code === 0 ? (stream.id ?? 0) : 0);
    await sleep(60);
    if (goaway.destroy) stream.session?.destroy(undefined, goaway.code);
  }
  // `close` would end the stream first; this is RST_STREAM with INTERNAL_ERROR.
  if (end === 'reset') stream.destroy(new Error('case'));
  else if (end === 'close') stream.end();
}
