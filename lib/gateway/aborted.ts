import { NEVER, Observable } from 'rxjs';

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly stop: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Fails with the signal's reason, unchanged, in the turn in which it is aborted; at once if it was before (X3). One
 * listener per signal however many calls watch it, none when none does, so that a long-lived signal collects nothing.
 */
export function aborted(signal: AbortSignal | undefined): Observable<never> {
  if (signal === undefined) return NEVER;
  return new Observable<never>((subscriber) => {
    const fail = (): void => subscriber.error(signal.reason);
    if (!signal.aborted) return listen(signal, fail);
    fail();
    return undefined;
  });
}

function listen(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, stop } = watches.get(signal) ?? watch(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) stop();
  };
}

function watch(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const tellAll = (): void => {
    // A copy: each callback leaves the set, and may bring a new one in.
    for (const callback of Array.from(callbacks)) callback();
  };
  const stop = (): void => {
    signal.removeEventListener('abort', tellAll);
    watches.delete(signal);
  };
  signal.addEventListener('abort', tellAll, { once: true });
  const made = { callbacks, stop };
  watches.set(signal, made);
  return made;
}
