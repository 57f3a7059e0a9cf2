import { BehaviorSubject, Subject, Subscription, defer, takeUntil } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { SlowReaderError } from '../model/errors.js';

export interface ReadingOptions<T> {
  /** Makes what is subscribed to; `held$` says when it is to pause. */
  readonly stream: (held$: Observable<boolean>) => Observable<T>;
  readonly maxWaiting: number;
  readonly patienceS: number;
  readonly scheduler: SchedulerLike;
  /** There is something to take; it may be taken at once. */
  readonly onNews: () => void;
}

/** One subscription, with the values that wait for their reader. */
export interface Reading<T> {
  /** Subscribes, the first time. */
  begin(this: void): void;
  /** Whether there is something to take. */
  isReady(this: void): boolean;
  /** What is next: the values, then the error, thrown once, then the end for ever. */
  take(this: void): IteratorResult<T, undefined>;
  /** Unsubscribes in the same turn; there is nothing to take any more. */
  leave(this: void): void;
}

/**
 * A source that obeys may still push what it has already read: 64 KiB from a socket are up to 1,500 deltas. Ten times as many mean
 * one that does not obey, or cannot.
 */
const maxAfterHold = 16_384;

export function openReading<T>({ stream, maxWaiting, patienceS, scheduler, onNews }: ReadingOptions<T>): Reading<T> {
  const kept: T[] = [];
  const held$ = new BehaviorSubject(false);
  const left$ = new Subject<void>();
  let begun = false;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let held = false;
  let patience = Subscription.EMPTY;

  function hold(next: boolean): void {
    patience.unsubscribe();
    if (next) patience = scheduler.schedule(() => giveUp(`nothing was read for ${patienceS} s`), patienceS * 1000);
    if (next === held) return;
    held = next;
    held$.next(next);
  }

  function end(failed?: { readonly error: unknown }): void {
    if (over) return;
    over = true;
    failure = failed;
    patience.unsubscribe();
    left$.next();
    held$.complete();
    onNews();
  }

  function giveUp(reason: string): void {
    const advice = 'read faster, unsubscribe when you have what you need, or raise maxWaiting or patienceS';
    end({ error: new SlowReaderError(`the stream was given up with ${kept.length} values waiting for its reader: ${reason}; ${advice}`) });
  }

  function keep(value: T): void {
    kept.push(value);
    onNews();
    if (kept.length >= maxWaiting + maxAfterHold) giveUp(`over ${maxAfterHold} more came after maxWaiting=${maxWaiting}`);
    else if (!held && kept.length >= maxWaiting) hold(true);
  }

  function begin(): void {
    if (begun) return;
    begun = true;
    // A door: whoever reads has no Observable to return.
    defer(() => stream(held$)).pipe(takeUntil(left$)).subscribe({ next: keep, error: (error: unknown) => end({ error }), complete: () => end() });
  }

  function take(): IteratorResult<T, undefined> {
    if (kept.length > 0) {
      const value = kept.shift() as T;
      if (held && !over) hold(kept.length > maxWaiting / 2);
      return { done: false, value };
    }
    const failed = failure;
    failure = undefined;
    if (failed !== undefined) throw failed.error;
    return { done: true, value: undefined };
  }

  return {
    begin,
    isReady: () => over || kept.length > 0,
    take,
    leave() {
      begun = true;
      kept.length = 0;
      failure = undefined;
      end();
    },
  };
}
