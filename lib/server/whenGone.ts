import type { ServerResponse } from 'node:http';
import { defer, fromEvent, of } from 'rxjs';
import type { Observable } from 'rxjs';

/** Emits when nobody waits for this answer any more, at once if that is so already; also when it has been sent. */
export function whenGone(response: ServerResponse): Observable<unknown> {
  return defer(() => (response.destroyed ? of(undefined) : fromEvent(response, 'close')));
}
