// Ten calls of a host whose collector is away, or of one without OpenTelemetry; closes the gateway and has nothing left to do.
import { metrics } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { createGateway } from 'polygateway';

const { url, collector } = JSON.parse(process.argv[2]);
const troubles = [];
process.on('unhandledRejection', (reason) => troubles.push(String(reason)));
process.on('uncaughtException', (error) => troubles.push(String(error)));

let ended = 0;
if (collector !== undefined) {
  // In a hurry, so that exports are under way during the calls.
  const exporter = new OTLPTraceExporter({ url: `${collector}/v1/traces`, timeoutMillis: 200 });
  const counter = { onStart: () => undefined, onEnd: () => (ended += 1), forceFlush: () => Promise.resolve(), shutdown: () => Promise.resolve() };
  new NodeTracerProvider({ spanProcessors: [counter, new BatchSpanProcessor(exporter, { scheduledDelayMillis: 20 })] }).register();
  const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter({ url: `${collector}/v1/metrics`, timeoutMillis: 200 }), exportIntervalMillis: 250, exportTimeoutMillis: 200 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
}

const gateway = createGateway({ settings: { scope: 'LLM', sources: [{ provider: 'a', baseUrl: url, model: 'm' }] } });
const call = () => gateway.chat({ messages: [{ role: 'user', content: 'hello' }] });
for (let i = 0; i < 3; i += 1) await call();
const firstMs = [];
for (let i = 0; i < 10; i += 1) firstMs.push((await call()).ttftMs);
const closingMs = performance.now();
await gateway.close();
process.send({ firstMs, closedInMs: performance.now() - closingMs, ended, troubles, atMs: Date.now() });
