import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { of } from 'rxjs';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Gate, Outcome } from '../../../lib/governance/gate.js';
import type { Candidate } from '../../../lib/governance/selection/rank.js';
import { rank } from '../../../lib/governance/selection/rank.js';
import { createSelection } from '../../../lib/governance/selection/selection.js';
import type { Selection, StrategyName } from '../../../lib/governance/selection/selection.js';
import { named, success, ticketFor, turnstile, unsent } from './turnstile.js';

const strategies: readonly StrategyName[] = ['priority', 'round_robin', 'weighted', 'least_busy', 'steady'];
const ids = ['a', 'b', 'c', 'd', 'e'];

const sourcesOf: fc.Arbitrary<Candidate[]> = fc
  .tuple(fc.shuffledSubarray(ids, { minLength: 1 }), fc.array(fc.record({ priority: fc.integer({ min: 0, max: 2 }), weight: fc.integer({ min: 1, max: 9 }) }, { requiredKeys: [] }), { minLength: 5, maxLength: 5 }))
  .map(([names, facts]) => names.map((id, index) => ({ id, ...facts[index]! })));

/** What may happen to a selection between two looks. */
const happenings = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('turn' as const), runnable: fc.subarray(ids), ends: fc.constantFrom<Outcome | null>(success, unsent, null) }),
    fc.record({ type: fc.constant('ended' as const), source: fc.constantFrom(...ids), latencyMs: fc.integer({ min: 0, max: 60_000 }), silentMs: fc.integer({ min: 0, max: 60_000 }) }),
  ),
  { maxLength: 30 },
);

describe.each(strategies)('%s', (strategy) => {
  test('whatever happened: an order of all that were given, by priority first; looking changes neither them nor the next look', () => {
    fc.assert(
      fc.property(sourcesOf, happenings, (sources, history) => {
        const stile = turnstile(strategy, sources);
        for (const happening of history) {
          stile.clockMs += 1000;
          if (happening.type === 'ended') {
            const { source, latencyMs, silentMs } = happening;
            stile.selection.note({ source, streamed: true, recordGaps: [[0, Math.min(silentMs, latencyMs)]], latencyMs, endedMs: stile.clockMs });
          } else if (sources.some(({ id }) => happening.runnable.includes(id))) {
            const { permit } = stile.letIn(happening.runnable);
            if (happening.ends !== null) permit.settle(happening.ends);
          }
          const before = JSON.stringify(sources);
          const order = stile.selection.rank(Object.freeze(sources));
          expect(JSON.stringify(sources)).toBe(before);
          expect([...order].sort(byId)).toEqual([...sources].sort(byId));
          expect(order.map(({ priority = 0 }) => priority)).toEqual(sources.map(({ priority = 0 }) => priority).sort((a, b) => a - b));
          expect(stile.selection.rank(sources)).toEqual(order);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('how often anybody looks makes no difference to who is let in', () => {
    const sources = [{ id: 'a', weight: 2 }, { id: 'b' }, { id: 'c', weight: 3 }];
    const [watched, left] = [turnstile(strategy, sources), turnstile(strategy, sources)];
    for (let turn = 0; turn < 30; turn += 1) {
      for (let look = 0; look < turn % 4; look += 1) {
        watched.order();
        watched.selection.rank(sources.slice(look));
      }
      expect(watched.turns(1)).toEqual(left.turns(1));
    }
  });

  test('equal sources without a history keep the given order, and those that a call has tried less go first (R2)', () => {
    const { rank: order } = turnstile(strategy, named('c', 'a', 'b')).selection;
    expect(order(named('c', 'a', 'b')).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(rank(named('c', 'a', 'b'), (id) => (id === 'c' ? 1 : 0), order).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(order([])).toEqual([]);
  });
});

describe('priority', () => {
  test('takes no note of anything: the gate stays what it was', () => {
    const gate: Gate = { enter: () => of({ progress: () => undefined, settle: () => undefined }) };
    expect(selectionOf('priority').counted(gate)).toBe(gate);
  });
});

describe('least_busy', () => {
  test('fewest requests in flight first, as they are at the moment of looking', () => {
    const stile = turnstile('least_busy', named('a', 'b', 'c'));
    const turns = Array.from({ length: 6 }, () => stile.letIn());
    expect(turns.map(({ sourceId }) => sourceId).join('')).toBe('abcabc');
    turns[2]!.permit.settle(success);
    expect(stile.order()).toEqual(['c', 'a', 'b']);
    turns[1]!.permit.settle(success);
    expect(stile.order()).toEqual(['b', 'c', 'a']);
  });

  test('a reserve stays one, however idle', () => {
    const stile = turnstile('least_busy', [{ id: 'reserve', priority: 1 }, { id: 'a' }]);
    stile.letIn();
    stile.letIn();
    expect(stile.order()).toEqual(['a', 'reserve']);
  });
});

describe.each(['round_robin', 'weighted'] as const)('the gate that %s counts at', (strategy) => {
  test('passes on entry, progress and settlement, once', () => {
    const heard: string[] = [];
    const gate: Gate = { enter: ({ sourceId }) => { heard.push(sourceId); return of({ progress: () => heard.push('progress'), settle: ({ type }) => heard.push(type) }); } };
    selectionOf(strategy).counted(gate).enter(ticketFor('a')).subscribe((permit) => {
      permit.progress();
      permit.settle(success);
      permit.settle(unsent);
    });
    expect(heard).toEqual(['a', 'progress', 'success']);
  });

  test('G6: and that the request goes out, and that the permit has run out', () => {
    let sent = 0;
    const permit = { progress: () => undefined, settle: () => undefined, sent: () => { sent += 1; }, expired: () => true };
    const expired: unknown[] = [];
    selectionOf(strategy).counted({ enter: () => of(permit) }).enter(ticketFor('a')).subscribe((counted) => {
      counted.sent?.();
      expired.push(counted.expired?.());
    });
    expect([sent, expired]).toEqual([1, [true]]);
  });

  test('knows its no beforehand exactly where the gate behind it does', () => {
    const enter: Gate['enter'] = () => of({ progress: () => undefined, settle: () => undefined });
    const no = new AdmissionRefused('a is full', { sourceId: 'a' });
    const { counted } = selectionOf(strategy);
    expect(counted({ enter, refusal: () => no }).refusal?.(ticketFor('a'))).toBe(no);
    expect('refusal' in counted({ enter })).toBe(false);
  });

  test('takes an unsent turn back before the place is given on, since those who wait look in that very turn', () => {
    const looks: string[] = [];
    const selection = selectionOf(strategy);
    const look = (): void => { looks.push(selection.rank(named('a', 'b')).map(({ id }) => id).join('')); };
    selection.counted({ enter: () => of({ progress: () => undefined, settle: look }) }).enter(ticketFor('a')).subscribe((permit) => {
      look();
      permit.settle(unsent);
      permit.settle(unsent);
    });
    look();
    expect(looks).toEqual(['ba', 'ab', 'ab']);
  });

  test('notes nothing where nobody was let in, nor before anybody is', () => {
    const selection = selectionOf(strategy);
    const gate = selection.counted({ enter: () => of() });
    void gate.enter(ticketFor('a'));
    gate.enter(ticketFor('a')).subscribe();
    expect(selection.rank(named('a', 'b')).map(({ id }) => id)).toEqual(['a', 'b']);
  });
});

function selectionOf(strategy: StrategyName): Selection {
  return createSelection({ strategy, sources: named('a', 'b'), inFlight: () => ({}), now: () => 0 });
}

const byId = (a: Candidate, b: Candidate): number => (a.id < b.id ? -1 : 1);
