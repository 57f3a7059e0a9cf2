import { Observable, Subscriber } from 'rxjs';
import type { OperatorFunction } from 'rxjs';

/**
 * One subscriber of a chain: what comes from the source goes through `onNext`, `onError`, `onComplete`, which pass it on unless a
 * derived class says otherwise. A stream lives for minutes, and each subscriber of its chain is held for as long; of one
 * that is a class, methods are not made anew for each subscription, as closures would be.
 *
 * What a method throws fails the result. The end of a source that ends while it is subscribed is handled right after, when
 * there is something to tear down.
 */
// eslint-disable-next-line rxjs-x/no-subclass -- what RxJS's own operators are made of is not exported
export abstract class Inlet<T, R> extends Subscriber<T> {
  protected readonly out: Subscriber<R>;
  private subscribing = true;
  private pending: Ending | undefined;

  constructor(out: Subscriber<R>) {
    // Deprecated as a way to make subscribers, not to derive them; it also ties this one's end to that of `out`.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    super(out);
    this.out = out;
  }

  /** Runs when the source is torn down and nobody listens any more, whatever has ended it. */
  onTeardown?(): void;

  protected abstract onNext(value: T): void;

  protected onError(error: unknown): void {
    this.out.error(error);
  }

  protected onComplete(): void {
    this.out.complete();
  }

  protected override _next(value: T): void {
    try {
      this.onNext(value);
    } catch (error) {
      this.out.error(error);
    }
  }

  protected override _error(error: unknown): void {
    this.end({ error });
  }

  protected override _complete(): void {
    this.end(completed);
  }

  /** The source has been subscribed. */
  begun(): void {
    this.subscribing = false;
    // Here, where the function that is held knows nothing of the source; else that would be held for as long.
    if (this.onTeardown !== undefined) this.out.add(() => this.onTeardown?.());
    if (this.pending !== undefined && !this.out.closed) this.end(this.pending);
  }

  private end(ending: Ending): void {
    if (this.subscribing) {
      this.pending = ending;
      // Closed at once, since whoever subscribes here in steps looks at that before the next.
      this.unsubscribe();
      return;
    }
    try {
      if (ending === completed) this.onComplete();
      else this.onError(ending.error);
    } catch (error) {
      this.out.error(error);
    } finally {
      this.unsubscribe();
    }
  }
}

interface Ending {
  readonly error: unknown;
}

const completed: Ending = { error: undefined };

/** An operator of one subscriber, which `open` makes for each subscription. */
export function operate<T, R>(open: (out: Subscriber<R>) => Inlet<T, R>): OperatorFunction<T, R> {
  return (source$) =>
    new Observable((out) => {
      const inlet = open(out);
      if (!inlet.closed) source$.subscribe(inlet);
      inlet.begun();
    });
}
