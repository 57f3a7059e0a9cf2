import { findPeer } from '../../model/loadPeer.js';
import type { Tracing } from '../../model/tracing.js';
import { createTracing } from './createTracing.js';
import type { TracingOptions } from './createTracing.js';
import type { OpenTelemetry } from './guard.js';

/** Tracing where the host has OpenTelemetry's API. Neither its absence nor one that cannot be loaded is an error: nobody has asked for it. */
export function openTracing(options: Omit<TracingOptions, 'api'>): Tracing | undefined {
  try {
    const api = findPeer('@opentelemetry/api') as OpenTelemetry | undefined;
    return api === undefined ? undefined : createTracing({ api, ...options });
  } catch {
    return undefined;
  }
}
