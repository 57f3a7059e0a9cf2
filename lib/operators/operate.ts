import { Observable, Subscriber } from 'rxjs';
import type { OperatorFunction, Subscription } from 'rxjs';

/** What an operator does with what comes; what it leaves out is passed on. */
export interface Handlers<T> {
  next?(value: T): void;
  error?(error: unknown): void;
  complete?(): void;
  /** Runs when the source is torn down and nobody listens any more, whatever has ended it. */
  teardown?(): void;
}

/**
 * An operator of one subscriber, for what would else be a chain of five: a stream lives for minutes, and each subscriber of its chain
 * costs some 500 bytes for as long. `open` is run per subscription, before the source is subscribed, so that its variables are that
 * subscription's own; `source` is the subscription to the source. What a handler throws fails the result. The end of a source that
 * ends while it is subscribed is handled right after, when there is something to tear down.
 */
export function operate<T, R>(open: (out: Subscriber<R>, source: Subscription) => Handlers<T>): OperatorFunction<T, R> {
  return (source$) =>
    new Observable((out) => {
      const inlet = new Inlet<T, R>(out);
      inlet.handlers = open(out, inlet);
      if (!inlet.closed) source$.subscribe(inlet);
      inlet.begun();
      return inlet.handlers.teardown;
    });
}

/** A class, as RxJS's own operators have it: its methods are not made anew for each subscription. */
class Inlet<T, R> extends Subscriber<T> {
  handlers: Handlers<T> = {};
  readonly #out: Subscriber<R>;
  #subscribing = true;
  #pending: (() => void) | undefined;

  constructor(out: Subscriber<R>) {
    // Deprecated as a way to make subscribers, not to derive them; it also ties this one's end to that of `out`.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    super(out);
    this.#out = out;
  }

  protected override _next(value: T): void {
    if (this.handlers.next === undefined) {
      this.#out.next(value as unknown as R);
      return;
    }
    try {
      this.handlers.next(value);
    } catch (error) {
      this.#out.error(error);
    }
  }

  protected override _error(error: unknown): void {
    this.#end(() => (this.handlers.error === undefined ? this.#out.error(error) : this.handlers.error(error)));
  }

  protected override _complete(): void {
    this.#end(() => (this.handlers.complete === undefined ? this.#out.complete() : this.handlers.complete()));
  }

  begun(): void {
    this.#subscribing = false;
    if (this.#pending !== undefined && !this.closed) this.#end(this.#pending);
  }

  #end(pass: () => void): void {
    if (this.#subscribing) {
      this.#pending = pass;
      return;
    }
    try {
      pass();
    } catch (error) {
      this.#out.error(error);
    } finally {
      this.unsubscribe();
    }
  }
}
