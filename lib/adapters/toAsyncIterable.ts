import { asyncScheduler, finalize, from, observable } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { ConfigError } from '../model/errors.js';
import { openReading } from './openReading.js';
import type { Reading } from './openReading.js';

/** How much a reader may lag behind, and for how long. */
export interface ReaderOptions {
  /** Values that may wait for the reader before the source is held; default 256. */
  readonly maxWaiting?: number;
  /** How long a full buffer may go unread before the source is given up, in seconds; default 60. */
  readonly patienceS?: number;
  /** The clock of `patienceS`; default: RxJS's `asyncScheduler`. */
  readonly scheduler?: SchedulerLike;
}

/** Makes the stream for a reader that says through `held$` when it can take no more. */
export type Held<T> = (held$: Observable<boolean>) => Observable<T>;

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets an Observable be read with `for await`: subscribes once, at the first `next()`; values wait for their reader in order.
 *
 * From `maxWaiting` waiting values on (default 256) the source is held: `held$` says `true`, and `false` once they are read down to
 * half. Where a full buffer goes unread for `patienceS` (default 60 s), or 16,384 values more come all the same, as they
 * may from a plain Observable, the source is unsubscribed; what waits can still be read, then comes `SlowReaderError`.
 *
 * An error of the source comes after its values, once. `break`, `return()` and `throw()` unsubscribe in the same turn, also
 * while a `next()` is pending, as does unsubscribing from `from(iterable)`. Throws `ConfigError` for options that cannot work.
 *
 *     for await (const item of toAsyncIterable((held$) => gateway.stream$(request, { held$ }))) {
 *       if (item.type === 'content') process.stdout.write(item.text);
 *     }
 */
export function toAsyncIterable<T>(stream: Observable<T> | Held<T>, options: ReaderOptions = {}): AsyncIterableIterator<T> & AsyncDisposable {
  const { maxWaiting = 256, patienceS = 60, scheduler = asyncScheduler } = options;
  checkOptions(maxWaiting, patienceS);
  const waiters: Waiter<T>[] = [];
  const reading = openReading({ stream: typeof stream === 'function' ? stream : () => stream, maxWaiting, patienceS, scheduler, onNews: serve });

  function serve(): void {
    while (reading.isReady()) {
      const waiter = waiters.shift();
      if (waiter === undefined) return;
      serveOne(reading, waiter);
    }
  }

  const iterator: AsyncIterableIterator<T> & AsyncDisposable = {
    next: () =>
      new Promise((resolve, reject) => {
        waiters.push({ resolve, reject });
        reading.begin();
        serve();
      }),
    async return(value?: unknown) {
      reading.leave();
      return { done: true, value: await value };
    },
    async throw(error: unknown) {
      reading.leave();
      throw await error;
    },
    [Symbol.asyncDispose]: () => {
      reading.leave();
      return Promise.resolve();
    },
    [Symbol.asyncIterator]: () => iterator,
    // Unsubscribing from what `from` makes of an iterator would wait for the next value, which may never come.
    [observable]: () => from({ [Symbol.asyncIterator]: () => iterator }).pipe(finalize(reading.leave)),
  };
  return iterator;
}

function serveOne<T>({ take }: Reading<T>, { resolve, reject }: Waiter<T>): void {
  try {
    resolve(take());
  } catch (error) {
    reject(error);
  }
}

const maxPatienceS = 2 ** 31 / 1000;

function checkOptions(maxWaiting: number, patienceS: number): void {
  const problems = [
    ...(Number.isSafeInteger(maxWaiting) && maxWaiting >= 1 ? [] : [`maxWaiting is ${maxWaiting}; give a whole number from 1 on`]),
    ...(patienceS > 0 && patienceS < maxPatienceS ? [] : [`patienceS is ${patienceS}; give seconds over 0 and up to 24 days`]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}
