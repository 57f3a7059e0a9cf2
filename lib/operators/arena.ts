import { Subscription } from 'rxjs';
import type { Subscriber } from 'rxjs';

/** What runs side by side until there is a result. */
export interface Arena {
  /** Every attempt and every signal. */
  readonly all: Subscription;
  /** Tears all down, then passes the result on: once, and not before what is being subscribed can be torn down. */
  end(this: void, pass: () => void): void;
  fail(this: void, error: unknown): void;
  /** What throws in it fails the result. */
  guarded(this: void, step: () => void): void;
  /** The same, for a step that subscribes. */
  within(this: void, step: () => void): void;
}

export function openArena(out: Subscriber<unknown>): Arena {
  const all = new Subscription();
  let subscribing = 0;
  let result: (() => void) | undefined;

  function end(pass: () => void): void {
    if (result !== undefined) return;
    result = pass;
    all.unsubscribe();
    if (subscribing === 0) pass();
  }

  const fail = (error: unknown): void => end(() => out.error(error));

  function guarded(step: () => void): void {
    if (all.closed) return;
    try {
      step();
    } catch (error) {
      fail(error);
    }
  }

  function within(step: () => void): void {
    subscribing += 1;
    guarded(step);
    subscribing -= 1;
    if (subscribing === 0) result?.();
  }

  return { all, end, fail, guarded, within };
}
