import type { Observable } from 'rxjs';
import { toAsyncIterable } from './toAsyncIterable.js';
import type { Held, ReaderOptions } from './toAsyncIterable.js';

export function toReadableStream<T>(source: Observable<T> | Held<T>, options?: ReaderOptions): ReadableStream<T> {
  return ReadableStream.from(toAsyncIterable(source, options)) as ReadableStream<T>;
}
