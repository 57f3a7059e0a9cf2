import { Subject, defer, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { GatewayClosedError } from '../model/errors.js';
import type { StreamPiece } from '../model/streamItem.js';
import type { BreakerPhase, GatewayEvent, GatewayEventBody } from '../model/events.js';
import { answerCall } from './call.js';
import type { Asked } from './call.js';
import type { OpenStream, Ports } from './ports.js';

/** What a caller can say beside the request. */
export interface CallOptions {
  /** Aborting ends the call with the signal's reason, unchanged, in the same turn; no listener stays on it. Default: none. */
  readonly signal?: AbortSignal;
}

/** What a caller that is passed an answer can say beside the request. */
export interface StreamOptions extends CallOptions {
  /**
   * For a reader that can be too slow: hot; while its last value is `true`, the answer is not read from its source, and
   * neither limits nor figures of silence count that time, which `latencyMs`, `generationMs` and the deadline do. Its end, and
   * its error, are the end of holding. Default: always read.
   */
  readonly held$?: Observable<boolean>;
}

/** A snapshot of what is going on. */
export interface GatewayStats {
  /** Number of calls in flight. */
  calls: number;
  /** Number of attempts (requests to sources) in flight. */
  attempts: number;
  /** Every attempt in flight, with how long it has been silent, oldest first. */
  streams: OpenStream[];
  /** Number of permits in use per source. */
  permits: Record<string, number>;
  /** Number of calls that wait for a runnable source. */
  waiters: number;
  /** Milliseconds left per source that asked for a pause. */
  parked: Record<string, number>;
  /** Breaker per source. */
  breakers: Record<string, BreakerPhase>;
  /** Requests at once that a source is paced to after a 429; absent: not paced. */
  paced: Record<string, number>;
}

/** What can be done with a scope, whatever it serves. */
export interface Scope {
  /** A snapshot of the calls and attempts in flight, permits, waiters, parked sources, breakers and paces. */
  stats(this: void): GatewayStats;
  /** Hot: attempts, silences, hedges, refusals, breakers, parked sources, telemetry trouble. What a listener throws harms no call. */
  readonly events$: Observable<GatewayEvent>;
  /** Refuses new calls and ends those in flight with `GatewayClosedError`. */
  close(this: void): void;
}

export interface Calls extends Scope {
  /** Cold: `open` is run per subscription, and each is a call of its own (X3); what it throws fails the call, nothing is sent. */
  ask$<A, R>(this: void, open: () => Asked<A, R>, options?: CallOptions): Observable<R>;
  /** The same, with what is passed on before the end. */
  pass$<A, R>(this: void, open: () => Asked<A, R>, options?: CallOptions): Observable<StreamPiece | R>;
}

/** The calls of one scope over its ports; they run in virtual time when the scheduler is a `TestScheduler`. */
export function openCalls(ports: Ports): Calls {
  const { governance } = ports;
  // A door: closing is pushed in from outside.
  const closing$ = new Subject<void>();
  const inFlight = { calls: 0, attempts: 0 };
  let closed = false;
  const closed$ = defer(() => (closed ? of(undefined) : closing$));
  const open = new Set<() => OpenStream>();
  const counted: Ports = { ...ports, open, report: (event) => { count(inFlight, event); ports.report(event); } };

  const pass$: Calls['pass$'] = (begin, { signal } = {}) =>
    defer(() => {
      if (closed) return throwError(() => new GatewayClosedError('the gateway is closed, no call can be started'));
      return answerCall(begin(), { signal, closing$: closed$ }, counted);
    });

  return {
    pass$,
    // Where no exchange has `said`, nothing comes before the answer.
    ask$: pass$ as Calls['ask$'],
    stats: () => ({
      ...inFlight,
      streams: [...open].map((look) => look()),
      waiters: governance.line.length,
      parked: governance.parking.parked(),
      permits: governance.permits(),
      breakers: governance.breakers(),
      paced: governance.paced(),
    }),
    events$: ports.events$,
    close: () => {
      closed = true;
      closing$.next();
    },
  };
}

function count(inFlight: { calls: number; attempts: number }, { type }: GatewayEventBody): void {
  if (type === 'call-started') inFlight.calls += 1;
  if (type === 'call-ended') inFlight.calls -= 1;
  if (type === 'attempt-started') inFlight.attempts += 1;
  if (type === 'attempt-ended' || type === 'attempt-unsent') inFlight.attempts -= 1;
}

/** Checks now, tells later: what `parse` throws is the error of every subscription. */
export function checkedNow<V>(parse: () => V): () => V {
  try {
    const valid = parse();
    return () => valid;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
