import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countOf, named, success, turnstile, unsent } from './turnstile.js';

const ids = ['a', 'b', 'c', 'd'];

describe('round_robin', () => {
  test('with all runnable it is an exact rotation in the given order', () => {
    expect(turnstile('round_robin', named('a', 'b', 'c')).turns(9).join('')).toBe('abcabcabc');
  });

  test('requests let in within one turn rotate just so, though none has ended', () => {
    const stile = turnstile('round_robin', named('a', 'b', 'c'));
    const turns = Array.from({ length: 9 }, () => stile.letIn());
    expect(turns.map(({ sourceId }) => sourceId).join('')).toBe('abcabcabc');
    for (const { permit } of turns.reverse()) permit.settle(success);
    expect(stile.turns(3).join('')).toBe('abc');
  });

  test('a source that was away gets one turn first, not a burst', () => {
    const stile = turnstile('round_robin', named('a', 'b', 'c'));
    stile.turns(3);
    stile.turns(1000, ['b', 'c']);
    expect(stile.turns(9).join('')).toBe('abcabcabc');
  });

  test('with any comings and goings nobody gets two turns before one that could be asked all the while', () => {
    const availability = fc.array(fc.subarray(ids, { minLength: 1 }), { minLength: 5, maxLength: 60 });
    fc.assert(
      fc.property(availability, (rounds) => {
        const stile = turnstile('round_robin', named(...ids));
        const turns = rounds.map((runnable) => stile.letIn(runnable).sourceId);
        for (const waiting of ids) {
          let passedBy: string[] = [];
          turns.forEach((turn, index) => {
            if (turn === waiting || !rounds[index]!.includes(waiting)) passedBy = [];
            else passedBy.push(turn);
            if (new Set(passedBy).size < passedBy.length) throw new Error(`${waiting} was passed over by ${passedBy.join()}`);
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  test('two sources that are always runnable differ by one turn at most, whatever the others do', () => {
    fc.assert(
      fc.property(fc.array(fc.subarray(['c', 'd']), { minLength: 1, maxLength: 60 }), (rounds) => {
        const stile = turnstile('round_robin', named(...ids));
        const turns: string[] = [];
        for (const others of rounds) {
          turns.push(stile.letIn(['a', 'b', ...others]).sourceId);
          expect(Math.abs(countOf(turns, 'a') - countOf(turns, 'b'))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('a turn that was not sent is none', () => {
    const stile = turnstile('round_robin', named('a', 'b', 'c'));
    stile.turns(4);
    expect(stile.order().join('')).toBe('bca');
    stile.letIn().permit.settle(unsent);
    expect(stile.order().join('')).toBe('bca');
  });

  test('a turn that was not sent takes no later turn of the same source with it', () => {
    const stile = turnstile('round_robin', named('a', 'b'));
    const first = stile.letIn(['a']);
    stile.turns(1, ['b']);
    stile.turns(1, ['a']);
    first.permit.settle(unsent);
    expect(stile.order().join('')).toBe('ba');
  });

  test('a lower priority number goes first, and each priority has its own rotation', () => {
    const stile = turnstile('round_robin', [{ id: 'x', priority: 1 }, { id: 'a' }, { id: 'y', priority: 1 }, { id: 'b' }]);
    expect(stile.turns(4).join('')).toBe('abab');
    expect(stile.turns(4, ['x', 'y']).join('')).toBe('xyxy');
    expect(stile.order().join('')).toBe('abxy');
  });
});
