import type { FastifyReply, FastifyRequest } from 'fastify';
import { isGatewayError } from '../model/errors.js';
import { factHeaders, factsOfError } from './factHeaders.js';
import { httpError } from './httpError.js';
import { refusalBody, refuse } from './refusal.js';
import type { Refusal } from './refusal.js';
import { notesOf } from './requestNotes.js';

/** Answers with what went wrong, in OpenAI's shape. */
export function sendError(reply: FastifyReply, error: unknown): void {
  const refusal = noted(reply.request, error);
  refuse(reply, { ...refusal, headers: { ...refusal.headers, ...factHeaders(notesOf(reply.request)) } });
}

/** The same as an event, for an answer that has begun. */
export function errorEvent(request: FastifyRequest, error: unknown): string {
  return `data: ${JSON.stringify(refusalBody(noted(request, error)))}\n\n`;
}

function noted(request: FastifyRequest, error: unknown): Refusal {
  const refusal = httpError(error);
  Object.assign(notesOf(request), isGatewayError(error) ? factsOfError(error) : {}, { code: refusal.code });
  return refusal;
}
