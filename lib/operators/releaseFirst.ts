import { pipe, takeLast } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { finalizeWith } from './finalizeWith.js';

/**
 * Passes on the last value, or the error, only after the source is torn down.
 *
 *     source:   -a-b-|
 *     result:   -----(b|)
 *
 * Without a value it only completes. Unsubscribing tears the source down; nothing is emitted afterwards.
 *
 *     ask('a').pipe(releaseFirst()).subscribe((answer) => console.log(answer, 'and its socket is closed'));
 */
export function releaseFirst<T>(): MonoTypeOperatorFunction<T> {
  return pipe(finalizeWith<T>(() => undefined), takeLast(1));
}
