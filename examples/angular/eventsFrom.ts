import { Observable } from 'rxjs';
import type { PageEvent } from '../webPage/pageEvents.js';

type Types = PageEvent['type'];

/** A `Record`, so that none is forgotten. */
const types: Readonly<Record<Types, true>> = { start: true, text: true, silence: true, figures: true, failure: true };

/** What of an `EventSource` is used. */
export type EventSourceLike = Pick<EventSource, 'close' | 'onerror'> & {
  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void;
};

/**
 * The events at a URL of the page server. Subscribing connects, and so asks; unsubscribing closes, up to the source's socket.
 *
 *     events:    -s--a--b----f        s = start, a and b = text, f = figures
 *     result:    -s--a--b----(f|)
 *
 * A lost connection is a `failure` too. Left to itself, an `EventSource` connects again, and would ask a second time.
 *
 *     eventsFrom('/answer?question=Why').subscribe({ next: show })
 */
export function eventsFrom(url: string, open: (url: string) => EventSourceLike = (at) => new EventSource(at)): Observable<PageEvent> {
  return new Observable((subscriber) => {
    const source = open(url);
    const tell = (event: PageEvent): void => {
      subscriber.next(event);
      if (event.type === 'figures' || event.type === 'failure') subscriber.complete();
    };
    for (const type of Object.keys(types)) source.addEventListener(type, ({ data }) => tell({ type, ...(JSON.parse(data) as object) } as PageEvent));
    source.onerror = () => tell({ type: 'failure', code: 'connection_lost' });
    return () => source.close();
  });
}
