import type { OperatorFunction, Subscriber } from 'rxjs';
import { Inlet, operate } from './operate.js';

/** How a subscription ended: the source completed, it failed with `error`, or whoever had subscribed left. */
export type Ending = { type: 'completed' } | { type: 'failed'; error: unknown } | { type: 'unsubscribed' };

export interface Conclusion<T, K, P, R> {
  /** The values that are not passed on; default: none. */
  readonly keeps?: (value: T | K) => value is K;
  /** What the others are passed on as, `undefined`: not at all; default: as they are. */
  readonly passes?: (value: T) => P | undefined;
  /** Called once, with the last value that was kept. */
  readonly conclude: (ending: Ending, kept: K | undefined) => R | undefined;
}

/**
 * Passes values on, but for those that are kept, and concludes when the source has ended and is torn down, but before the end
 * is passed on. What `conclude` returns comes before the completion of a source that has completed.
 *
 *     source:    -a-K-b-|        K is kept
 *     conclude:         *        { type: 'completed' }, K
 *     result:    -a---b-(R|)     R is what it returns
 *
 * If it throws, the result fails with that error; after an unsubscription nobody listens any more: `unsubscribe()` itself
 * throws. Unsubscribing tears the source down, then concludes.
 */
export function concludeWith<T, R = never, K = never, P = T>(conclusion: Conclusion<T, K, P, R>): OperatorFunction<T | K, P | R> {
  return operate((out) => new Concluded(conclusion, out));
}

class Concluded<T, R, K, P> extends Inlet<T | K, P | R> {
  private kept: K | undefined;
  private concluded = false;
  private readonly conclusion: Conclusion<T, K, P, R>;

  constructor(conclusion: Conclusion<T, K, P, R>, out: Subscriber<P | R>) {
    super(out);
    this.conclusion = conclusion;
  }

  override onTeardown(): void {
    if (!this.concluded) this.conclude({ type: 'unsubscribed' });
  }

  protected onNext(value: T | K): void {
    const { keeps, passes } = this.conclusion;
    if (keeps?.(value) === true) {
      this.kept = value;
      return;
    }
    const passed = passes === undefined ? (value as unknown as P) : passes(value as T);
    if (passed !== undefined) this.out.next(passed);
  }

  protected override onError(error: unknown): void {
    this.conclude({ type: 'failed', error });
    this.out.error(error);
  }

  protected override onComplete(): void {
    const last = this.conclude({ type: 'completed' });
    if (last !== undefined) this.out.next(last);
    this.out.complete();
  }

  private conclude(ending: Ending): R | undefined {
    this.concluded = true;
    this.unsubscribe();
    return this.conclusion.conclude(ending, this.kept);
  }
}
