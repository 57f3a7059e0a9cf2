import type { FastifyReply } from 'fastify';
import { notesOf } from './requestNotes.js';

/** An answer to a request that goes no further, in OpenAI's shape. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body of the answer. */
export function refusalBody({ message, type = 'invalid_request_error', code }: Omit<Refusal, 'status' | 'headers'>): object {
  return { error: { message, type, param: null, code } };
}

export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, code, headers = {} } = refusal;
  Object.assign(notesOf(reply.request), { code });
  return reply.code(status).headers(headers).send(refusalBody(refusal));
}
