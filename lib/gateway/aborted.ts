import { NEVER, Observable } from 'rxjs';

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Fails with the signal's reason, unchanged, in the turn in which it is aborted; at once if it was before (X3). One
 * listener per signal however many calls watch it, none when none does, so that a long-lived signal collects nothing.
 */
export function aborted(signal: AbortSignal | undefined): Observable<never> {
  if (signal === undefined) return NEVER;
  return new Observable<never>((subscriber) => {
    const fail = (): void => subscriber.error(signal.reason);
    if (signal.aborted) {
      fail();
      return undefined;
    }
    return listen(signal, fail);
  });
}

function listen(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = listeners.get(signal) ?? new Set<() => void>();
  const tellAll = tell.bind(undefined, callbacks);
  if (callbacks.size === 0) {
    listeners.set(signal, callbacks);
    signal.addEventListener('abort', tellAll, { once: true });
    stops.set(callbacks, () => signal.removeEventListener('abort', tellAll));
  }
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0) return;
    stops.get(callbacks)?.();
    listeners.delete(signal);
  };
}

const stops = new WeakMap<Set<() => void>, () => void>();

function tell(callbacks: Set<() => void>): void {
  for (const callback of [...callbacks]) callback();
}
