import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf } from '../model/errors.js';
import { refusalBody } from './refusal.js';
import type { Refusal } from './refusal.js';

const broken: Refusal = { status: 400, code: 'bad_request', message: 'this is no HTTP/1.1 request that can be read' };

const known: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'the request took too long to come' },
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', message: 'the headers are longer than 16 KiB' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: 'request_too_large', message: 'the extensions of a chunk are too long' },
};

/** Answers what is no request, as far as somebody is still there and nothing was answered, and ends its connection. */
export function answerBroken(error: Error, socket: Socket): void {
  if (socket.writable && codeOf(error) !== 'ECONNRESET' && !isAnswering(socket)) socket.write(answer(known[codeOf(error) ?? ''] ?? broken));
  socket.destroySoon();
}

/** Words that come in the middle of another answer would be taken for a part of it. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent?: boolean } | null };
  return message?.headersSent === true;
}

function answer(refusal: Refusal): string {
  const body = JSON.stringify(refusalBody(refusal));
  const head = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`, 'connection: close', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
