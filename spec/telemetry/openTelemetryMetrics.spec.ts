import { afterEach, describe, expect, test } from '@jest/globals';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { filter, takeUntil } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { createGateway } from '../../lib/index.js';
import type { ChatDelta, Gateway } from '../../lib/index.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { asks, closeAfterTest, closeAll, gatewayTo, upstream } from '../gateway/scene.js';
import { startJsonServer } from '../support/jsonServer.js';
import { startSdk } from './openTelemetryScene.js';
import type { Sdk } from './openTelemetryScene.js';

let sdk: Sdk;

afterEach(async () => {
  await closeAll();
  await sdk.stop();
});

const says = (atMs: number, delta: ChatDelta = { type: 'content', text: 'x' }): ScriptStep => ({ atMs, type: 'delta', delta });
const usage = { promptTokens: 7, completionTokens: 5, totalTokens: 12, reasoningTokens: null, cachedTokens: null };
const ends = (atMs: number): ScriptStep[] => [says(atMs, { type: 'usage', usage }), says(atMs, { type: 'finish', reason: 'stop' }), { atMs, type: 'end' }];

/** Calls one after the other in virtual time; source by source the scripts of its requests. */
function play(scripts: Record<string, ScriptStep[][]>, { calls = 1, ...options }: { calls?: number; hedgeStallAfterS?: number; hedgeMaxRatio?: number }): void {
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(() => {
    const sources = Object.entries(scripts).map(([id, list]) => scriptedSource({ id, scripts: list, scheduler }));
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources, scheduler, random: () => 1, ...options });
    const next = (left: number): void => {
      if (left > 0) gateway.chat$(asks('hello')).subscribe({ complete: () => next(left - 1), error: () => next(left - 1) });
    };
    next(calls);
  });
}

type Points = DataPoint<number | Histogram>[] | undefined;

/** A counter's values by these attributes. */
function counts(points: Points, ...names: string[]): Record<string, number> {
  return Object.fromEntries((points ?? []).map(({ attributes, value }) => [names.map((name) => attributes[name]).join(' '), value as number]));
}

/** How many values a histogram got and their sum, over all attributes. */
function total(points: Points): [number, number] {
  const values = (points ?? []).map(({ value }) => value as Histogram);
  return [values.reduce((sum, { count }) => sum + count, 0), Number(values.reduce((sum, value) => sum + (value.sum ?? 0), 0).toFixed(6))];
}

describe('metrics, in virtual time', () => {
  test('of an answered stream: every gap exactly, the stall, the tokens, the times', async () => {
    sdk = startSdk();
    play({ 'a/1': [[says(1000), says(1500), says(5000), says(5100), ...ends(5200)]] }, {});
    const points = await sdk.points();
    expect(total(points['gen_ai.client.operation.duration'])).toEqual([1, 5.2]);
    expect(total(points['gen_ai.client.operation.time_to_first_chunk'])).toEqual([1, 1]);
    expect(total(points['gen_ai.client.operation.time_per_output_chunk'])).toEqual([3, 4.1]);
    expect(total(points['polygateway.stall.duration'])).toEqual([1, 3.5]);
    expect(total(points['polygateway.call.wait'])).toEqual([1, 0]);
    expect(total(points['polygateway.call.duration'])[0]).toBe(1);
    const tokens = points['gen_ai.client.token.usage']!.map(({ attributes, value }) => [attributes['gen_ai.token.type'], (value as Histogram).sum]);
    expect(tokens).toEqual([['input', 7], ['output', 5]]);
    expect(counts(points['polygateway.streams.open'], 'polygateway.source')).toEqual({ 'a/1': 0 });
    expect(points['gen_ai.client.operation.duration']![0]!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'a',
      'gen_ai.request.model': 'scripted',
      'polygateway.scope': 'LLM',
      'polygateway.source': 'a/1',
      'polygateway.outcome': 'ok',
    });
  });

  test('a call that is left within its own start, or within that of its attempt, leaves nothing open', async () => {
    sdk = startSdk();
    for (const type of ['call-started', 'attempt-started'] as const) {
      const scheduler = new TestScheduler(() => undefined);
      scheduler.run(() => {
        const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [scriptedSource({ id: 'a/1', scripts: [[says(100)]], scheduler })], scheduler });
        gateway.chat$(asks('hello')).pipe(takeUntil(gateway.events$.pipe(filter((event) => event.type === type)))).subscribe();
        scheduler.schedule(() => { expect(gateway.stats()).toMatchObject({ calls: 0, attempts: 0, streams: [] }); }, 10);
      });
    }
    expect([sdk.open(), sdk.spans().map(({ name, attributes }) => [name, attributes['polygateway.cancelled']])]).toEqual([0, [['chat', true], ['chat scripted', true], ['chat', true]]]);
    expect(counts((await sdk.points())['polygateway.streams.open'], 'polygateway.source')).toEqual({ 'a/1': 0 });
  });

  test('of hedges: won, lost, failed and refused, attempts by class, what is open', async () => {
    sdk = startSdk();
    const hangs = [says(100)];
    const late = [says(100), says(5000), ...ends(5000)];
    const quick = [says(100), ...ends(200)];
    const fails: ScriptStep[] = [says(100), { atMs: 200, type: 'error', error: new Error('broken') }];
    const slow = [says(100), says(900), says(1700), ...ends(9000)];
    play({ 'a/1': [hangs, late, late, hangs], 'b/1': [quick, slow, fails, quick] }, { hedgeStallAfterS: 2, calls: 3 });
    const points = await sdk.points();
    expect(counts(points['polygateway.hedges'], 'polygateway.hedge.outcome', 'polygateway.hedge.trigger')).toEqual({ 'won stall': 1, 'lost stall': 1, 'failed stall': 1 });
    expect(counts(points['polygateway.attempts'], 'polygateway.source', 'polygateway.outcome')).toEqual({ 'a/1 hedge_cancelled': 1, 'b/1 ok': 1, 'a/1 ok': 2, 'b/1 hedge_cancelled': 1, 'b/1 transient': 1 });
    expect(counts(points['polygateway.streams.open'], 'polygateway.source')).toEqual({ 'a/1': 0, 'b/1': 0 });
    expect(points['gen_ai.client.operation.duration']!.map(({ attributes }) => [attributes['polygateway.outcome'], attributes['error.type']]).filter(([, type]) => type !== undefined)).toEqual([['transient', 'transient']]);
  });

  test('of refused hedges, by what refused them, and of what a call waited', async () => {
    sdk = startSdk();
    play({ 'a/1': [[says(100), says(5000), ...ends(5000)], [{ atMs: 0, type: 'error', error: new Error('broken') }], [says(100), ...ends(200)]] }, { hedgeStallAfterS: 2, calls: 2 });
    const points = await sdk.points();
    expect(counts(points['polygateway.hedges.refused'], 'polygateway.gate')).toEqual({ 'none-left': 1 });
    expect(total(points['polygateway.call.wait'])).toEqual([2, 0.5]);
  });
});

test('OTLP over HTTP: a collector gets spans and metrics with their names', async () => {
  const collector = await startJsonServer((response) => response.setHeader('content-type', 'application/json').end('{}'));
  closeAfterTest(() => collector.close());
  sdk = startSdk({
    processors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${collector.origin}/v1/traces` }))],
    readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter({ url: `${collector.origin}/v1/metrics` }) })],
  });
  const a = await upstream(['d@0.01"one" d@0.02" two" u@0.02(7,5) f@0.03']);
  const { gateway }: { gateway: Gateway } = gatewayTo([a.url]);
  await gateway.chat(asks('hello'));
  await sdk.stop();

  const got = (path: string): string => JSON.stringify(collector.requests.filter(({ url }) => url === path).map(({ body }) => body));
  const { resourceSpans } = collector.requests.find(({ url }) => url === '/v1/traces')!.body as unknown as { resourceSpans: { scopeSpans: { scope: { name: string }; spans: { name: string; kind: number; status: { code: number } }[] }[] }[] };
  const [scope] = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
  expect(scope?.scope.name).toBe('polygateway');
  expect(scope?.spans.map(({ name, kind, status }) => ({ name, kind, status: status.code })).sort((one, other) => one.kind - other.kind)).toEqual([{ name: 'chat', kind: 1, status: 1 }, { name: 'chat m', kind: 3, status: 1 }]);
  for (const name of ['gen_ai.usage.input_tokens', 'polygateway.stall_ms']) expect(got('/v1/traces')).toContain(`"${name}"`);
  for (const name of ['gen_ai.client.operation.duration', 'gen_ai.client.operation.time_to_first_chunk', 'gen_ai.client.operation.time_per_output_chunk', 'gen_ai.client.token.usage', 'polygateway.stall.duration', 'polygateway.attempts', 'polygateway.streams.open', 'polygateway.call.wait', 'polygateway.call.duration']) {
    expect(got('/v1/metrics')).toContain(`"${name}"`);
  }
});
