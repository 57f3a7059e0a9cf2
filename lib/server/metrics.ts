import { map, merge } from 'rxjs';
import type { FastifyInstance } from 'fastify';
import type { Scope } from '../gateway/calls.js';
import { createCallMetrics } from './metricsOfCalls.js';
import { createHttpMetrics } from './metricsOfHttp.js';
import type { HttpMetrics } from './metricsOfHttp.js';
import { createProcessMetrics } from './metricsOfProcess.js';
import { stateFamilies } from './metricsOfState.js';
import { prometheusContentType, prometheusText } from './prometheusText.js';

type Watched = Pick<Scope, 'stats' | 'events$'>;

export interface MetricsOptions {
  readonly chat: Watched;
  readonly embedding?: Watched | undefined;
}

export interface Metrics {
  readonly onRequest: HttpMetrics['onRequest'];
  text(this: void): string;
  close(this: void): void;
}

/** Watches gateways and this process, from now until it is closed. */
export function createMetrics({ chat, embedding }: MetricsOptions): Metrics {
  const doors = new Map([['chat', chat], ...(embedding === undefined ? [] : [['embeddings', embedding] as const])]);
  const [http, calls, ofProcess] = [createHttpMetrics(), createCallMetrics(), createProcessMetrics()];
  const events$ = merge(...[...doors].map(([operation, { events$: own$ }]) => own$.pipe(map((event) => ({ operation, event })))));
  const subscription = events$.subscribe({ next: ({ operation, event }) => calls.observe(operation, event), error: () => undefined });
  return {
    onRequest: http.onRequest,
    text() {
      const stats = new Map([...doors].map(([operation, door]) => [operation, door.stats()]));
      return prometheusText([...http.families(), ...calls.families(), ...stateFamilies(stats), ...ofProcess.families()]);
    },
    close() {
      subscription.unsubscribe();
      ofProcess.close();
    },
  };
}

/** `/metrics`, in the text format of Prometheus. Where client keys are set it needs one, since it tells names of sources and how busy they are. */
export function registerMetrics(app: FastifyInstance, options: MetricsOptions): Pick<Metrics, 'onRequest'> {
  const { onRequest, text, close } = createMetrics(options);
  app.addHook('onClose', (_app, done) => {
    close();
    done();
  });
  app.get('/metrics', (_request, reply) => reply.type(prometheusContentType).header('cache-control', 'no-store').send(text()));
  return { onRequest };
}
