import type { WatchEvent } from '../../telemetry/watch/watchEvent.js';
import type { WatchHello, WatchMessage, WatchState } from '../../telemetry/watch/watchMessage.js';
import { plain } from '../plain.js';
import { eventWords } from './eventWords.js';

/** What became of hedges while somebody watched. */
export interface HedgeCounts {
  readonly fired: number;
  readonly won: number;
  readonly lost: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** All that is drawn. */
export interface WatchView {
  readonly hello?: WatchHello;
  readonly state?: WatchState;
  readonly hedges: HedgeCounts;
  /** Newest last. */
  readonly recent: readonly string[];
  /** The gateway was closed in order. */
  readonly closed: boolean;
  /** When the last snapshot came, and now, on the clock of this program. */
  readonly heardMs: number;
  readonly nowMs: number;
}

const mostRecent = 20;

export const emptyView: WatchView = { hedges: { fired: 0, won: 0, lost: 0, refused: {} }, recent: [], closed: false, heardMs: 0, nowMs: 0 };

/** The view after one more message; without one only time has passed. */
export function grownView(view: WatchView, message: WatchMessage | undefined, nowMs: number): WatchView {
  switch (message?.type) {
    case undefined:
      return { ...view, nowMs };
    case 'hello':
      return { ...view, hello: message, heardMs: nowMs, nowMs };
    case 'state':
      return { ...view, state: message, heardMs: nowMs, nowMs };
    case 'event':
      return { ...view, hedges: counted(view.hedges, message.event), recent: remembered(view, message.event), nowMs };
    case 'bye':
      return { ...view, closed: true, nowMs };
    default:
      // Of a newer gateway.
      message satisfies never;
      return view;
  }
}

/** An event as one line with the time of day, if it is worth one. */
export function eventLine(hello: WatchHello, event: WatchEvent): string | undefined {
  const words = eventWords(event);
  return words === undefined ? undefined : plain(`${timeOfDay(new Date(Date.parse(hello.sentAt) + event.atMs - hello.atMs))} ${words}`);
}

function timeOfDay(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function remembered({ hello, recent }: WatchView, event: WatchEvent): readonly string[] {
  const line = hello === undefined ? undefined : eventLine(hello, event);
  return line === undefined ? recent : [...recent, line].slice(-mostRecent);
}

function counted(hedges: HedgeCounts, event: WatchEvent): HedgeCounts {
  switch (event.type) {
    case 'attempt-started':
      return event.role === 'backup' ? { ...hedges, fired: hedges.fired + 1 } : hedges;
    case 'hedge-refused':
      return { ...hedges, refused: { ...hedges.refused, [event.gate]: (hedges.refused[event.gate] ?? 0) + 1 } };
    case 'round-decided': {
      const backups = event.records.filter(({ role }) => role === 'backup');
      const won = backups.filter((record) => record.won).length;
      return { ...hedges, won: hedges.won + won, lost: hedges.lost + backups.length - won };
    }
    default:
      return hedges;
  }
}
