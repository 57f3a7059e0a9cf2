import { describe, test } from '@jest/globals';
import fc from 'fast-check';
import { TestScheduler } from 'rxjs/testing';
import { expectRules } from '../support/anyCall/expectRules.js';
import { playWorld } from '../support/anyCall/playWorld.js';
import { anyWorld } from '../support/anyCall/world.js';

const worlds = 1000;
// The same worlds each time, so that a red run is news about the code; to hunt elsewhere, change it.
const seed = 20_261_130;

describe('any call', () => {
  test('X1-X3, E1, M1-M5, W1, H1-H11, H15, R2-R7, B2, B3, G1, G3: hold whatever sources, settings and callers do', () => {
    fc.assert(
      fc.property(anyWorld, (world) => {
        const scheduler = new TestScheduler(() => undefined);
        scheduler.run(() => expectRules(playWorld(world, scheduler)));
      }),
      { numRuns: worlds, seed },
    );
  }, 120_000);
});
