import { describe, expect, test } from '@jest/globals';
import { filter, takeUntil } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { GatewayEvent } from '../../lib/model/events.js';
import { expectAtRest, expectRowsOfRequests, heldBy } from '../support/atRest.js';
import { hello, virtualGateway } from '../support/virtualGateway.js';
import type { SourceSpec, VirtualGateway } from '../support/virtualGateway.js';
import type { Policy } from '../../lib/gateway/ports.js';

const ways = ['unsubscribe', 'abort', 'close'] as const;

interface Scene {
  readonly name: string;
  readonly sources: readonly (string | SourceSpec)[];
  readonly policy?: Partial<Policy>;
}

const scenes: readonly Scene[] = [
  { name: 'answered', sources: ['d1 f2'] },
  { name: 'hedged and won by the backup', sources: ['d1', 'd1 f2'], policy: { hedgeStallAfterMs: 3000 } },
  { name: 'hedge refused', sources: ['d1 d9 f10', { scripts: ['d1 f2'], maxConcurrency: 0 }], policy: { hedgeStallAfterMs: 3000 } },
  { name: 'limited, then answered', sources: [{ scripts: ['L1(ra=3)', 'd1 f2'] }] },
  { name: 'failed, then answered', sources: [{ scripts: ['T1', 'd1 f2'] }] },
  { name: 'both branches fail', sources: [{ scripts: ['d1 T9', 'd1 f2'] }, 'd1 T2'], policy: { hedgeStallAfterMs: 3000 } },
  { name: 'deadline', sources: ['d1'], policy: { callDeadlineMs: 5000 } },
];

const types: readonly GatewayEvent['type'][] = [
  'call-started', 'call-waiting', 'attempt-started', 'silence-noticed', 'hedge-refused', 'attempt-ended', 'round-decided', 'retry-scheduled', 'source-parked', 'call-ended',
];

/** Ends the one call of a scene from within the nth event of a type. */
function endWithin(scene: Scene, type: GatewayEvent['type'], nth: number, way: (typeof ways)[number]): { gateway: VirtualGateway; scheduler: TestScheduler; happened: boolean } {
  const scheduler = new TestScheduler(() => undefined);
  let happened = false;
  const gateway = scheduler.run(({ flush }) => {
    const made = virtualGateway(scene.sources, scheduler, scene.policy);
    const controller = new AbortController();
    let seen = 0;
    const watching = made.events$.subscribe((event) => {
      if (event.type !== type || (seen += 1) !== nth) return;
      happened = true;
      if (way === 'unsubscribe') call.unsubscribe();
      if (way === 'abort') controller.abort('enough');
      if (way === 'close') made.close();
    });
    const call = made.chat$(hello, { signal: controller.signal }).subscribe({ error: () => undefined });
    flush();
    watching.unsubscribe();
    return made;
  });
  return { gateway, scheduler, happened };
}

describe('what a listener of events$ does to the call it is told of', () => {
  for (const scene of scenes) {
    test(`X1, E1, G3: ended from within any event, a call that is ${scene.name} leaves one row a request and nothing else`, () => {
      const told = types.flatMap((type) => [1, 2].flatMap((nth) => ways.map((way) => ({ type, nth, way })))).filter(({ type, nth, way }) => {
        // A call cannot be left before `subscribe` has returned.
        if (type === 'call-started' && way === 'unsubscribe') return false;
        const { gateway, scheduler, happened } = endWithin(scene, type, nth, way);
        expectAtRest(heldBy([gateway], scheduler));
        expectRowsOfRequests(gateway);
        return happened;
      });
      expect(told.length).toBeGreaterThan(8);
    });
  }

  test('X1: left within its own start it has ended like any other, and asked nobody', () => {
    const scheduler = new TestScheduler(() => undefined);
    scheduler.run(({ flush }) => {
      const gateway = virtualGateway(['d1 f2'], scheduler);
      gateway.chat$(hello).pipe(takeUntil(gateway.events$.pipe(filter(({ type }) => type === 'call-started')))).subscribe();
      flush();
      expect(gateway.events.map(({ type }) => type)).toEqual(['call-started', 'call-ended']);
      expect(gateway.events[1]).toMatchObject({ outcome: 'cancelled', attempts: 0 });
      expect([gateway.sources[0]?.requests, gateway.stats().calls]).toEqual([[], 0]);
    });
  });

  test('a gateway that is closed when a call has just begun answers it no more', () => {
    const { gateway } = endWithin({ name: 'answered', sources: ['d1 f2'] }, 'call-started', 1, 'close');
    expect(gateway.sources[0]?.requests).toEqual([]);
    expect(gateway.events.at(-1)).toMatchObject({ type: 'call-ended', outcome: 'failed', code: 'closed' });
  });
});
