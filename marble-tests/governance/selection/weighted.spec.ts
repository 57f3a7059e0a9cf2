import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { of } from 'rxjs';
import type { Gate } from '../../../lib/governance/gate.js';
import type { Candidate } from '../../../lib/governance/selection/rank.js';
import { countOf, success, ticketFor, turnstile, unsent } from './turnstile.js';
import type { Turnstile } from './turnstile.js';

/** Sums of fractions are not exact. */
const aRequest = 1 + 1e-9;

const weights = fc.array(fc.integer({ min: 1, max: 500 }).map((tenths) => tenths / 10), { minLength: 2, maxLength: 7 });
const sourcesOf = (all: readonly number[]): Candidate[] => all.map((weight, index) => ({ id: `s${index}`, weight }));
const idsOf = (sources: readonly Candidate[]): string[] => sources.map(({ id }) => id);

/** How far each source gets ahead of its share, and behind it, at the worst moment of so many turns. */
function errors(stile: Turnstile, sources: readonly Candidate[], turns: number): { id: string; ahead: number; behind: number }[] {
  const whole = sources.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const granted = stile.turns(turns);
  return sources.map(({ id, weight = 1 }) => {
    let mine = 0;
    const off = granted.map((turn, index) => (mine += turn === id ? 1 : 0) - ((index + 1) * weight) / whole);
    return { id, ahead: Math.max(0, ...off), behind: Math.max(0, ...off.map((error) => -error)) };
  });
}

describe('weighted', () => {
  test('shares go by weight and are spread, not in blocks', () => {
    const stile = turnstile('weighted', [{ id: 'a', weight: 5 }, { id: 'b', weight: 1 }, { id: 'c', weight: 1 }]);
    expect(stile.turns(14).join('')).toBe('aaabaacaaabaac');
  });

  test('without weights it is a rotation in the given order', () => {
    expect(turnstile('weighted', [{ id: 'a' }, { id: 'b' }, { id: 'c' }]).turns(9).join('')).toBe('abcabcabc');
  });

  test('with all runnable no source is ever a whole request off its share, whatever the weights', () => {
    fc.assert(
      fc.property(weights, (all) => {
        const sources = sourcesOf(all);
        for (const { ahead, behind } of errors(turnstile('weighted', sources), sources, 300)) {
          expect(ahead).toBeLessThan(aRequest);
          expect(behind).toBeLessThan(aRequest);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('with requests in flight at once the shares are the same as one after another', () => {
    const sources = [{ id: 'a', weight: 3 }, { id: 'b', weight: 2 }];
    const [together, alone] = [turnstile('weighted', sources), turnstile('weighted', sources)];
    const turns = Array.from({ length: 20 }, () => together.letIn());
    expect(turns.map(({ sourceId }) => sourceId)).toEqual(alone.turns(20));
    for (const { permit } of turns) permit.settle(success);
    expect(together.turns(20)).toEqual(alone.turns(20));
  });

  test('while some are away the others share by their weights alone', () => {
    const stile = turnstile('weighted', [{ id: 'a', weight: 4 }, { id: 'b', weight: 2 }, { id: 'c', weight: 1 }]);
    const turns = stile.turns(300, ['b', 'c']);
    expect(Math.abs(countOf(turns, 'b') - 200)).toBeLessThanOrEqual(1);
  });

  test.each([[100], [10_000]])('a source that was away for %d turns comes back with at most one request of claim, not with a burst', (away) => {
    const sources = [{ id: 'a', weight: 1 }, { id: 'b', weight: 1 }, { id: 'c', weight: 2 }];
    for (const { id } of sources) {
      const stile = turnstile('weighted', sources);
      stile.turns(7);
      stile.turns(away, idsOf(sources).filter((other) => other !== id));
      const returned = errors(stile, sources, 200).find((error) => error.id === id)!;
      expect(returned.ahead).toBeLessThan(2);
    }
  });

  test('after any comings and goings nobody gets two requests more than its share, and shares hold at once', () => {
    const phases = fc.array(fc.record({ mask: fc.integer({ min: 1, max: 127 }), turns: fc.integer({ min: 1, max: 40 }) }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(weights, phases, (all, comings) => {
        const sources = sourcesOf(all);
        const stile = turnstile('weighted', sources);
        for (const { mask, turns } of comings) {
          const present = idsOf(sources).filter((_, index) => (mask >> index) % 2 === 1);
          if (present.length > 0) stile.turns(turns, present);
        }
        // Whoever served for several that were away may wait for the one request that each of them is owed.
        for (const { ahead, behind } of errors(stile, sources, 200)) {
          expect(ahead).toBeLessThan(2);
          expect(behind).toBeLessThan(sources.length);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a turn that was not sent is taken back, in whatever order turns end', () => {
    fc.assert(
      fc.property(weights, fc.array(fc.nat(), { minLength: 5, maxLength: 30 }), (all, places) => {
        const sources = sourcesOf(all);
        const stile = turnstile('weighted', sources);
        const taken = places.map((place) => ({ place, turn: stile.letIn() }));
        for (const { turn } of taken.sort((a, b) => a.place - b.place)) turn.permit.settle(unsent);
        for (const { ahead, behind } of errors(stile, sources, 60)) expect(Math.max(ahead, behind)).toBeLessThan(aRequest);
      }),
      { numRuns: 40 },
    );
    const stile = turnstile('weighted', [{ id: 'a', weight: 1 }, { id: 'b', weight: 3 }]);
    for (let times = 0; times < 50; times += 1) stile.letIn().permit.settle(unsent);
    expect(stile.turns(4).join('')).toBe('bbab');
  });

  test('weights at the ends of what a number holds still give an order', () => {
    const stile = turnstile('weighted', [{ id: 'a', weight: 1e308 }, { id: 'b', weight: 1e308 }, { id: 'c', weight: 1e-320 }]);
    const turns = stile.turns(40);
    expect([countOf(turns, 'a'), countOf(turns, 'b')]).toEqual([20, 20]);
    expect(stile.order().sort()).toEqual(['a', 'b', 'c']);
  });

  test('sources of another priority take nothing from a share', () => {
    const sources = [{ id: 'a', weight: 3 }, { id: 'b', weight: 2 }];
    const [stile, alone] = [turnstile('weighted', [...sources, { id: 'reserve', weight: 9, priority: 1 }]), turnstile('weighted', sources)];
    expect(stile.order().at(-1)).toBe('reserve');
    for (let times = 0; times < 20; times += 1) {
      expect(stile.turns(3)).toEqual(alone.turns(3));
      stile.turns(times % 3, ['reserve']);
    }
  });

  test('a source the scope does not know is let in without touching the shares', () => {
    const stile = turnstile('weighted', [{ id: 'a', weight: 2 }, { id: 'b', weight: 1 }]);
    const open: Gate = { enter: () => of({ progress: () => undefined, settle: () => undefined }) };
    for (let times = 0; times < 5; times += 1) stile.selection.counted(open).enter(ticketFor('x')).subscribe();
    expect(stile.turns(6).join('')).toBe('aabaab');
  });
});
