import type { AttemptRecord, GatewayEvent } from '../../model/events.js';
import { maskSecrets } from '../../model/mask.js';

const shownOfRecord = ['id', 'source', 'role', 'round', 'hedgeTrigger', 'won', 'outcome', 'errorClass', 'httpStatus', 'ttftMs', 'latencyMs', 'increments', 'stallMs', 'stallCount'] as const;

/** What a viewer is told of an attempt: figures, and neither tags nor the words of a provider. */
export type WatchedRecord = Readonly<Pick<AttemptRecord, (typeof shownOfRecord)[number]>>;

/** An event of `events$` as it goes over the socket. */
export type WatchEvent = GatewayEvent extends infer E ? (E extends { record: unknown } ? Omit<E, 'record'> & { record: WatchedRecord } : E extends { records: unknown } ? Omit<E, 'records'> & { records: readonly WatchedRecord[] } : E) : never;

/** Takes out of an event what is nobody's business: what a provider said may quote a prompt, tags may name a person. */
export function watchEvent(event: GatewayEvent): WatchEvent {
  switch (event.type) {
    case 'attempt-ended':
      return { ...event, record: shown(event.record) };
    case 'round-decided':
      return { ...event, records: event.records.map(shown) };
    case 'telemetry-trouble':
    case 'backend-changed':
      return { ...event, message: maskSecrets(event.message) };
    default:
      return event;
  }
}

function shown(record: AttemptRecord): WatchedRecord {
  return Object.fromEntries(shownOfRecord.map((field) => [field, record[field]])) as WatchedRecord;
}
