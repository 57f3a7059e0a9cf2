import { Subject, type Observable } from 'rxjs';
import type { GatewayEvent, Report } from '../model/events.js';

export interface EventBus {
  report: Report;
  /** Hot; completes when the bus is closed. */
  events$: Observable<GatewayEvent>;
  /** Completes `events$` and lets go of its listeners; later reports go nowhere. */
  close: () => void;
}

/**
 * The one place where events meet their listeners. `report` stamps the time and cannot throw; without a listener it
 * costs one comparison.
 *
 * A listener that throws disturbs neither the call nor the other listeners. RxJS then rethrows its error from a timer,
 * as for every Observable: `config.onUnhandledError` of `rxjs` gets it, else it is an uncaught exception. It is not
 * swallowed here, since a broken listener would then never be found.
 */
export function createEventBus({ now }: { readonly now: () => number }): EventBus {
  const events$ = new Subject<GatewayEvent>();
  return {
    report(event) {
      if (!events$.observed) return;
      try {
        events$.next({ atMs: now(), ...event });
      } catch {
        // Only a subscriber that goes round RxJS's own guard gets here; the call that reported must not pay for it.
      }
    },
    events$: events$.asObservable(),
    close: () => events$.complete(),
  };
}
