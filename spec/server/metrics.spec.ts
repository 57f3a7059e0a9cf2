import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { createGateway } from '../../lib/assemble/createGateway.js';
import type { Gateway, GatewayOptions } from '../../lib/assemble/createGateway.js';
import { startUpstream } from '../../lib/lab/upstream/upstream.js';
import { createMetrics, registerMetrics } from '../../lib/server/metrics.js';
import { prometheusText } from '../../lib/server/prometheusText.js';
import { parsePrometheus } from './parsePrometheus.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function gatewayOver(scripts: Readonly<Record<string, string[]>>, more: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const upstreams = await Promise.all(Object.values(scripts).map((own) => startUpstream({ scripts: own })));
  cleanUps.push(() => Promise.all(upstreams.map(({ close }) => close())));
  const sources = Object.keys(scripts).map((provider, place) => ({ provider, baseUrl: upstreams[place]!.url, model: 'sim' }));
  const gateway = createGateway({ settings: { scope: 'LLM', sources }, ...more });
  cleanUps.push(gateway.close);
  return gateway;
}

const ask = (gateway: Gateway): Promise<unknown> => gateway.chat({ messages: [{ role: 'user', content: 'x' }] }).catch(() => undefined);

describe('metrics', () => {
  test('tell what calls did: attempts, retries, hedges, silence, tokens, times', async () => {
    const gateway = await gatewayOver(
      { a: ['500@0', 'd@0.02"a" hang', '500@0'], b: ['d@0.01"b" d@0.25"c" f@0.26 u(10,8)', 'd@0.05"d" f@0.1 u(5,4)', '400@0'] },
      { stallThresholdMs: 150, hedgeStallAfterS: 0.6, backoffS: 0.01 },
    );
    const { text, close } = createMetrics({ chat: gateway });
    cleanUps.push(close);
    // The first tries again at b, which is silent for a while; the second gets a backup; the third is refused as it is.
    for (let calls = 0; calls < 3; calls += 1) await ask(gateway);

    const { valueOf } = parsePrometheus(text());
    const b = { operation: 'chat', source: 'b/1' };
    expect(valueOf('polygateway_calls_total', { operation: 'chat', outcome: 'ok', code: '' })).toBe(2);
    expect(valueOf('polygateway_calls_total', { operation: 'chat', outcome: 'failed', code: 'request' })).toBe(1);
    expect(valueOf('polygateway_attempts_total', { ...b, outcome: 'ok', error_class: '' })).toBe(2);
    expect(valueOf('polygateway_attempts_total', { ...b, outcome: 'error', error_class: 'request' })).toBe(1);
    expect(valueOf('polygateway_attempts_total', { operation: 'chat', source: 'a/1', outcome: 'error', error_class: 'transient' })).toBe(2);
    expect(valueOf('polygateway_attempts_total', { operation: 'chat', source: 'a/1', outcome: 'error', error_class: 'hedge_cancelled' })).toBe(1);
    expect(valueOf('polygateway_retries_total', { operation: 'chat', failure_class: 'transient' })).toBe(2);
    expect(valueOf('polygateway_hedges_total', { operation: 'chat', trigger: 'stall', won: 'true' })).toBe(1);
    expect(valueOf('polygateway_hedges_refused_total', { operation: 'chat', gate: 'none-left' })).toBeUndefined();
    expect(valueOf('polygateway_tokens_total', { ...b, direction: 'input' })).toBe(15);
    expect(valueOf('polygateway_tokens_total', { ...b, direction: 'output' })).toBe(12);
    const silenceS = valueOf('polygateway_silence_seconds_total', b)!;
    expect(silenceS).toBeGreaterThan(0.15);
    expect(silenceS).toBeLessThan(1);
    expect(valueOf('polygateway_ttft_seconds_count', b)).toBe(2);
    expect(valueOf('polygateway_ttft_seconds_bucket', { ...b, le: '+Inf' })).toBe(2);
    expect(valueOf('polygateway_attempt_duration_seconds_count', { ...b, outcome: 'ok' })).toBe(2);
    expect(valueOf('polygateway_attempt_duration_seconds_sum', { ...b, outcome: 'ok' })).toBeGreaterThan(0.3);
  });

  test('tell what is going on, and nothing of it when it is over', async () => {
    const gateway = await gatewayOver({ a: ['d@0"a" hang'] }, { breakerFailures: 1 });
    const { text, close } = createMetrics({ chat: gateway, embedding: gateway });
    cleanUps.push(close);
    const controller = new AbortController();
    const call = gateway.chat({ messages: [{ role: 'user', content: 'x' }] }, { signal: controller.signal }).catch(() => undefined);
    while (gateway.stats().attempts === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const busy = parsePrometheus(text()).valueOf;
    expect(['polygateway_calls_in_flight', 'polygateway_attempts_in_flight', 'polygateway_calls_waiting'].map((name) => busy(name, { operation: 'chat' }))).toEqual([1, 1, 0]);
    expect(busy('polygateway_permits_in_use', { operation: 'embeddings', source: 'a/1' })).toBe(1);
    expect(busy('polygateway_breaker_state', { operation: 'chat', source: 'a/1' })).toBe(0);
    controller.abort();
    await call;
    const { valueOf } = parsePrometheus(text());
    expect(valueOf('polygateway_calls_in_flight', { operation: 'chat' })).toBe(0);
    expect(valueOf('polygateway_calls_total', { operation: 'chat', outcome: 'cancelled', code: '' })).toBe(1);
    for (const name of ['polygateway_process_resident_memory_bytes', 'polygateway_process_cpu_seconds_total', 'polygateway_process_start_time_seconds']) expect(valueOf(name, {})).toBeGreaterThan(0);
    expect(valueOf('polygateway_event_loop_delay_seconds', { quantile: '0.99' })).toBeGreaterThanOrEqual(0);
  });

  test('a breaker that is open, a source that is parked', async () => {
    const gateway = await gatewayOver({ a: ['500@0'], b: ['429@0(ra=30)'] }, { breakerFailures: 1, maxAttempts: 1, backpressure: 'fail_fast' });
    const { text, close } = createMetrics({ chat: gateway });
    cleanUps.push(close);
    await ask(gateway);
    await ask(gateway);
    const { valueOf } = parsePrometheus(text());
    expect(valueOf('polygateway_breaker_state', { operation: 'chat', source: 'a/1' })).toBe(2);
    expect(valueOf('polygateway_source_parked_seconds', { operation: 'chat', source: 'b/1' })).toBeGreaterThan(20);
  });

  test('the series stay few whatever clients make up', async () => {
    const gateway = await gatewayOver({ a: ['500@0'] });
    const { text, onRequest, close } = createMetrics({ chat: gateway });
    cleanUps.push(close);
    for (let n = 0; n < 100; n += 1) {
      for (const path of [`/made-up/${n}`, `/v1/models/m${n}`, '/v1/chat/completions']) onRequest({ method: `M${n}`, path, status: 404, ended: 'failed', ms: n });
    }
    onRequest({ method: 'POST', path: '/v1/chat/completions', status: null, ended: 'client-gone', ms: 20 });
    const { samples, valueOf } = parsePrometheus(text());
    expect(samples.filter(({ name }) => name === 'polygateway_http_requests_total')).toHaveLength(4);
    expect(valueOf('polygateway_http_requests_total', { method: 'other', path: '/v1/models/:id', status: '404', ended: 'failed' })).toBe(100);
    expect(valueOf('polygateway_http_requests_total', { method: 'POST', path: '/v1/chat/completions', status: 'none', ended: 'client-gone' })).toBe(1);
    expect(valueOf('polygateway_http_request_duration_seconds_bucket', { path: 'other', le: '0.01' })).toBe(11);
    expect(valueOf('polygateway_http_request_duration_seconds_bucket', { path: 'other', le: '+Inf' })).toBe(100);
  });

  test('/metrics is served as Prometheus reads it', async () => {
    const gateway = await gatewayOver({ a: ['500@0'] });
    const app = Fastify();
    cleanUps.push(() => app.close());
    const { onRequest } = registerMetrics(app, { chat: gateway });
    onRequest({ method: 'GET', path: '/healthz', status: 200, ended: 'ok', ms: 1 });
    const response = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(parsePrometheus(await response.text()).samples.length).toBeGreaterThan(10);
  });

  test('the text escapes what would break a line, and writes what is no finite number', () => {
    const samples = [{ labels: { a: 'quote " back\\slash\nline' }, value: NaN }, { labels: { a: '' }, value: Infinity }, { labels: {}, value: 1e21 }];
    const text = prometheusText([{ name: 'x', help: 'one\ntwo \\', type: 'gauge', samples }, { name: 'without', help: '', type: 'counter', samples: [] }]);
    expect(text).toBe('# HELP x one\\ntwo \\\\\n# TYPE x gauge\nx{a="quote \\" back\\\\slash\\nline"} NaN\nx{a=""} +Inf\nx 1e+21\n');
    expect(parsePrometheus(text).samples.map(({ labels }) => labels['a'])).toEqual(['quote " back\\slash\nline', '', undefined]);
  });
});
