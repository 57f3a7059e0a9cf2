import { Observable } from 'rxjs';

/** Callers that wait for a place, oldest first (B4). */
export interface WaitingLine {
  /** Emits when it is this waiter's turn to try; its place in the line is kept until it is unsubscribed. */
  place$(): Observable<void>;
  /** Something was given back: lets the waiters try in order until one has got in. */
  wake(): void;
  /** Told by admission each time a permit is granted. */
  granted(): void;
  readonly length: number;
}

export function createWaitingLine(): WaitingLine {
  const places = new Set<() => void>();
  let grants = 0;

  return {
    // A line of callbacks is a word RxJS does not have: order among subscribers, and a stop after the first that got in.
    place$: () =>
      new Observable((subscriber) => {
        const tryNow = (): void => subscriber.next();
        places.add(tryNow);
        return () => places.delete(tryNow);
      }),
    wake() {
      const before = grants;
      for (const tryNow of [...places]) {
        // One that left meanwhile does not hear it.
        tryNow();
        if (grants > before) return;
      }
    },
    granted: () => { grants += 1; },
    get length() {
      return places.size;
    },
  };
}
