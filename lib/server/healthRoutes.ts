import type { FastifyInstance } from 'fastify';
import { followReadiness } from './readiness.js';
import type { ReadinessOptions } from './readiness.js';

export interface HealthOptions {
  /** The gateway for chat, without whose sources there is nothing to serve. */
  readonly chat: ReadinessOptions;
  readonly isDraining: () => boolean;
}

/** `/healthz`: the process lives. `/readyz`: it takes requests, and there is a source that may be asked. */
export function registerHealth(app: FastifyInstance, { chat, isDraining }: HealthOptions): void {
  const readiness = followReadiness(chat);
  app.addHook('onClose', (_app, done) => {
    readiness.close();
    done();
  });
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const reason = isDraining() ? 'draining' : readiness.isReady() ? undefined : 'no_runnable_source';
    return reply
      .code(reason === undefined ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(reason === undefined ? { status: 'ready' } : { status: 'not-ready', reason });
  });
}
