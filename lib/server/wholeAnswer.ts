import { takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FastifyReply } from 'fastify';
import { factHeaders } from './factHeaders.js';
import type { Facts } from './factHeaders.js';
import { notesOf } from './requestNotes.js';
import { sendError } from './sendError.js';
import { whenGone } from './whenGone.js';

export interface WholeAnswer<R> {
  readonly response$: Observable<R>;
  readonly factsOf: (response: R) => Facts;
  readonly bodyOf: (response: R) => object;
}

/** Answers in one piece; a client that leaves ends the call in the same turn. */
export function sendWhole<R>(reply: FastifyReply, { response$, factsOf, bodyOf }: WholeAnswer<R>): void {
  response$.pipe(takeUntil(whenGone(reply.raw))).subscribe({
    next: (response) => {
      const notes = Object.assign(notesOf(reply.request), factsOf(response));
      reply.headers(factHeaders(notes)).send(bodyOf(response));
    },
    error: (error: unknown) => sendError(reply, error),
  });
}
