import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY, Subject, VirtualAction, VirtualTimeScheduler, catchError, defer, mergeMap, of, takeUntil, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { admitFirst, createAdmission } from '../../lib/governance/admit.js';
import { admitWhenRunnable } from '../../lib/governance/backpressure.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Gate, Outcome, Permit } from '../../lib/governance/gate.js';
import { createQuotaGate } from '../../lib/governance/quota/quotaGate.js';
import { createWaitingLine } from '../../lib/governance/waitingLine.js';
import { finalizeWith } from '../../lib/operators/finalizeWith.js';
import { memoryGovernance, remoteGate, ticket } from './gates.js';

/** One call's way through admission. */
interface Life {
  readonly startMs: number;
  /** How long it holds its permit; `null`: it leaves in the turn in which it is admitted. */
  readonly holdMs: number | null;
  /** It leaves so long after its start, wherever it is then; `null`: it stays to its end. */
  readonly leaveMs: number | null;
  readonly sources: readonly string[];
  readonly outcome: Outcome['type'];
  readonly settles: number;
}

interface World {
  readonly limits: Readonly<Record<string, number>>;
  /** How long the second gate thinks, call by call; `null`: there is none, and every answer is synchronous. */
  readonly thinkMs: readonly number[] | null;
  /** Every so many answers of the second gate are refusals. */
  readonly refuseEvery: number;
  readonly pollEveryMs: number;
  readonly lives: readonly Life[];
}

interface Tally {
  readonly inUse: Record<string, number>;
  readonly waiters: number;
  readonly granted: number;
  readonly released: number;
  readonly overLimit: number;
  readonly served: number;
}

/** By then every life has ended, unless something was lost. */
const longestMs = 100_000;

/** Plays all lives on a virtual clock and counts what is left. */
function live({ limits, thinkMs, refuseEvery, pollEveryMs, lives }: World): Tally {
  const scheduler = new VirtualTimeScheduler(VirtualAction, longestMs);
  const line = createWaitingLine();
  const concurrency = createQuotaGate({ sources: Object.entries(limits).map(([id, maxConcurrency]) => ({ id, maxConcurrency })), now: () => scheduler.now() });
  const tally = { granted: 0, released: 0, overLimit: 0, served: 0 };
  const counted = counting(concurrency, tally, () => Object.entries(concurrency.inUse()).some(([id, count]) => count > (limits[id] ?? 0)));
  const gate = createAdmission({ gates: thinkMs === null ? [counted] : [counted, thinking(thinkMs, refuseEvery, scheduler)], line });

  const callOf = (life: Life): Observable<never> =>
    defer(() => {
      const leave$ = new Subject<void>();
      const admitted$ = admitWhenRunnable({
        tryAdmit: () => admitFirst({ sources: life.sources.map((id) => ({ id })), gate, ticketFor: ({ id }) => ({ ...ticket, sourceId: id }) }),
        patience$: of(undefined),
        refuseWait: () => undefined,
        line,
        pollEveryMs,
        random: () => 1,
        scheduler,
      });
      return admitted$.pipe(
        mergeMap(({ permit }) => work(life, permit, leave$, scheduler).pipe(finalizeWith(({ type }) => {
          if (type === 'completed') tally.served += 1;
          for (let times = 0; times < life.settles; times += 1) permit.settle(type === 'completed' ? outcomeOf(life) : { type: 'cancelled', totalTokens: null });
        }))),
        takeUntil(life.leaveMs === null ? leave$ : timer(life.leaveMs, scheduler)),
        takeUntil(leave$),
      );
    });

  for (const life of lives) timer(life.startMs, scheduler).pipe(mergeMap(() => callOf(life))).subscribe();
  scheduler.flush();
  return { ...tally, inUse: concurrency.inUse(), waiters: line.length };
}

function work({ holdMs }: Life, permit: Permit, leave$: Subject<void>, scheduler: SchedulerLike): Observable<never> {
  return defer(() => {
    permit.progress();
    if (holdMs === null) leave$.next();
    return timer(holdMs ?? 0, scheduler).pipe(mergeMap(() => EMPTY));
  });
}

function outcomeOf({ outcome }: Life): Outcome {
  return outcome === 'unsent' ? { type: outcome } : { type: outcome, totalTokens: null };
}

function counting(gate: Gate, tally: { granted: number; released: number; overLimit: number }, isOver: () => boolean): Gate {
  return {
    enter: (asked) =>
      gate.enter(asked).pipe(
        mergeMap((permit) => {
          tally.granted += 1;
          if (isOver()) tally.overLimit += 1;
          let held = true;
          return of<Permit>({
            progress: () => permit.progress(),
            settle: (outcome) => {
              if (held) tally.released += 1;
              held = false;
              permit.settle(outcome);
            },
          });
        }),
      ),
  };
}

/** Answers late, now and then with a refusal. */
function thinking(thinkMs: readonly number[], refuseEvery: number, scheduler: SchedulerLike): Gate {
  let asked = 0;
  let answered = 0;
  return remoteGate({
    answerMs: () => thinkMs[asked++ % thinkMs.length] ?? 0,
    decide: () => {
      if (++answered % refuseEvery === 0) throw new AdmissionRefused('not now', { sourceId: 'a/1' });
    },
    scheduler,
  });
}

const atRest = (world: World): object => ({ inUse: Object.fromEntries(Object.keys(world.limits).map((id) => [id, 0])), waiters: 0, overLimit: 0 });

describe('permits and places, over whole lives', () => {
  // jest asks for a hundred frames of stack per error; for the thousands of refusals here they would cost more than the test.
  const { stackTraceLimit } = Error;
  beforeAll(() => { Error.stackTraceLimit = 0; });
  afterAll(() => { Error.stackTraceLimit = stackTraceLimit; });

  const lifeOf = (startMs: fc.Arbitrary<number>): fc.Arbitrary<Life> =>
    fc.record({
      startMs,
      holdMs: fc.oneof({ arbitrary: fc.integer({ min: 0, max: 12 }), weight: 5 }, { arbitrary: fc.constant(null), weight: 1 }),
      leaveMs: fc.oneof({ arbitrary: fc.constant(null), weight: 1 }, { arbitrary: fc.integer({ min: 0, max: 30 }), weight: 1 }),
      sources: fc.constantFrom(['a/1'], ['b/1'], ['a/1', 'b/1'], ['b/1', 'a/1']),
      outcome: fc.constantFrom<Outcome['type'][]>('success', 'failure', 'rate-limited', 'cancelled', 'unsent'),
      settles: fc.constantFrom(1, 1, 2),
    });
  const worlds: fc.Arbitrary<World> = fc.record({
    limits: fc.record({ 'a/1': fc.integer({ min: 1, max: 3 }), 'b/1': fc.integer({ min: 1, max: 3 }) }),
    thinkMs: fc.option(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })),
    refuseEvery: fc.integer({ min: 2, max: 9 }),
    pollEveryMs: fc.constantFrom(25, 1000),
    lives: fc.array(lifeOf(fc.integer({ min: 0, max: 60 })), { minLength: 20, maxLength: 20 }),
  });

  test('G1, G3, X1: 10,000 random lives leave no permit and no waiter; what was granted was released; never over the limit', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const tally = live(world);
        expect(tally).toMatchObject(atRest(world));
        expect(tally.released).toBe(tally.granted);
      }),
      { numRuns: 500 },
    );
  });

  test('B4: with synchronous gates nobody who stays is forgotten, though nobody polls', () => {
    const patient = worlds.map((world) => ({ ...world, thinkMs: null, pollEveryMs: 10 * longestMs, lives: world.lives.map((life) => ({ ...life, leaveMs: null, holdMs: life.holdMs ?? 0 })) }));
    fc.assert(
      fc.property(patient, (world) => {
        expect(live(world)).toMatchObject({ ...atRest(world), served: world.lives.length });
      }),
      { numRuns: 200 },
    );
  });

  const steps = Array.from({ length: 31 }, (_, leaveMs) => leaveMs);
  test.each([['synchronous gates', null], ['a gate that thinks', [3]]] as const)('X1: leaving at every step of a life with %s: waiting, undecided, admitted, at the end', (_, thinkMs) => {
    for (const leaveMs of steps) {
      const other: Life = { startMs: 0, holdMs: 10, leaveMs: null, sources: ['a/1'], outcome: 'success', settles: 1 };
      const world: World = { limits: { 'a/1': 1 }, thinkMs, refuseEvery: Infinity, pollEveryMs: 4, lives: [other, { ...other, startMs: 1, leaveMs }, { ...other, startMs: 2 }] };
      const tally = live(world);
      expect({ leaveMs, ...tally }).toMatchObject({ leaveMs, ...atRest(world), released: tally.granted });
      expect(tally.served).toBeGreaterThanOrEqual(2);
    }
  });
});

describe('createMemoryGovernance', () => {
  test('parking and concurrency stand at one gate; permits are told per source', () => {
    const scheduler = new VirtualTimeScheduler();
    const governance = memoryGovernance({ 'a/1': 1, 'b/1': undefined }, scheduler);
    const enter = (sourceId: string): string => {
      let answer = 'in';
      governance.admission.enter({ ...ticket, sourceId }).pipe(catchError((error: unknown) => { answer = (error as Error).message; return EMPTY; })).subscribe();
      return answer;
    };
    expect([enter('a/1'), enter('a/1'), enter('b/1'), enter('b/1')]).toEqual(['in', 'a/1 runs 1 requests already', 'in', 'in']);
    governance.parking.park('b/1', 1000);
    expect(enter('b/1')).toBe('b/1 asked for a pause of 1000 ms more');
    expect(governance.permits()).toEqual({ 'a/1': 1, 'b/1': 2 });
  });
});
