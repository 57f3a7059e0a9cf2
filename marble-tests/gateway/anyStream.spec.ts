import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TestScheduler } from 'rxjs/testing';
import { playWorld } from '../support/anyCall/playWorld.js';
import type { Ask } from '../support/anyCall/playWorld.js';
import { anyWorld } from '../support/anyCall/world.js';
import { expectStreamRules } from '../support/anyStream/expectStreamRules.js';
import type { JudgedStream } from '../support/anyStream/judgedStream.js';
import { rowsOf, wholeCalls } from '../support/wholeCalls.js';

const worlds = 500;
// The same worlds each time, so that a red run is news about the code; to hunt elsewhere, change it.
const seed = 20_261_130;

const anyStreamedWorld = anyWorld.map(({ calls, ...world }) => ({ ...world, calls: calls.map((call) => ({ ...call, stream: true })) }));
const passedOn: Ask = ({ stream$ }, request, options) => stream$(request, options);

test('H11, H12, X1-X3, E1, M1-M5, W1, H1-H3, H5, H15, R2-R7, G1, G3: any answer that is passed on, whatever sources, settings and callers do', () => {
  const calls: JudgedStream[] = [];
  fc.assert(
    fc.property(anyStreamedWorld, (world) => {
      const scheduler = new TestScheduler(() => undefined);
      scheduler.run(() => calls.push(...expectStreamRules(playWorld(world, scheduler, passedOn))));
    }),
    { numRuns: worlds, seed },
  );
  // What the rules are about must have happened often enough.
  const committed = calls.flatMap((call) => (call.committed === undefined ? [] : [{ ...call, row: call.committed.attempt.row }]));
  const counted = (which: (call: (typeof committed)[number]) => boolean): number => committed.filter(which).length;
  expect(counted(({ response }) => response !== undefined)).toBeGreaterThan(100);
  expect(counted(({ row, response }) => row.errorClass !== 'caller_cancelled' && response === undefined)).toBeGreaterThan(50);
  expect(counted(({ row }) => row.role === 'backup')).toBeGreaterThan(20);
  expect(counted(({ rounds }) => rounds.at(-1)!.some(({ row }) => row.errorClass === 'hedge_cancelled'))).toBeGreaterThan(20);
  expect(counted(({ rounds }) => rounds.length > 1)).toBeGreaterThan(20);
}, 60_000);

test('H12: at the same instant the primary speaks, also where the backup was scheduled first', wholeCalls(({ gatewayOf, expectStream, flush }) => {
  // The empty frame makes the primary's first increment be scheduled after the backup's.
  const gateway = gatewayOf(['e5.5 d6"a" f7', 'd1"b" f2'], { hedgeAfterMs: 5000 });
  const items = { s: { type: 'start', source: 'a/1', attempts: 2, hedges: 1 }, e: { text: '' }, a: { text: 'a' }, f: { type: 'finish' }, r: { type: 'end' } };
  expectStream(gateway).toSay('6s (sea) 995ms (fr|)', items);
  flush();
  expect(rowsOf(gateway, 'source', 'errorClass', 'won').sort()).toEqual([['a/1', null, true], ['b/1', 'hedge_cancelled', false]]);
}));
