import { messageOf } from '../../model/errors.js';

/** The package itself, as loaded where it is installed. */
export type OpenTelemetry = typeof import('@opentelemetry/api');

/** Runs what a tracer, a meter or a propagator of the host might throw from: a call must not pay for it, their own log hears of it. */
export type Guard = (this: void, work: () => void) => void;

export function createGuard({ diag }: OpenTelemetry): Guard {
  return (work) => {
    try {
      work();
    } catch (error: unknown) {
      try {
        diag.error(`polygateway: tracing failed: ${messageOf(error)}`);
      } catch {
        // The host's logger is broken too; there is nobody left to tell.
      }
    }
  };
}
