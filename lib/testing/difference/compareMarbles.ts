import { MarbleMismatch } from './marbleMismatch.js';
import { mismatchOf } from './mismatchOf.js';

/**
 * What a `TestScheduler` is made with. Times and kinds have to be equal, values deeply; errors by name, code and message, also
 * inside values; `like` and the matchers of any framework decide for themselves.
 *
 * One `TestScheduler` for each test: RxJS keeps its time and its expectations from one run to the next. `marbles` makes it.
 *
 * Throws `MarbleMismatch`, whose message says what differs and when, and draws both in the same columns.
 *
 *     const testScheduler = new TestScheduler(compareMarbles);
 */
export function compareMarbles(actual: unknown, expected: unknown): void {
  const message = mismatchOf(actual, expected);
  if (message !== undefined) throw new MarbleMismatch(message);
}
