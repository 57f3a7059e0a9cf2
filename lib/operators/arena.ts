import { Subscription } from 'rxjs';
import type { Subscriber } from 'rxjs';

/** What runs side by side until there is a result; a class, since one is held for each stream that may be hedged. */
export class Arena<T> {
  /** Every attempt and every signal. */
  readonly all = new Subscription();
  protected readonly out: Subscriber<T>;
  private subscribing = 0;
  private result: (() => void) | undefined;

  constructor(out: Subscriber<T>) {
    this.out = out;
  }

  /** Tears all down, then passes the result on: once, and not before what is being subscribed can be torn down. */
  end(pass: () => void): void {
    if (this.result !== undefined) return;
    this.result = pass;
    this.all.unsubscribe();
    if (this.subscribing === 0) pass();
  }

  fail(error: unknown): void {
    this.end(() => this.out.error(error));
  }

  /** What throws in it fails the result. */
  guarded(step: () => void): void {
    if (this.all.closed) return;
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The same, for a step that subscribes. */
  within(step: () => void): void {
    this.subscribing += 1;
    this.guarded(step);
    this.subscribing -= 1;
    if (this.subscribing === 0) this.result?.();
  }
}
