import { Server as NetServer } from 'node:net';
import { firstValueFrom, fromEvent, race, timer } from 'rxjs';
import type { FastifyInstance } from 'fastify';
import { isOpen } from './authenticate.js';
import { followConnections } from './followConnections.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

export interface Drain {
  isDraining(this: void): boolean;
  /**
   * For `noticeS` (default 0) only `/readyz` says that it is about to stop, so that whoever sends requests here can be told; then
   * takes no new connections and requests, lets the answers under way end within `graceS`, and cuts what is left. Once.
   */
  drain(this: void, graceS: number, noticeS?: number): Promise<void>;
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
  let isRefusing = false;

  app.addHook('onRequest', ({ url }, reply, done) => {
    if (ending !== undefined) void reply.header('connection', 'close');
    if (!isRefusing || isOpen(url)) done();
    else refuse(reply, refusal);
  });

  async function end(graceS: number, noticeS: number): Promise<void> {
    if (noticeS > 0) await firstValueFrom(timer(noticeS * 1000));
    isRefusing = true;
    const closed$ = fromEvent(app.server, 'close');
    const over = firstValueFrom(race(closed$, timer(graceS * 1000)), { defaultValue: undefined });
    // The close of an HTTP server would cut answers that have ended but not all been sent.
    NetServer.prototype.close.call(app.server);
    connections.endWhenAnswered();
    await over;
    connections.cut();
    await app.close();
  }

  return { isDraining: () => ending !== undefined, drain: (graceS, noticeS = 0) => (ending ??= end(graceS, noticeS)) };
}
