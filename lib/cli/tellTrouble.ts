import { filter } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { messageOf } from '../model/errors.js';
import type { GatewayEvent } from '../model/events.js';
import type { Screen } from './terminal.js';

/** Says on a screen when rows cannot be written; until the gateway is closed. */
export function tellTrouble(events$: Observable<GatewayEvent>, screen: Screen): Subscription {
  return events$.pipe(filter((event) => event.type === 'telemetry-trouble')).subscribe({
    next: ({ message }) => screen.line(`${screen.paint('yellow', 'warning')} ${message}`),
    error: (error: unknown) => screen.line(messageOf(error)),
  });
}
