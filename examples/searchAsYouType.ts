import { catchError, debounceTime, defer, distinctUntilChanged, map, of, scan, startWith, switchMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Gateway, StreamItem } from 'polygateway';

/** What a search field shows. */
export type SearchView = { readonly type: 'empty' } | Answer;

/** The text so far, or of the refusal. */
type Answer = { readonly query: string; readonly text: string } & ({ readonly type: 'answering' | 'answered' | 'refused' } | Failure);

interface Failure {
  readonly type: 'failed';
  readonly error: unknown;
}

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
 * A search that fails is shown as failed, with the text that had come; the next one is asked all the same, also for the same
 * query. An emptied field asks nobody. Unsubscribing closes the running search's socket.
 *
 *     searchAsYouType(gateway, fromEvent(field, 'input').pipe(map(() => field.value))).subscribe({ next: show })
 */
export function searchAsYouType(gateway: Pick<Gateway, 'stream$'>, query$: Observable<string>, { quietMs = 300 }: SearchOptions = {}): Observable<SearchView> {
  return defer(() => {
    let hasFailed = false;
    return query$.pipe(
      map((query) => query.trim()),
      debounceTime(quietMs),
      distinctUntilChanged((before, query) => query === before && !hasFailed),
      switchMap((query) => (query === '' ? of({ type: 'empty' } as const) : search(gateway, query))),
      tap({ next: ({ type }) => { hasFailed = type === 'failed'; } }),
    );
  });
}

function search(gateway: Pick<Gateway, 'stream$'>, query: string): Observable<Answer> {
  const asked: Answer = { type: 'answering', query, text: '' };
  return gateway.stream$({ messages: [{ role: 'user', content: query }] }).pipe(
    catchError((error: unknown) => of<Failure>({ type: 'failed', error })),
    scan(withItem, asked),
    startWith(asked),
    distinctUntilChanged(),
  );
}

function withItem(answer: Answer, item: StreamItem | Failure): Answer {
  switch (item.type) {
    case 'content':
    case 'refusal':
      return { ...answer, text: answer.text + item.text };
    case 'end':
      return { ...answer, type: item.response.refusal === null ? 'answered' : 'refused' };
    case 'failed':
      return { ...answer, ...item };
    default:
      return answer;
  }
}
