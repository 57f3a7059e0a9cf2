import type { OpenTelemetry } from './guard.js';

/**
 * Whether somebody takes traces, metrics or trace headers. The API alone is often installed, as other packages need it, and
 * to make for nobody what it throws away would cost a short call a tenth of its time.
 */
export function isListened({ trace, metrics, propagation, createNoopMeter }: OpenTelemetry): boolean {
  return hasTracer(trace.getTracerProvider()) || metrics.getMeter('') !== createNoopMeter() || propagation.fields().length > 0;
}

/** The API's own provider hands on to one that the host has set, if it has; any other is the host's. */
function hasTracer(provider: object): boolean {
  const own: unknown = Reflect.get(provider, 'getDelegateTracer');
  return typeof own !== 'function' || Reflect.apply(own, provider, ['']) !== undefined;
}
