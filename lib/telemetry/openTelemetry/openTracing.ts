import { findPeer } from '../../model/loadPeer.js';
import type { Tracing } from '../../model/tracing.js';
import { createTracing } from './createTracing.js';
import type { TracingOptions } from './createTracing.js';
import type { OpenTelemetry } from './guard.js';

/** Tracing where the host has OpenTelemetry's API; that alone is no reason to do anything, and its absence is no error. */
export function openTracing(options: Omit<TracingOptions, 'api'>): Tracing | undefined {
  const api = findPeer('@opentelemetry/api') as OpenTelemetry | undefined;
  return api === undefined ? undefined : createTracing({ api, ...options });
}
