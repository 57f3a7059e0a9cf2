import type { GatewayEventBody } from './events.js';

/** What a request takes along of the trace that its attempt belongs to. */
export interface TraceCarrier {
  /** To be sent with the request, names in lower case; a header of the same name in the settings goes first. Empty where nothing is to be sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Runs the sending, in which other instrumentation is silent: it would trace the same request again. */
  send<T>(this: void, send: () => T): T;
}

/** One attempt that is traced. Nothing of it throws but what `send` and `within` are given to run. */
export interface AttemptTrace extends TraceCarrier {
  /** Runs the work in the attempt's context, so that what it traces belongs to the attempt. */
  within<T>(this: void, work: () => T): T;
  /** An increment came, by the gateway's clock. */
  increment(this: void, atMs: number): void;
}

/** Makes traces and metrics of what the gateway tells. */
export interface Tracing {
  /** Hears every event before anybody else. Cannot throw. */
  observe(this: void, event: GatewayEventBody): void;
  /** Known from its `attempt-started` until its end. */
  attempt(this: void, attemptId: string): AttemptTrace | undefined;
}
