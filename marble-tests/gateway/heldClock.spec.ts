import { describe, expect, test } from '@jest/globals';
import { BehaviorSubject, NEVER, Subject, firstValueFrom, map, merge, mergeMap, of, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { heldClock } from '../../lib/gateway/heldClock.js';
import { createMonotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { marbles } from '../support/marbles.js';

const said = { f: false, t: true };

/** The time of the clock at these times of the scheduler. */
function timesOf(clock: SchedulerLike, atMs: readonly number[]): Observable<number> {
  return merge(...atMs.map((ms) => timer(ms).pipe(map(() => clock.now()))));
}

function collect<T>(value$: Observable<T>): T[] {
  const values: T[] = [];
  value$.subscribe((value) => values.push(value));
  return values;
}

const pending = (scheduler: TestScheduler): number => scheduler.actions.length;

describe('heldClock', () => {
  test('does what the diagram in its docstring shows', marbles(({ hot, scheduler, expectObservable, flush }) => {
    const told$ = hot('f---t-------f-----', said);
    const work = '     -------------(*|) ';

    const { clock, held$ } = heldClock(scheduler, told$);
    held$.subscribe();
    const times = collect(timesOf(clock, [0, 1, 2, 3, 4, 5, 11, 12, 13, 17]));
    expectObservable(timer(5, clock).pipe(map(() => '*'))).toBe(work);
    flush();
    expect(times).toEqual([0, 1, 2, 3, 4, 4, 4, 4, 5, 9]);
  }));

  test('is its scheduler where nothing is held, and where nobody listens', marbles(({ cold, scheduler, expectObservable, flush }) => {
    const free = heldClock(scheduler, NEVER);
    const unheard = heldClock(scheduler, of(true));
    free.held$.subscribe();
    for (const { clock } of [free, unheard]) {
      expectObservable(timer(3, clock)).toBe('---(0|)', [0]);
      expectObservable(cold('-a').pipe(map(() => clock.now()))).toBe('-1', [0, 1]);
    }
    flush();
  }));

  test('what it tells the source is what it is told, once per change', marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
    const told$ = cold('  f-t-t-f-f-t-|', said);
    const unsub = '       -----!       ';
    expectObservable(heldClock(scheduler, told$).held$).toBe('f-t---f---t-|', said);
    expectObservable(heldClock(scheduler, told$).held$, unsub).toBe('f-t---', said);
    expectObservable(heldClock(scheduler, cold('t-#', said)).held$).toBe('t-#', said);
    expectSubscriptions(told$.subscriptions).toBe(['^-----------!', '^----!']);
  }));

  test.each([
    ['due before it is held', 'f---t----f', 3, 3],
    ['due in the instant in which it is held', 'f---t----f', 4, 4],
    ['due while it stands', 'f---t----f', 7, 12],
    ['due after it has gone on', 'f---t----f', 20, 25],
    ['held twice within its wait', 'f-t-f-t---f', 8, 14],
    ['held from the start', 't----f', 3, 8],
    ['told again and again', 't-t-tf', 3, 8],
    ['told in one instant that it is held and is not', '--(tf)', 7, 7],
  ])('work that is %s', (_, told, delayMs, expectedMs) => {
    marbles(({ hot, scheduler, flush }) => {
      const { clock, held$ } = heldClock(scheduler, hot(told, said));
      const doneMs: number[] = [];
      held$.subscribe();
      // In the turn after the first thing it is told.
      scheduler.schedule(() => clock.schedule(() => doneMs.push(scheduler.now()), delayMs));
      flush();
      expect(doneMs).toEqual([expectedMs]);
    })();
  });

  test('work that is scheduled while it stands waits for its whole delay from then on, and a turn does not wait', marbles(({ hot, scheduler, flush }) => {
    const { clock, held$ } = heldClock(scheduler, hot('--t-------f', said));
    const doneMs: [string, number][] = [];
    held$.subscribe();
    timer(5).subscribe(() => {
      clock.schedule(() => doneMs.push(['work', scheduler.now()]), 3);
      clock.schedule(() => doneMs.push(['a turn', scheduler.now()]), 0);
    });
    flush();
    expect(doneMs).toEqual([['a turn', 5], ['work', 13]]);
  }));

  test('state comes with the work', marbles(({ hot, scheduler, flush }) => {
    const { clock, held$ } = heldClock(scheduler, hot('-t--f', said));
    const seen: unknown[] = [];
    held$.subscribe();
    clock.schedule((state) => seen.push(state), 2, 'late');
    clock.schedule((state) => seen.push(state), 0, 'at once');
    flush();
    expect(seen).toEqual(['at once', 'late']);
  }));

  test.each([
    ['completes', '-t---|'],
    ['fails', '-t---#'],
    ['has no listener any more', '-t----'],
  ])('goes on where the reader\'s word %s', (_, told) => {
    marbles(({ hot, scheduler, flush }) => {
      const { clock, held$ } = heldClock(scheduler, hot(told, said));
      const listening = held$.subscribe({ error: () => undefined });
      const times = collect(timesOf(clock, [1, 5, 6, 8]));
      const doneMs: number[] = [];
      clock.schedule(() => doneMs.push(scheduler.now()), 3);
      timer(5).subscribe(() => listening.unsubscribe());
      flush();
      expect(times.slice(0, 1)).toEqual([1]);
      expect(times.slice(2)).toEqual([2, 4]);
      expect(doneMs).toEqual([7]);
    })();
  });

  test('a listener that comes back holds it again, and two of one word hold it once', marbles(({ scheduler, flush }) => {
    const told$ = new BehaviorSubject(true);
    const { clock, held$ } = heldClock(scheduler, told$);
    const first = held$.subscribe();
    timer(2).subscribe(() => first.unsubscribe());
    merge(timer(4), timer(6)).pipe(mergeMap(() => held$)).subscribe();
    timer(8).subscribe(() => told$.next(false));
    const times = collect(timesOf(clock, [1, 3, 5, 7, 9]));
    flush();
    expect(times).toEqual([0, 1, 2, 2, 3]);
  }));

  test('X1: what is unsubscribed while it stands does not happen', marbles(({ hot, scheduler, flush }) => {
    const { clock, held$ } = heldClock(scheduler, hot('-t--------f', said));
    const done: string[] = [];
    held$.subscribe();
    const before = clock.schedule(() => done.push('unsubscribed before it was due'), 5);
    const after = clock.schedule(() => done.push('unsubscribed after it was due'), 3);
    clock.schedule(() => done.push('kept'), 4);
    timer(2).subscribe(() => before.unsubscribe());
    timer(6).subscribe(() => after.unsubscribe());
    flush();
    expect(done).toEqual(['kept']);
    expect(pending(scheduler)).toBe(0);
  }));

  test('T2: while it stands nothing runs, however long that takes', marbles(({ scheduler, flush }) => {
    const told$ = new Subject<boolean>();
    const { clock, held$ } = heldClock(scheduler, told$);
    const doneMs: number[] = [];
    held$.subscribe();
    told$.next(true);
    for (const delayMs of [5, 10, 15]) clock.schedule(() => doneMs.push(clock.now()), delayMs);
    timer(20, scheduler).subscribe(() => {
      expect(pending(scheduler)).toBe(1);
    });
    timer(3_600_000, scheduler).subscribe(() => told$.next(false));
    flush();
    expect(doneMs).toEqual([5, 10, 15]);
    expect(scheduler.now()).toBe(3_600_015);
  }));

  test('in real time, on the scheduler of production', async () => {
    const scheduler = createMonotonicScheduler();
    const told$ = new BehaviorSubject(true);
    const { clock, held$ } = heldClock(scheduler, told$);
    held$.subscribe();
    const startMs = scheduler.now();
    const standsAt = clock.now();
    const gone = clock.schedule(() => { throw new Error('unsubscribed work was done'); }, 10);
    const due = firstValueFrom(timer(30, clock).pipe(map(() => scheduler.now() - startMs)));
    await firstValueFrom(timer(60, scheduler));
    expect(clock.now()).toBe(standsAt);
    gone.unsubscribe();
    told$.next(false);
    expect(await due).toBeGreaterThanOrEqual(90);
  });
});
