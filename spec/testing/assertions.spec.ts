import { describe, expect, test } from '@jest/globals';
import '../../lib/testing/jest.js';
import { assertAtRest, assertCalls, assertHedges, assertRows, assertSockets, gatewayMatchers, like, marbles } from '../../lib/testing/index.js';
import type { MarbleHelpers } from '../../lib/testing/index.js';
import type {} from '../../lib/testing/vitest.js';

const request = { messages: [{ role: 'user', content: 'hi' }] };
const hedged = { sources: { slow: '-a 60s b|', fast: '--x|', spare: '-y|' }, settings: { hedgeStallAfterS: 20 } } as const;

type HedgedGateway = ReturnType<MarbleHelpers['testGateway']> & { readonly sources: Readonly<Record<keyof typeof hedged.sources, unknown>> };

/** Looks at the hedged gateway at a time of its call; by default when all is over. */
function looking(look: (gateway: HedgedGateway) => void, atMs?: number): () => void {
  return marbles(({ testGateway, testScheduler, afterwards }) => {
    const gateway = testGateway(hedged) as HedgedGateway;
    gateway.chat$(request).subscribe();
    if (atMs === undefined) afterwards(() => look(gateway));
    else testScheduler.schedule(() => look(gateway), atMs);
  });
}

function messageOf(act: () => void): string {
  try {
    act();
  } catch (error) {
    return `\n${(error as Error).message}\n`;
  }
  throw new Error('nothing was thrown');
}

describe('assertions about a gateway', () => {
  test('pass where each element has the fields that are given, matchers included', looking((gateway) => {
    assertCalls(gateway, [{ source: 'fast', endedMs: 20_004, callId: expect.any(String) as unknown as string }]);
    assertHedges(gateway, [like({ from: 'slow', to: 'fast', outcome: 'won' })]);
    assertRows(gateway, [{ source: 'slow', errorClass: 'hedge_cancelled' }, { source: 'fast', usage: null }]);
    assertSockets(gateway, { slow: '^ 20s ---!', fast: ['- 20s ^--!'], spare: [] });
    assertSockets(gateway, { spare: '' });
    assertAtRest(gateway);
  }));

  test('a cell that differs is marked', looking((gateway) => {
    expect(messageOf(() => assertRows(gateway, [{ source: 'slow', errorClass: 'transient' }, { source: 'fast', won: true }]))).toBe(`
Row 1 of 2 differs in errorClass: expected "transient", got "hedge_cancelled".

                    source  startedMs  outcome  errorClass         won
row 1  expected     "slow"                      "transient"
       actual       "slow"  0          "error"  "hedge_cancelled"  false
                                                ^^^^^^^^^^^^^^^^^
row 2  as expected  "fast"  20001      "ok"     null               true
`);
    expect(() => assertRows(gateway, [{ errorClass: 'transient' }, {}])).toThrow(expect.objectContaining({ name: 'GatewayAssertionError', code: 'gateway_assertion' }));
  }));

  test('one that is missing and one too many are named', looking((gateway) => {
    expect(messageOf(() => assertCalls(gateway, [{ source: 'slow' }, {}]))).toBe(`
2 calls were expected, but there is 1: call 1, { source: "slow" }, is missing.

                     startedMs  endedMs  outcome  source
call 1  expected                                  "slow"
        actual       (none)
call 2  as expected  0          20004    "ok"     "fast"
`);
    expect(messageOf(() => assertHedges(gateway, []))).toBe(`
No hedge was expected, but there is 1: hedge 1, { atMs: 20001, from: "slow", to: "fast", outcome: "won" }, is one too many.

                   atMs    from    to      outcome
hedge 1  expected  (none)
         actual    20001   "slow"  "fast"  "won"
`);
  }));

  test('one that is missing before one that is wrong: the two are named, and the rest is as expected', marbles(({ testGateway, afterwards }) => {
    const gateway = testGateway({ sources: { only: { script: '-a|', maxConcurrency: 1 } } });
    for (let nth = 0; nth < 11; nth += 1) gateway.chat$(request).subscribe();
    const expected = Array.from({ length: 12 }, (_, nth) => ({ endedMs: nth < 2 ? 2 * nth + 2 : nth === 2 ? 1 : nth === 9 ? 0 : 2 * nth }));
    afterwards(() => expect(messageOf(() => assertCalls(gateway, expected))).toBe(`
12 calls were expected, but there are 11: call 3, { endedMs: 1 }, is missing.

                     startedMs  endedMs  outcome  source
call 1  as expected  0          2        "ok"     "only"
call 2  as expected  0          4        "ok"     "only"
call 3  expected                1
        actual       (none)
call 4  as expected  0          6        "ok"     "only"
call 5  as expected  0          8        "ok"     "only"
call 6  as expected  0          10       "ok"     "only"
call 7  as expected  0          12       "ok"     "only"
call 8  as expected  0          14       "ok"     "only"
… and 4 more calls, 1 of them not as expected
`));
  }));

  test('what is no list is refused', looking((gateway) => {
    expect(() => assertCalls(gateway, { source: 'fast' } as unknown as [])).toThrow('The expected calls are not a list, but { source: "fast" }. Write one: [{ … }].');
  }));

  test('what differs inside a field is told by its path', looking((gateway) => {
    expect(messageOf(() => assertRows(gateway, [{}, { recordGaps: [[0, 2], [2, 5]] }]))).toContain('\n\nrow 2: recordGaps[1][1]: expected 5, got 1\n');
  }));

  test('sockets are drawn source by source; one that is not named is not looked at', looking((gateway) => {
    expect(messageOf(() => assertSockets(gateway, { slow: '^ 20s --!', fast: ['- 20s ^--!', '^'] }))).toBe(`
The socket of "slow" was closed at 20.004 s, 1 ms later than expected (20.003 s).

time      0       20.003s
expected  ^ 20s --!
actual    ^ 20s ---!
differs           ^^

Socket 2 of 2 of "fast" was expected to be opened at 0 ms, but never was (2 were expected, there is 1).

time           0     20.001s
1 as expected  - 20s ^--!
2 expected     ^ 20s ----
2 actual       (none)
differs        ^
`);
    expect(() => assertSockets(gateway as typeof gateway & { sources: Record<string, never> }, { slwo: '^' })).toThrow('There is no scripted source "slwo" in this gateway; there is "slow", "fast", "spare".');
    expect(messageOf(() => assertSockets(gateway as typeof gateway & { sources: Record<string, never> }, { nobody: '^', slow: '^ 20s --!' }))).toMatch(/^\nThere is no scripted source "nobody"[^\n]*\n\nThe socket of "slow" was closed at 20.004 s/);
    expect(() => assertSockets(gateway, { slow: '^--a' })).toThrow('The diagram cannot be read: "a" is no sign of a subscription diagram');
    expect(() => assertSockets(gateway, { slow: '^--!^' })).toThrow('a second "^": write one diagram for each subscription');
  }));

  test('what a gateway still holds is listed, and its open sockets drawn', looking((gateway) => {
    expect(messageOf(() => assertAtRest(gateway))).toBe(`
The gateway is not at rest: it holds 1 call, 2 attempts, 2 permits and 2 open sockets.

call 1 (chat) runs since 0 ms
"slow" has given 1 permit
"fast" has given 1 permit

time     0     20.001s
slow     ^ 20s -
fast     - 20s ^
`);
  }, 20_002));
});

describe('matchers', () => {
  test('pass and fail as the assertions do, and .not turns them round', looking((gateway) => {
    expect(gateway).toHaveCalls([{ source: 'fast' }]);
    expect(gateway).toHaveHedges([{ atMs: 20_001 }]);
    expect(gateway).toHaveRows([{}, { won: true }]);
    expect(gateway).toHaveSockets({ slow: '^ 20s ---!' });
    expect(gateway).toBeAtRest();
    expect(gateway).not.toHaveCalls([]);
    expect(gateway).not.toHaveSockets({ slow: '^' });
    expect(() => expect(gateway).toHaveCalls([{ source: 'slow' }])).toThrow('Call 1 of 1 differs in source: expected "slow", got "fast".');
    expect(() => expect(gateway).not.toHaveCalls([{ source: 'fast' }])).toThrow('The calls were expected not to be these 1, but they are.');
    expect(() => expect(gateway).not.toBeAtRest()).toThrow('The gateway was expected to hold something, but it is at rest.');
    expect(() => expect(5).toBeAtRest()).toThrow('toBeAtRest is for a gateway made by testGateway(…) of polygateway/testing.');
    expect(() => expect(gateway).not.toHaveSockets({ slow: '^', nobody: '^' })).toThrow('There is no scripted source "nobody"');
  }));

  test('are an object for the expect.extend of any framework', looking((gateway) => {
    expect(Object.keys(gatewayMatchers)).toEqual(['toHaveCalls', 'toHaveHedges', 'toHaveRows', 'toHaveSockets', 'toBeAtRest']);
    expect(gatewayMatchers.toHaveCalls(gateway, [])).toMatchObject({ pass: false });
  }));

  // Never run: the compiler alone looks at it.
  test('know their types in jest and in vitest', () => {
    const typesOf = (gateway: HedgedGateway & ReturnType<typeof gatewayOf>, vitest: typeof import('vitest')): void => {
      expect(gateway).toHaveCalls([{ source: 'fast', outcome: 'ok', callId: like('x') }]);
      vitest.expect(gateway).toHaveCalls([{ source: 'fast', outcome: 'ok', callId: vitest.expect.any(String) as string }]);
      vitest.expect(gateway).not.toHaveSockets({ slow: '^' });
      // @ts-expect-error -- calls have no such field
      expect(gateway).toHaveCalls([{ sourc: 'fast' }]);
      // @ts-expect-error -- no such outcome
      expect(gateway).toHaveHedges([{ outcome: 'lots' }]);
      // @ts-expect-error -- calls have no such field
      vitest.expect(gateway).toHaveCalls([{ sourc: 'fast' }]);
      // @ts-expect-error -- no such class
      vitest.expect(gateway).toHaveRows([{ errorClass: 'bad' }]);
      // @ts-expect-error -- no such source
      expect(gatewayOf()).toHaveSockets({ slwo: '^' });
      // @ts-expect-error -- no such source
      vitest.expect(gatewayOf()).toHaveSockets({ slwo: '^' });
      // @ts-expect-error -- no such source
      assertSockets(gatewayOf(), { slwo: '^' });
    };
    expect(typesOf).toBeInstanceOf(Function);
  });
});

declare function gatewayOf(): import('../../lib/testing/index.js').TestGateway<'slow' | 'fast'>;
