import type { FinishedRequest } from './frontDoorOptions.js';
import { createCounter, createHistogram } from './metricsSeries.js';
import type { MetricFamily } from './prometheusText.js';

export interface HttpMetrics {
  /** Is to be told of each request that has ended. */
  onRequest(this: void, request: FinishedRequest): void;
  families(this: void): MetricFamily[];
}

const paths: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/embeddings', '/v1/models', '/healthz', '/readyz', '/metrics']);
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'HEAD', 'OPTIONS']);

/** Counts requests to the front door. Whatever a client makes up is `other`, so that the series stay few. */
export function createHttpMetrics(): HttpMetrics {
  const requests = createCounter({ name: 'polygateway_http_requests_total', help: 'Requests to the front door; status none: the client left before there was one.' });
  const duration = createHistogram({ name: 'polygateway_http_request_duration_seconds', help: 'Time from a request to the end of its answer.', bounds: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] });
  return {
    onRequest({ method, path, status, ended, ms }) {
      const template = templateOf(path);
      requests.add({ method: methods.has(method) ? method : 'other', path: template, status: String(status ?? 'none'), ended }, 1);
      duration.add({ path: template }, ms / 1000);
    },
    families: () => [requests.family(), duration.family()],
  };
}

function templateOf(path: string): string {
  if (paths.has(path)) return path;
  return /^\/v1\/models\/./.test(path) ? '/v1/models/:id' : 'other';
}
