import type { Socket } from 'node:net';
import { EMPTY, Observable, asapScheduler, combineLatest, endWith, observeOn, switchMap } from 'rxjs';

export interface HeldOptions {
  /** Its end is the end of holding; its error is passed on. */
  readonly held$: Observable<boolean>;
  /** The connections on which an answer has begun, one after the other. */
  readonly socket$: Observable<Socket>;
  /** Reading goes on inside it. */
  readonly within: (work: () => void) => void;
}

/**
 * While it is subscribed to and `held$` is `true`, the client of a connection is not told that there is something to read: what
 * comes fills the buffers of the socket and of the kernel, then the sender has to wait. What the socket had read by then
 * is still passed on.
 *
 * Undici's own `pause()` ends the process where the server resets or ends a connection that is paused and not kept alive: an
 * AssertionError that nobody can catch. Its `resume()` throws from within another answer's data.
 */
export function readUnlessHeld({ held$, socket$, within }: HeldOptions): Observable<never> {
  return combineLatest([held$.pipe(endWith(false)), socket$]).pipe(
    // Between two of its own ticks, Node does not notice that a listener has left and come back, and does not tell it what it missed.
    observeOn(asapScheduler),
    switchMap(([held, socket]) => (held ? unread(socket, within) : EMPTY)),
  );
}

function unread(socket: Socket, within: HeldOptions['within']): Observable<never> {
  return new Observable(() => {
    const readers = socket.listeners('readable') as (() => void)[];
    for (const read of readers) socket.off('readable', read);
    return () => {
      // A listener that comes back is told of what has come meanwhile.
      within(() => { for (const read of readers) socket.on('readable', read); });
    };
  });
}
