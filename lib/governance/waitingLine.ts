import { Observable } from 'rxjs';

/** A waiter's turn to try; one who cannot use it now leaves it untaken. */
export interface Turn {
  taken: boolean;
}

/** Callers that wait for a place, oldest first (B4). */
export interface WaitingLine {
  /** Emits when it is this waiter's turn to try; its place in the line is kept until it is unsubscribed. */
  place$(): Observable<Turn>;
  /** Something was given back: lets the waiters try in order, until one that follows those who got in is refused. */
  wake(): void;
  /** Lets the waiters try in order, until one is refused. */
  advance(): void;
  /** Told by admission each time a permit is granted. */
  granted(): void;
  /** A waiter is about to try; gives what ends its try, or nothing while another one's answer is to be awaited first. */
  begin?(): (() => void) | undefined;
  /** Others come back in the same instant: each waits up to so much longer where it knows when asking can help; default 0. */
  readonly spreadMs?: number;
  readonly length: number;
}

export interface WaitingLineOptions {
  /** Whether somebody has got in is known later: then one tries at a time, the next one when that has got in. */
  readonly answersLater?: boolean;
  readonly spreadMs?: number;
}

export function createWaitingLine({ answersLater = false, spreadMs = 0 }: WaitingLineOptions = {}): WaitingLine {
  const places = new Set<() => Turn>();
  let grants = 0;
  let grantsFollowed = 0;
  let trying = false;

  function letIn({ atLeastOne }: { atLeastOne: boolean }): void {
    const atFirst = grants;
    for (const tryNow of [...places]) {
      const before = grants;
      // One that left meanwhile does not hear it.
      tryNow();
      if (grants === before && (grants > atFirst || !atLeastOne)) return;
    }
  }

  function letOneTry(): void {
    if (!trying) [...places].find((tryNow) => tryNow().taken);
  }

  /** Somebody has got in since: there may be room for one more. */
  function follow(): void {
    if (grants === grantsFollowed) return;
    grantsFollowed = grants;
    letOneTry();
  }

  function begin(): (() => void) | undefined {
    if (trying) return undefined;
    trying = true;
    return () => {
      trying = false;
      follow();
    };
  }

  return {
    // A line of callbacks is a word RxJS does not have: order among subscribers, and a stop after the first that got in.
    place$: () =>
      new Observable((subscriber) => {
        const tryNow = (): Turn => {
          const turn = { taken: false };
          subscriber.next(turn);
          return turn;
        };
        places.add(tryNow);
        return () => {
          places.delete(tryNow);
          if (answersLater && !trying) follow();
        };
      }),
    wake: () => (answersLater ? letOneTry() : letIn({ atLeastOne: true })),
    // Who asks a shared backend asks for himself: what is free by time may go to another process meanwhile.
    advance: () => (answersLater ? undefined : letIn({ atLeastOne: false })),
    granted: () => { grants += 1; },
    ...(answersLater && { begin }),
    spreadMs,
    get length() {
      return places.size;
    },
  };
}
