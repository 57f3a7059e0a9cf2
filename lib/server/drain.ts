import { Server as NetServer } from 'node:net';
import { firstValueFrom, fromEvent, race, timer } from 'rxjs';
import type { FastifyInstance } from 'fastify';
import { openPaths } from './authenticate.js';
import { followConnections } from './followConnections.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

export interface Drain {
  isDraining(this: void): boolean;
  /** Takes no new connections and requests, lets the answers under way end within this time, then cuts what is left. Once. */
  drain(this: void, graceS: number): Promise<void>;
}

const refusal: Refusal = {
  status: 503,
  type: 'server_error',
  code: 'draining',
  message: 'this server is about to stop: ask another, or ask again in a moment',
  headers: { 'retry-after': '1' },
};

/** Lets a server end in order. */
export function createDrain(app: FastifyInstance): Drain {
  const connections = followConnections(app.server);
  let ending: Promise<void> | undefined;

  app.addHook('onRequest', ({ url }, reply, done) => {
    if (ending !== undefined) void reply.header('connection', 'close');
    if (ending === undefined || openPaths.has(url)) done();
    else refuse(reply, refusal);
  });

  async function end(graceS: number): Promise<void> {
    const closed$ = fromEvent(app.server, 'close');
    const over = firstValueFrom(race(closed$, timer(graceS * 1000)), { defaultValue: undefined });
    // The close of an HTTP server would cut answers that have ended but not all been sent.
    NetServer.prototype.close.call(app.server);
    connections.endWhenAnswered();
    await over;
    connections.cut();
    await app.close();
  }

  return { isDraining: () => ending !== undefined, drain: (graceS) => (ending ??= end(graceS)) };
}
