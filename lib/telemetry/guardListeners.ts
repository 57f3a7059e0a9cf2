import { Observable, Subscriber } from 'rxjs';
import type { Observer, Subscription } from 'rxjs';

type Listener<T> = Partial<Observer<T>> | ((value: T) => void) | null | undefined;

/**
 * Makes what is subscribed here, directly or after operators, unable to bring the process down: what a listener throws, and
 * an error that no listener takes, goes to `onError`, where RxJS would rethrow it from a timer as an uncaught exception. The
 * listener stays; `onError` is called once for each. What is merged with other Observables is theirs, and RxJS's rule holds.
 */
export function guardListeners<T>(given$: Observable<T>, onError: (error: unknown) => void): Observable<T> {
  /* eslint-disable @typescript-eslint/no-deprecated -- all ways to subscribe are guarded, and what operators make is made by lift */
  const subscribe = given$.subscribe.bind(given$) as (listener: Partial<Observer<T>>) => Subscription;
  given$.lift = (operator) => guardListeners(Observable.prototype.lift.call(given$, operator) as Observable<never>, onError);
  // RxJS's own go through: they pass errors on to a listener that is guarded itself.
  given$.subscribe = (listener: Listener<T>, error?: Observer<T>['error'] | null, complete?: Observer<T>['complete'] | null) =>
    subscribe(listener instanceof Subscriber ? listener : guarded(observerOf(listener, error, complete), onError));
  /* eslint-enable @typescript-eslint/no-deprecated */
  return given$;
}

function observerOf<T>(listener: Listener<T>, error?: Observer<T>['error'] | null, complete?: Observer<T>['complete'] | null): Partial<Observer<T>> {
  if (typeof listener === 'object' && listener !== null) return listener;
  return { ...(listener && { next: listener }), ...(error && { error }), ...(complete && { complete }) };
}

function guarded<T>(listener: Partial<Observer<T>>, onError: (error: unknown) => void): Observer<T> {
  const { next, error, complete } = listener;
  let told = false;
  const tell = (thrown: unknown): void => {
    if (!told) onError(thrown);
    told = true;
  };
  const safely = (run: () => unknown): void => {
    try {
      run();
    } catch (thrown: unknown) {
      tell(thrown);
    }
  };
  return {
    next: (value) => safely(() => next?.call(listener, value)),
    error: (failure) => (error === undefined ? tell(failure) : safely(() => error.call(listener, failure))),
    complete: () => safely(() => complete?.call(listener)),
  };
}
