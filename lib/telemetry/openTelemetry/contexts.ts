import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Context, Span } from '@opentelemetry/api';
import type { Guard, OpenTelemetry } from './guard.js';

export interface Contexts {
  /** The context of what belongs to this span. */
  of(parent: Context, span: Span): Context;
  /** The same, for what goes to a source: those are third parties, so the caller's baggage stays here. */
  outward(parent: Context, span: Span): Context;
  /** Runs the work there, once; in the present context where that fails. Throws what the work throws. */
  run<T>(context: Context, work: () => T): T;
  /** A context in which nothing is traced. */
  silent(context: Context): Context;
  /** What the host's propagator wants to be sent, as far as it can be. */
  headers(context: Context): Record<string, string>;
}

export function createContexts(api: OpenTelemetry, guard: Guard): Contexts {
  const { context: manager, propagation, trace } = api;
  // The SDK's own key, which the API does not export.
  const suppressed = api.createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
  const of: Contexts['of'] = (parent, span) => trace.setSpan(parent, span);

  return {
    of,
    outward: (parent, span) => propagation.deleteBaggage(of(parent, span)),
    run<T>(context: Context, work: () => T): T {
      const ended: (() => T)[] = [];
      guard(() => manager.with(context, () => { ended.push(outcomeOf(work)); }));
      const [outcome = work] = ended;
      return outcome();
    },
    silent: (context) => context.setValue(suppressed, true),
    headers(context) {
      const carrier: Record<string, unknown> = {};
      guard(() => propagation.inject(context, carrier));
      return Object.fromEntries(Object.entries(carrier).flatMap(([name, value]) => (canBeSent(name, value) ? [[name.toLowerCase(), value]] : [])));
    },
  };
}

/** Gives or throws again what the work gave or threw. */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error: unknown) {
    return () => {
      throw error;
    };
  }
}

function canBeSent(name: string, value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
