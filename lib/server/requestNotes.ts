import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Facts } from './factHeaders.js';
import type { FinishedRequest } from './frontDoorOptions.js';
import { pathOf } from './pathOf.js';

/** What becomes known of a request while it is answered. */
export interface RequestNotes extends Facts {
  /** The code of the error that the client was told, or for which it was cut off. */
  code?: string;
}

const noted = new WeakMap<FastifyRequest, RequestNotes>();

export function notesOf(request: FastifyRequest): RequestNotes {
  const notes = noted.get(request) ?? {};
  noted.set(request, notes);
  return notes;
}

/** Tells of each request once it has ended, however it did. To be called before anything that may end one. */
export function tellRequests(app: FastifyInstance, tell: (request: FinishedRequest) => void): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startedMs = nowMs();
    reply.raw.once('close', () => tell(finished(request, reply, nowMs() - startedMs)));
    done();
  });
}

/** Monotonic; the clock of the calls is the gateway's own. */
function nowMs(): number {
  // eslint-disable-next-line no-restricted-syntax
  return performance.now();
}

function finished(request: FastifyRequest, reply: FastifyReply, ms: number): FinishedRequest {
  const { headersSent, statusCode } = reply.raw;
  const notes = notesOf(request);
  return {
    method: request.method,
    path: pathOf(request.url),
    status: headersSent ? statusCode : null,
    ended: endingOf(reply, notes.code),
    ms,
    ...notes,
  };
}

function endingOf({ raw: response }: FastifyReply, code: string | undefined): FinishedRequest['ended'] {
  if (code !== undefined) return 'failed';
  if (!response.writableFinished) return 'client-gone';
  return response.statusCode < 400 ? 'ok' : 'failed';
}
