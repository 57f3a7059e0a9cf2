import { asyncScheduler } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

export interface ReaderOptions {
  /** Values that may wait for the reader before the source is held; default 256. */
  readonly maxWaiting?: number;
  /** How long a full buffer may go unread before the source is given up, in seconds; default 60. */
  readonly patienceS?: number;
  readonly scheduler?: SchedulerLike;
}

/** Makes the stream for a reader that says through `held$` when it can take no more. */
export type Held<T> = (held$: Observable<boolean>) => Observable<T>;

export function toAsyncIterable<T>(source: Observable<T> | Held<T>, { maxWaiting = 256, patienceS = 60, scheduler = asyncScheduler }: ReaderOptions = {}): AsyncIterableIterator<T> {
  throw new Error(`to be written ${typeof source} ${maxWaiting} ${patienceS} ${scheduler.now()}`);
}
