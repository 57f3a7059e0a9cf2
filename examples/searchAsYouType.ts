import { catchError, debounceTime, distinctUntilChanged, map, of, scan, startWith, switchMap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Gateway, StreamItem } from 'polygateway';

/** What a search field shows. */
export type SearchView =
  | { readonly type: 'empty' }
  | { readonly type: 'answering' | 'answered'; readonly query: string; readonly text: string }
  | { readonly type: 'failed'; readonly query: string; readonly error: unknown };

export interface SearchOptions {
  /** How long nothing may be typed before the source is asked, in ms; default 300. */
  readonly quietMs?: number;
}

/**
 * Answers what is being typed, and drops an answer as soon as another query has settled.
 *
 *     query$:   -a-----b-----------        quietMs: --|
 *     socket:   ---^-----!                 closed by the next query, in the same turn
 *               ---------^--------!
 *     result:   ---A-A--AB-B--B--BB        each with the text so far
 *
 * A search that fails is shown as failed, and the next one is asked all the same. An emptied field asks nobody. Unsubscribing
 * closes the running search's socket.
 *
 *     searchAsYouType(gateway, fromEvent(field, 'input').pipe(map(() => field.value))).subscribe({ next: show })
 */
export function searchAsYouType(gateway: Pick<Gateway, 'stream$'>, query$: Observable<string>, { quietMs = 300 }: SearchOptions = {}): Observable<SearchView> {
  return query$.pipe(
    map((query) => query.trim()),
    debounceTime(quietMs),
    distinctUntilChanged(),
    switchMap((query) => (query === '' ? of({ type: 'empty' } as const) : search(gateway, query))),
  );
}

function search(gateway: Pick<Gateway, 'stream$'>, query: string): Observable<SearchView> {
  const asked: Answer = { type: 'answering', query, text: '' };
  return gateway.stream$({ messages: [{ role: 'user', content: query }] }).pipe(
    scan(withItem, asked),
    startWith(asked),
    distinctUntilChanged(),
    catchError((error: unknown) => of({ type: 'failed', query, error } as const)),
  );
}

type Answer = Extract<SearchView, { type: 'answering' | 'answered' }>;

function withItem(answer: Answer, item: StreamItem): Answer {
  if (item.type === 'content') return { ...answer, text: answer.text + item.text };
  return item.type === 'end' ? { ...answer, type: 'answered' } : answer;
}
