import { Subject, type Observable } from 'rxjs';
import { messageOf } from '../model/errors.js';
import type { GatewayEvent, Report } from '../model/events.js';
import { guardListeners } from './guardListeners.js';

export interface EventBus {
  report: Report;
  /** Hot; completes when the bus is closed. */
  events$: Observable<GatewayEvent>;
  /** Completes `events$` and lets go of its listeners; later reports go nowhere. */
  close: () => void;
}

export interface EventBusOptions {
  readonly now: () => number;
  /** Hears what listeners throw; default: a warning of the process. */
  readonly onListenerError?: (error: unknown) => void;
}

/**
 * The one place where events meet their listeners. `report` stamps the time and cannot throw; without a listener it
 * costs one comparison. What a listener throws harms neither the call, nor other listeners, nor the process: Node is told by a
 * warning, once for each listener, since a broken one would else never be found.
 */
export function createEventBus({ now, onListenerError = warn }: EventBusOptions): EventBus {
  const events$ = new Subject<GatewayEvent>();
  return {
    report(event) {
      if (!events$.observed) return;
      try {
        events$.next({ atMs: now(), ...event });
      } catch {
        // A clock that throws, or a subscriber that goes round every guard; the call that reported must not pay for it.
      }
    },
    events$: guardListeners(events$.asObservable(), onListenerError),
    close: () => events$.complete(),
  };
}

function warn(error: unknown): void {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : '';
  process.emitWarning(`a listener of events$ threw: ${messageOf(error)}`, { type: 'PolygatewayWarning', code: 'POLYGATEWAY_LISTENER', detail: stack });
}
