import { catchError, concatMap, map, of, startWith, switchMap, takeWhile, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import type { GatewayError, StreamItem } from 'polygateway';

/** What a page is told while an answer comes; the last one is `figures` or `failure`. */
export type PageEvent =
  | { readonly type: 'start'; readonly source: string }
  | { readonly type: 'text'; readonly text: string }
  /** Nothing has come for so long. */
  | { readonly type: 'silence'; readonly silentMs: number }
  | { readonly type: 'figures'; readonly source: string; readonly generationMs: number; readonly stallMs: number | null; readonly hedges: number }
  /** Also after text has gone out: the answer on the page is not whole. */
  | { readonly type: 'failure'; readonly code: string };

export interface PageEventsOptions {
  /** The silence is told again after each of these, in ms; default 1000. */
  readonly everyMs?: number;
}

/**
 * What of an answer goes to a page. Silence is told while it lasts, which also shows proxies that the connection lives.
 *
 *     items:     --(sa)------b--(e|)      s = start, a and b = text, e = end; everyMs: ----|
 *     result:    --(sa)--q---b--(f|)      q = silence, f = figures
 *
 * A failure is the last event, not an error: the status of the answer is out already. Unsubscribing unsubscribes.
 *
 *     gateway.stream$(request).pipe(pageEvents()).subscribe({ next: send, complete: end })
 */
export function pageEvents({ everyMs = 1000 }: PageEventsOptions = {}): OperatorFunction<StreamItem, PageEvent> {
  return (item$) =>
    item$.pipe(
      concatMap(eventsOf),
      catchError((error: unknown) => of({ type: 'failure', code: codeOf(error) } as const)),
      withSilence(everyMs),
    );
}

function eventsOf(item: StreamItem): PageEvent[] {
  if (item.type === 'start') return [{ type: 'start', source: item.source }];
  if (item.type === 'content') return [{ type: 'text', text: item.text }];
  if (item.type !== 'end') return [];
  const { source, stats: { generationMs, stallMs, hedges } } = item.response;
  return [{ type: 'figures', source, generationMs, stallMs, hedges }];
}

function withSilence(everyMs: number): MonoTypeOperatorFunction<PageEvent> {
  const silence$ = timer(everyMs, everyMs).pipe(map((nth): PageEvent => ({ type: 'silence', silentMs: (nth + 1) * everyMs })));
  return (event$) =>
    event$.pipe(
      map((event) => silence$.pipe(startWith(event))),
      startWith(silence$),
      switchMap((eventThenSilence$) => eventThenSilence$),
      takeWhile(({ type }) => type !== 'figures' && type !== 'failure', true),
    );
}

/** The page is told the code alone: messages are for the log. */
function codeOf(error: unknown): string {
  return (error as Partial<GatewayError> | undefined)?.code ?? 'unknown';
}
