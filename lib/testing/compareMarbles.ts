import { isDeepStrictEqual } from 'node:util';

/** What a `TestScheduler` is made with: `new TestScheduler(compareMarbles)`. */
export function compareMarbles(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${JSON.stringify(actual, null, 1)} is not ${JSON.stringify(expected, null, 1)}`);
}
