import type { Observable } from 'rxjs';
import { toAsyncIterable } from './toAsyncIterable.js';
import type { Held, ReaderOptions } from './toAsyncIterable.js';

/**
 * The same as a web stream, with the buffer and the end of `toAsyncIterable`: subscribes at the first read and pulls on demand alone.
 *
 * An error of the source, or `SlowReaderError`, comes after what was read before it. `cancel()` unsubscribes in the same turn,
 * also while a read is pending, and so do an aborted `pipeTo` and a cancelled `Response` body. Throws `ConfigError` for
 * options that cannot work.
 *
 *     const line = map((item: StreamItem) => encoder.encode(JSON.stringify(item) + '\n'));
 *     return new Response(toReadableStream((held$) => gateway.stream$(request, { held$ }).pipe(line)));
 */
export function toReadableStream<T>(stream: Observable<T> | Held<T>, options?: ReaderOptions): ReadableStream<T> {
  return webStreamOf(toAsyncIterable(stream, options));
}

/** What an iterator has left. */
export function webStreamOf<T>(iterator: AsyncIterator<T>): ReadableStream<T> {
  let cancelled = false;
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (cancelled) return;
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        cancelled = true;
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
