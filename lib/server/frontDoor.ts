import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { authenticate } from './authenticate.js';
import { registerChat } from './chatRoute.js';
import { createDrain } from './drain.js';
import { registerEmbeddings } from './embeddingsRoute.js';
import type { ChatDoor, Delivery, EmbeddingDoor, FinishedRequest, FrontDoorOptions } from './frontDoorOptions.js';
import { registerHealth } from './healthRoutes.js';
import { maxConnections, serverLimits } from './limits.js';
import { registerMetrics } from './metrics.js';
import { registerModels } from './modelsRoute.js';
import { tellRequests } from './requestNotes.js';
import { sendError } from './sendError.js';
import { cutSlowClients } from './slowClient.js';
import { answerUnknown } from './unknownRoute.js';

export type { ChatDoor, Delivery, EmbeddingDoor, FinishedRequest, FrontDoorOptions };

export interface FrontDoor {
  /** Rejects with Node's error where the address cannot be had. Port 0 takes any free one. */
  listen(this: void, at: { host: string; port: number }): Promise<{ url: string }>;
  /**
   * For `noticeS` (default 0) only `/readyz` says that it is about to stop; then takes no new connections and requests, lets those that
   * run end within `graceS`, and cuts what is left.
   */
  drain(this: void, graceS: number, noticeS?: number): Promise<void>;
}

/**
 * Makes an OpenAI-compatible server over a gateway; it listens nowhere yet. The gateway stays the caller's to close.
 *
 *     const door = createFrontDoor({ chat: gateway, models: ['gpt-5'] });
 *     const { url } = await door.listen({ host: '127.0.0.1', port: 8787 });
 *     await door.drain(30);
 */
export function createFrontDoor({ chat, embedding, models, delivery = 'commit', keys, keepaliveS = 15, slowClientS = 60, maxBodyBytes, onRequest }: FrontDoorOptions): FrontDoor {
  const app = fastify({
    ...serverLimits(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    frameworkErrors: (error, _request, reply) => sendError(reply, error),
  });
  app.server.maxConnections = maxConnections;
  const slowClientMs = slowClientS * 1000;
  app.removeContentTypeParser('text/plain');
  app.setErrorHandler((error, _request, reply) => sendError(reply, error));
  answerUnknown(app);
  cutSlowClients(app, { slowClientMs });

  const metrics = registerMetrics(app, { chat, embedding });
  tellRequests(app, (request) => {
    metrics.onRequest(request);
    onRequest?.(request);
  });
  const { isDraining, drain } = createDrain(app);
  authenticate(app, keys === undefined ? {} : { keys });
  registerHealth(app, { chat, isDraining });
  registerChat(app, { chat, delivery, keepaliveMs: keepaliveS * 1000, slowClientMs });
  registerEmbeddings(app, { embedding });
  registerModels(app, { models });

  return {
    drain,
    async listen({ host, port }) {
      await app.listen({ host, port });
      const { port: taken } = app.server.address() as AddressInfo;
      return { url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}` };
    },
  };
}
