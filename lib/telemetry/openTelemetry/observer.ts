import type { GatewayEventBody } from '../../model/events.js';
import type { EventOf } from './attributes.js';

/** What was told of a call when it started. */
export type CallFacts = EventOf<'call-started'>;

export interface Observer {
  observe(this: void, event: GatewayEventBody, call: CallFacts): void;
}
