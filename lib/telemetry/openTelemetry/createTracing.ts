import type { GatewayEventBody } from '../../model/events.js';
import type { Tracing } from '../../model/tracing.js';
import { placesOf } from './attributes.js';
import type { Place } from './attributes.js';
import { createContexts } from './contexts.js';
import { createGuard } from './guard.js';
import type { OpenTelemetry } from './guard.js';
import { createMetrics } from './metrics.js';
import { isListened } from './isListened.js';
import type { CallFacts } from './observer.js';
import { createSpans } from './spans.js';

export interface TracingOptions {
  readonly api: OpenTelemetry;
  /** The gateway's clock. */
  readonly now: () => number;
  /** Whether requests take the trace along. */
  readonly propagate: boolean;
  /** The HTTP sources. */
  readonly places: readonly Place[];
}

/** Traces and metrics of what a gateway tells, through the API alone: without an SDK of the host they go nowhere. */
export function createTracing({ api, now, propagate, places }: TracingOptions): Tracing {
  const guard = createGuard(api);
  const placeOf = placesOf(places);
  const spans = createSpans({ api, guard, contexts: createContexts(api, guard), now, propagate, placeOf });
  const metrics = createMetrics({ api, now, placeOf });
  const calls = new Map<string, CallFacts>();

  // For each call anew: a host may set its SDK up later.
  function listened(): boolean {
    let is = true;
    guard(() => { is = isListened(api); });
    return is;
  }

  return {
    observe(event) {
      if (event.type === 'call-started' && listened()) calls.set(event.callId, event);
      // Of a call that has ended, too.
      if (event.type === 'attempt-unsent') guard(() => metrics.unsent(event.attemptId));
      const call = callOf(event, calls);
      if (call === undefined) return;
      guard(() => spans.observe(event, call));
      guard(() => metrics.observe(event, call));
      if (event.type === 'call-ended') calls.delete(event.callId);
    },
    attempt(attemptId) {
      const span = spans.attempt(attemptId);
      if (span === undefined) return undefined;
      const note = metrics.incrementsOf(attemptId);
      return { ...span, increment: note === undefined ? () => undefined : (atMs) => guard(() => note(atMs)) };
    },
  };
}

function callOf(event: GatewayEventBody, calls: ReadonlyMap<string, CallFacts>): CallFacts | undefined {
  return 'callId' in event ? calls.get(event.callId) : undefined;
}
