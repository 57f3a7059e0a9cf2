import { Observable } from 'rxjs';

/**
 * An Observable whose inner workings may also pass values on themselves, past all their operators, for as long as it is
 * subscribed.
 *
 *     made:     -a-----b-|
 *     shortcut: ---1-2---
 *     result:   -a-1-2-b-|
 *
 * Errors and completion are those of what was made. Unsubscribing unsubscribes; nothing is passed on afterwards.
 */
export function withShortcut<T>(ask: (shortcut: (value: T) => void) => Observable<T>): Observable<T> {
  return new Observable((out) => {
    const made$ = ask((value) => out.next(value));
    return made$.subscribe(out);
  });
}
