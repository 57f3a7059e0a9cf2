import { Subject, defer, firstValueFrom, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { GatewayClosedError } from '../model/errors.js';
import type { GatewayEvent, GatewayEventBody } from '../model/events.js';
import type { ChatRequest } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import { answerChat } from './chat.js';
import type { Ports } from './ports.js';

export interface CallOptions {
  /** Aborting ends the call with the signal's reason, unchanged, in the same turn; no listener stays on it. */
  readonly signal?: AbortSignal;
}

/** A snapshot of what is going on. */
export interface GatewayStats {
  /** Calls and attempts in flight. */
  calls: number;
  attempts: number;
  /** Permits in use per source. */
  permits: Record<string, number>;
  /** Calls that wait for a runnable source. */
  waiters: number;
  /** Milliseconds left per source that asked for a pause. */
  parked: Record<string, number>;
  /** State per source; empty while no breaker is set up. */
  breakers: Record<string, string>;
}

export interface Engine {
  /**
   * Asks a source and gives its whole answer; hedged and retried as the settings say.
   *
   *     subscribe:  ^
   *     result:     ------(r|)        or an error, and nothing else
   *
   * Cold: every subscription is a call of its own; the request is checked and copied when `chat$` is called. Fails with
   * `RequestError` (nothing was sent, or it is wrong everywhere), `AllSourcesExhausted`, `CallDeadlineExceeded`,
   * `GovernanceBackendError`, `GatewayClosedError`, or with `signal.reason`. Unsubscribing stops timers, attempts, sockets
   * and waits in the same turn.
   *
   *     gateway.chat$({ messages: [{ role: 'user', content: 'Hello' }] }).subscribe({
   *       next: ({ content, stats }) => console.log(content, stats.generationMs),
   *       error: (error) => console.error(error.code),
   *     });
   */
  chat$(this: void, request: ChatRequest, options?: CallOptions): Observable<ChatResponse>;
  /** `chat$` as a promise; rejects with `signal.reason` when aborted. */
  chat(this: void, request: ChatRequest, options?: CallOptions): Promise<ChatResponse>;
  stats(this: void): GatewayStats;
  /** Hot: attempts, silences, hedges, refusals, parked sources, telemetry trouble. What a listener throws harms no call. */
  readonly events$: Observable<GatewayEvent>;
  /** Refuses new calls and ends those in flight with `GatewayClosedError`. */
  close(this: void): void;
}

/** The engine over its ports; whole calls run in virtual time when the scheduler is a `TestScheduler`. */
export function composeGateway(ports: Ports): Engine {
  // A door: closing is pushed in from outside.
  const closing$ = new Subject<void>();
  const inFlight = { calls: 0, attempts: 0 };
  let closed = false;
  const closed$ = defer(() => (closed ? of(undefined) : closing$));
  const counted: Ports = { ...ports, report: (event) => { count(inFlight, event); ports.report(event); } };

  const chat$: Engine['chat$'] = (request, { signal } = {}) => {
    const answer$ = answerChat(request, { signal, closing$: closed$ }, counted);
    return defer(() => {
      if (closed) return throwError(() => new GatewayClosedError('the gateway is closed, no call can be started'));
      return answer$;
    });
  };

  return {
    chat$,
    chat: (request, options) => firstValueFrom(chat$(request, options)),
    stats: () => ({
      ...inFlight,
      permits: ports.governance.permits(),
      waiters: ports.governance.line.length,
      parked: ports.governance.parking.parked(),
      breakers: {},
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
