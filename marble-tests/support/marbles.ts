import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/** jest's equality does not look at an error's name, code or message, so they are compared as plain values. */
function comparable(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, code } = value as Error & { code?: unknown };
    return { name, message, code };
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, comparable(inner)]));
  }
  return value;
}

export interface MarbleHelpers extends RunHelpers {
  readonly scheduler: TestScheduler;
}

/** A test body in virtual time: one frame is one millisecond. */
export function marbles(body: (helpers: MarbleHelpers) => void): () => void {
  return () => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(comparable(actual)).toStrictEqual(comparable(expected));
    });
    scheduler.run((helpers) => body({ ...helpers, scheduler }));
  };
}
