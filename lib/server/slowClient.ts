import type { FastifyInstance, FastifyReply } from 'fastify';
import { notesOf } from './requestNotes.js';

/** Ends the connection of a client that does not read what it asked for. */
export function cutOff({ raw: response, request }: FastifyReply): void {
  notesOf(request).code = 'slow_reader';
  response.destroy();
}

/** Nobody may leave an answer unread for longer than this; whatever of it is read counts. Streams see to themselves. */
export function cutSlowClients(app: FastifyInstance, { slowClientMs }: { readonly slowClientMs: number }): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.raw.setTimeout(slowClientMs, () => cutOff(reply));
    done();
  });
}
