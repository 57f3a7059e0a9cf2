import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createDelayQueues } from '../../lib/clock/delayQueues.js';
import type { Waiting } from '../../lib/clock/delayQueues.js';

interface Entry extends Waiting<Entry> {
  id: number;
}

const step = fc.oneof(
  fc.record({ type: fc.constant('add' as const), delayMs: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ type: fc.constant('delete' as const), nth: fc.nat() }),
  fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3 }) }),
);

describe('createDelayQueues', () => {
  test('T6: agrees with a sorted list, whatever is added, taken out and waited for', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queues = createDelayQueues<Entry>();
        const all: Entry[] = [];
        let model: Entry[] = [];
        let nowMs = 0;
        for (const current of steps) {
          // A clock never gives the same time twice in a row here, so that due times within a delay differ.
          nowMs += 0.001;
          if (current.type === 'pass') nowMs += current.ms;
          if (current.type === 'add') {
            const entry: Entry = { id: all.length, dueMs: nowMs + current.delayMs, queue: undefined, previous: undefined, next: undefined };
            queues.add(entry, current.delayMs);
            all.push(entry);
            model = [...model, entry].sort((a, b) => a.dueMs - b.dueMs);
          }
          if (current.type === 'delete' && all.length > 0) {
            const entry = all[current.nth % all.length]!;
            expect(queues.delete(entry)).toBe(model.includes(entry));
            model = model.filter((other) => other !== entry);
          }
          expect(queues.due(nowMs).map(({ id }) => id)).toEqual(model.filter(({ dueMs }) => dueMs <= nowMs).map(({ id }) => id));
          expect(queues.nextDueMs()).toBe(model[0]?.dueMs ?? Infinity);
          expect(queues.isEmpty()).toBe(model.length === 0);
        }
      }),
    );
  });
});
