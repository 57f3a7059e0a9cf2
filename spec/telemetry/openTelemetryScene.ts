import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { DataPoint, Histogram, IMetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-node';

/** The real SDK, all of it in memory. */
export interface Sdk {
  /** What was exported, in the order in which it ended. */
  spans(): ReadableSpan[];
  /** Spans that were started and have not ended. */
  open(): number;
  /** Data points by the name of their metric, as of now. */
  points(): Promise<Record<string, DataPoint<number | Histogram>[]>>;
  stop(): Promise<void>;
}

/** Registers it as a host does: spans at once, the context manager of Node, trace context and baggage of the W3C. */
export function startSdk({ processors = [], readers = [] }: { processors?: readonly SpanProcessor[]; readers?: readonly IMetricReader[] } = {}): Sdk {
  const exporter = new InMemorySpanExporter();
  let open = 0;
  const counter: SpanProcessor = { onStart: () => { open += 1; }, onEnd: () => { open -= 1; }, forceFlush: () => Promise.resolve(), shutdown: () => Promise.resolve() };
  const tracers = new NodeTracerProvider({ spanProcessors: [counter, new SimpleSpanProcessor(exporter), ...processors] });
  tracers.register();
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 1_000_000 }), ...readers] });
  metrics.setGlobalMeterProvider(meters);
  return {
    spans: () => exporter.getFinishedSpans(),
    open: () => open,
    async points() {
      metricExporter.reset();
      await meters.forceFlush();
      const told = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: list }) => list));
      return Object.fromEntries(told.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints as DataPoint<number | Histogram>[]]));
    },
    async stop() {
      await Promise.all([tracers.shutdown(), meters.shutdown()]);
      forgetSdk();
    },
  };
}

export function forgetSdk(): void {
  trace.disable();
  metrics.disable();
  context.disable();
  propagation.disable();
}

/** The length of a span in milliseconds. */
export function lengthMs({ duration: [s, ns] }: ReadableSpan): number {
  return s * 1000 + ns / 1e6;
}
