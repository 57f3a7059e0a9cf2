import { Observable } from 'rxjs';

/** Callers that wait for a place, oldest first (B4). */
export interface WaitingLine {
  /** Emits when it is this waiter's turn to try; its place in the line is kept until it is unsubscribed. */
  place$(): Observable<void>;
  /** Something was given back: lets the waiters try in order, until one that follows those who got in is refused. */
  wake(): void;
  /** Lets the waiters try in order, until one is refused. */
  advance(): void;
  /** Told by admission each time a permit is granted. */
  granted(): void;
  readonly length: number;
}

export function createWaitingLine(): WaitingLine {
  const places = new Set<() => void>();
  let grants = 0;

  function letIn({ atLeastOne }: { atLeastOne: boolean }): void {
    const atFirst = grants;
    for (const tryNow of [...places]) {
      const before = grants;
      // One that left meanwhile does not hear it.
      tryNow();
      if (grants === before && (grants > atFirst || !atLeastOne)) return;
    }
  }

  return {
    // A line of callbacks is a word RxJS does not have: order among subscribers, and a stop after the first that got in.
    place$: () =>
      new Observable((subscriber) => {
        const tryNow = (): void => subscriber.next();
        places.add(tryNow);
        return () => places.delete(tryNow);
      }),
    wake: () => letIn({ atLeastOne: true }),
    advance: () => letIn({ atLeastOne: false }),
    granted: () => { grants += 1; },
    get length() {
      return places.size;
    },
  };
}
