import { describe, expect, test } from '@jest/globals';
import { EMPTY, Observable, catchError, concat, defer, map, mergeMap, of, repeat, switchMap, tap, throwError, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { NoneAdmitted, admitFirst } from '../../lib/governance/admit.js';
import type { Admitted } from '../../lib/governance/admit.js';
import { admitWhenRunnable, patience } from '../../lib/governance/backpressure.js';
import type { WaitOptions } from '../../lib/governance/backpressure.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Gate } from '../../lib/governance/gate.js';
import { createProgress } from '../../lib/governance/progress.js';
import { createStallClock } from '../../lib/governance/stallClock.js';
import { createWaitingLine } from '../../lib/governance/waitingLine.js';
import { finalizeWith } from '../../lib/operators/finalizeWith.js';
import { marbles } from '../support/marbles.js';
import { cancelled, memoryGovernance, remoteGate, ticket } from './gates.js';

const never = 10_000_000;

describe('patience', () => {
  const patienceOf = (stalledMs: number, age$: Observable<number>): Observable<string> =>
    patience({
      clock: { stalledMs: () => stalledMs, attempting: () => () => undefined },
      progress: { ageMs: () => age$ },
      stallWindowMs: 1000,
      stalled: (ms) => new Error(`stalled for ${ms}`),
    }).pipe(map(() => 'stay'), catchError((error: unknown) => of(String(error))));

  test.each([
    [1000, Infinity, 'stay'],
    [1001, 1000, 'stay'],
    [1001, 0, 'stay'],
    [1001, 1001, 'Error: stalled for 1001'],
    [1001, Infinity, 'Error: stalled for 1001'],
    [99_999_999, 1000, 'stay'],
    [0, Infinity, 'stay'],
  ])('B3: stalled for %i ms, last success %p ms ago, window 1000 ms: %s', (stalledMs, ageMs, expected) => {
    let seen: unknown;
    patienceOf(stalledMs, of(ageMs)).subscribe((value) => { seen = value; });
    expect(seen).toBe(expected);
  });

  test('B3: progress is read only when the call itself has waited too long', () => {
    let read = 0;
    const age$ = defer(() => { read += 1; return of(Infinity); });
    patienceOf(1000, age$).subscribe();
    expect(read).toBe(0);
    patienceOf(1001, age$).subscribe();
    expect(read).toBe(1);
  });

  test('B3: reading progress takes its time, and fails closed', marbles(({ cold, expectObservable }) => {
    expectObservable(patienceOf(1001, cold('---(a|)', { a: 5 }))).toBe('---(s|)', { s: 'stay' });
    expectObservable(patienceOf(1001, cold<number>('---#', undefined, new Error('backend away')))).toBe('---(s|)', { s: 'Error: backend away' });
    expectObservable(patienceOf(1000, cold<number>('---#'))).toBe('(s|)', { s: 'stay' });
  }));

  test('B3: progress that never happened is infinitely old, then as old as the last success', () => {
    let nowMs = 0;
    const progress = createProgress({ now: () => nowMs });
    const ages: number[] = [];
    const read = (): void => void progress.ageMs().subscribe((ageMs) => ages.push(ageMs));
    read();
    nowMs = 10;
    progress.noteSuccess();
    read();
    nowMs = 35;
    read();
    expect(ages).toEqual([Infinity, 0, 25]);
  });

  test('B2, B3: over time: a call that only waits loses patience right after the window, a working one does not', marbles(({ scheduler, expectObservable }) => {
    const now = (): number => scheduler.now();
    const check = (working: boolean): Observable<string> =>
      defer(() => {
        const clock = createStallClock({ now });
        if (working) clock.attempting();
        const patience$ = patience({ clock, progress: createProgress({ now }), stallWindowMs: 3, stalled: () => 'stalled' });
        return timer(2).pipe(repeat(3), switchMap(() => patience$.pipe(map(() => 's'))));
      });
    expectObservable(check(false)).toBe(' --s-#', undefined, 'stalled');
    expectObservable(check(true)).toBe('  --s-s-(s|)');
  }));
});

/** A scope in virtual time whose calls write down when they get in and out. */
function scope(scheduler: SchedulerLike, { limits = { 'a/1': 1 }, gate }: { limits?: Record<string, number>; gate?: Gate } = {}): {
  governance: ReturnType<typeof memoryGovernance>;
  log: [number, string][];
  call: (name: string, options?: CallSpec) => Observable<never>;
} {
  const log: [number, string][] = [];
  const note = (what: string): void => void log.push([scheduler.now(), what]);
  const governance = memoryGovernance(limits, scheduler);
  const call = (name: string, { holdMs = 10, sources = Object.keys(limits), ...options }: CallSpec = {}): Observable<never> => {
    const tryAdmit = (): Observable<Admitted<{ id: string }>> => {
      note(`${name} asks`);
      return admitFirst({ sources: sources.map((id) => ({ id })), gate: gate ?? governance.admission, ticketFor: ({ id }) => ({ ...ticket, sourceId: id }) });
    };
    const admitted$ = admitWhenRunnable({ tryAdmit, patience$: of(undefined), refuseWait: () => undefined, line: governance.line, pollEveryMs: never, random: () => 1, scheduler, ...options });
    return admitted$.pipe(
      tap({ next: ({ source }) => note(`${name} in ${source.id}`) }),
      mergeMap(({ permit }) =>
        timer(holdMs, scheduler).pipe(
          mergeMap(() => EMPTY),
          finalizeWith(({ type }) => {
            note(`${name} ${type === 'completed' ? 'out' : 'left'}`);
            permit.settle(cancelled);
          }),
        ),
      ),
      catchError((error: unknown) => {
        note(`${name} failed: ${String(error)}`);
        return EMPTY;
      }),
    );
  };
  return { governance, log, call };
}

type CallSpec = Partial<WaitOptions<Admitted<{ id: string }>>> & { readonly holdMs?: number; readonly sources?: readonly string[] };
const refuseWith = (text: string) => (): never => { throw new Error(text); };

describe('admitWhenRunnable', () => {
  test('admits at once where it can, and takes no place in the line', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    expectObservable(call('x')).toBe('10ms |');
    expect(governance.line.length).toBe(0);
    flush();
    expect(log).toEqual([[0, 'x asks'], [0, 'x in a/1'], [10, 'x out']]);
  }));

  test('B4: a freed place wakes the oldest waiter in the same turn, and the next one as soon as he is in', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    expectObservable(call('first')).toBe('                10ms |');
    expectObservable(call('second'), '-^').toBe('         20ms |');
    expectObservable(call('third'), '--^').toBe('         30ms |');
    expectObservable(timer(5).pipe(map(() => governance.line.length))).toBe('-----(2|)', { 2: 2 });
    flush();
    expect(log).toEqual([
      [0, 'first asks'], [0, 'first in a/1'], [1, 'second asks'], [2, 'third asks'],
      [10, 'first out'], [10, 'second asks'], [10, 'second in a/1'], [10, 'third asks'],
      [20, 'second out'], [20, 'third asks'], [20, 'third in a/1'], [30, 'third out'],
    ]);
    expect(governance.line.length).toBe(0);
  }));

  test('B4: a waiter that leaves gives its place up; nothing is asked in its name any more', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    expectObservable(call('first')).toBe('               10ms |');
    expectObservable(call('leaver'), '-^---!').toBe('    -');
    expectObservable(call('third'), '--^').toBe('        20ms |');
    flush();
    expect(log.slice(4)).toEqual([[10, 'first out'], [10, 'third asks'], [10, 'third in a/1'], [20, 'third out']]);
    expect([governance.line.length, governance.permits()]).toEqual([0, { 'a/1': 0 }]);
  }));

  test('B4: one that leaves while it holds the place wakes the next, too', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log } = scope(scheduler);
    expectObservable(call('first'), '^---!').toBe('      -');
    expectObservable(call('second'), '-^').toBe('        14ms |');
    flush();
    expect(log.slice(3)).toEqual([[4, 'first left'], [4, 'second asks'], [4, 'second in a/1'], [14, 'second out']]);
  }));

  test('B4: a place that the oldest cannot use goes to the next who can', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler, { limits: { 'a/1': 1, 'b/1': 1 } });
    expectObservable(call('holds a', { sources: ['a/1'], holdMs: 10 })).toBe('             10ms |');
    expectObservable(call('holds b', { sources: ['b/1'], holdMs: 50 })).toBe('             50ms |');
    expectObservable(call('wants b', { sources: ['b/1'] }), '-^').toBe('                  60ms |');
    expectObservable(call('wants a', { sources: ['a/1'] }), '--^').toBe('                 20ms |');
    flush();
    expect(log.filter(([, what]) => what.startsWith('wants'))).toEqual([
      [1, 'wants b asks'], [2, 'wants a asks'],
      [10, 'wants b asks'], [10, 'wants a asks'], [10, 'wants a in a/1'], [20, 'wants a out'], [20, 'wants b asks'],
      [50, 'wants b asks'], [50, 'wants b in b/1'], [60, 'wants b out'],
    ]);
    expect(governance.line.length).toBe(0);
  }));

  test('B4: first wait first: whoever comes again waits behind those who wait already', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log } = scope(scheduler);
    const twice$ = concat(call('again'), call('again'));
    expectObservable(twice$).toBe('                        30ms |');
    expectObservable(call('second'), '-^').toBe('           20ms |');
    flush();
    expect(log.filter(([, what]) => what.includes(' in '))).toEqual([[0, 'again in a/1'], [10, 'second in a/1'], [20, 'again in a/1']]);
  }));

  test.each<[string, () => number, string, number[]]>([
    ['random 0: every half interval', () => 0, '1s', [0, 250, 500, 750, 1000]],
    ['random 1: every interval', () => 1, '1s', [0, 500, 1000]],
    ['random 0.5: in between', () => 0.5, '1125ms', [0, 375, 750, 1125]],
  ])('B4: polls with jitter where nobody can say when, %s', (_, random, until, expected) => {
    marbles(({ scheduler, expectObservable, flush }) => {
      const { call, log } = scope(scheduler);
      expectObservable(call('holder', { holdMs: never })).toBe('10000s |');
      expectObservable(call('waiter', { pollEveryMs: 500, random }), `^ ${until} !`).toBe('-');
      flush();
        expect(log.flatMap(([atMs, what]) => (what === 'waiter asks' ? [atMs] : []))).toEqual(expected);
    })();
  });

  test('B4: every wait is drawn anew', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log } = scope(scheduler);
    const drawn = [0, 1, 0.5, 0];
    expectObservable(call('holder', { holdMs: never })).toBe('10000s |');
    expectObservable(call('waiter', { pollEveryMs: 100, random: () => drawn.shift() ?? 1 }), '^ 300ms !').toBe('-');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'waiter asks' ? [atMs] : []))).toEqual([0, 50, 150, 225, 275]);
  }));

  test('B4: woken and refused, it polls from then on, on one timer', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log } = scope(scheduler, { limits: { 'a/1': 1, 'b/1': 1 } });
    expectObservable(call('holds a', { sources: ['a/1'], holdMs: 100 })).toBe('  100ms |');
    expectObservable(call('holds b', { sources: ['b/1'], holdMs: never })).toBe('10000s |');
    expectObservable(call('x', { sources: ['b/1'], pollEveryMs: 300 }), '^ 900ms !').toBe('-');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'x asks' ? [atMs] : []))).toEqual([0, 100, 400, 700]);
  }));

  test('B4: a wait whose end is certain looks exactly then, and not before', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    governance.parking.park('a/1', 1730);
    expectObservable(call('x', { pollEveryMs: 500 })).toBe('1740ms |');
    flush();
    expect(log).toEqual([[0, 'x asks'], [1730, 'x asks'], [1730, 'x in a/1'], [1740, 'x out']]);
  }));

  test('B4: the earliest of several certain ends', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler, { limits: { 'a/1': 1, 'b/1': 1 } });
    governance.parking.park('a/1', 1730);
    governance.parking.park('b/1', 900);
    expectObservable(call('x', { pollEveryMs: 500 })).toBe('910ms |');
    flush();
    expect(log).toEqual([[0, 'x asks'], [900, 'x asks'], [900, 'x in b/1'], [910, 'x out']]);
  }));

  test('B4: where only some can say when, it polls, and looks at that time if it comes first', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler, { limits: { 'a/1': 1, 'b/1': 1 } });
    expectObservable(call('holder', { sources: ['b/1'], holdMs: never })).toBe('10000s |');
    governance.parking.park('a/1', 1130);
    expectObservable(call('x', { pollEveryMs: 500 })).toBe('1140ms |');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'x asks' ? [atMs] : []))).toEqual([0, 500, 1000, 1130]);
  }));

  test('R3, BO-04: each caller may draw out a certain end for itself, anew for each wait', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler, { limits: { 'a/1': 5 } });
    governance.parking.park('a/1', 1000);
    const extraMs = [0, 50, 120];
    const pauseMs = (askedMs: number): number => askedMs + (extraMs.shift() ?? 0);
    expectObservable(call('x', { pauseMs, holdMs: 500 })).toBe('1500ms |');
    expectObservable(call('y', { pauseMs, holdMs: 500 })).toBe('1550ms |');
    expectObservable(call('z', { pauseMs, holdMs: 500 })).toBe('1620ms |');
    flush();
    expect(log.filter(([, what]) => what.includes(' in '))).toEqual([[1000, 'x in a/1'], [1050, 'y in a/1'], [1120, 'z in a/1']]);
  }));

  test('B4: who knows when asking can help is not asked before, whatever is given back', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler, { limits: { 'a/1': 2 } });
    expectObservable(call('other', { holdMs: 300 })).toBe('300ms |');
    expectObservable(timer(100).pipe(tap(() => governance.parking.park('a/1', 900)), mergeMap(() => call('x')))).toBe('1010ms |');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'x asks' ? [atMs] : []))).toEqual([100, 1000]);
  }));

  test('R3: an end that moves away is looked for again', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    governance.parking.park('a/1', 1000);
    expectObservable(timer(600).pipe(tap(() => governance.parking.park('a/1', 2000)), mergeMap(() => EMPTY))).toBe('600ms |');
    expectObservable(call('x', { pollEveryMs: 500 })).toBe('2610ms |');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'x asks' ? [atMs] : []))).toEqual([0, 1000, 2600]);
  }));

  test('a wait that was certain and is no longer polls from then on', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    governance.parking.park('a/1', 1000);
    // Another call is in first, so that at 1000 nobody can say any more when a place comes free.
    expectObservable(timer(1000).pipe(mergeMap(() => call('other', { holdMs: never })))).toBe('10001s |');
    expectObservable(call('x', { pollEveryMs: 300 }), '^ 1800ms !').toBe('-');
    flush();
    expect(log.flatMap(([atMs, what]) => (what === 'x asks' ? [atMs] : []))).toEqual([0, 1000, 1300, 1600]);
  }));

  test('B4: fail_fast ends it at the first refusal; nothing is left in the line', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    expectObservable(call('holder')).toBe('                                                      10ms |');
    expectObservable(call('hasty', { refuseWait: refuseWith('no runnable source') }), '--^').toBe('--|');
    flush();
    expect(log).toEqual([[0, 'holder asks'], [0, 'holder in a/1'], [2, 'hasty asks'], [2, 'hasty failed: Error: no runnable source'], [10, 'holder out']]);
    expect(governance.line.length).toBe(0);
  }));

  test('R5: a wait may also be refused later, with the refusal as it is then', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    governance.parking.park('a/1', 1000);
    const seen: unknown[] = [];
    const refuseWait = ({ certain, retryAfterMs }: NoneAdmitted): void => {
      seen.push([certain, retryAfterMs]);
      if (!certain) throw new Error('too uncertain');
    };
    expectObservable(timer(1000).pipe(mergeMap(() => call('other', { holdMs: 5000 })))).toBe('6s |');
    expectObservable(call('x', { refuseWait })).toBe('1s |');
    flush();
    expect(seen).toEqual([[true, 1000], [false, undefined]]);
    expect(log.at(-2)).toEqual([1000, 'x failed: Error: too uncertain']);
    expect(governance.line.length).toBe(0);
  }));

  test('B3: patience is asked before every wait; gone, it ends the call within one wait of the window', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    const clock = createStallClock({ now: () => scheduler.now() });
    const patience$ = patience({ clock, progress: governance.progress, stallWindowMs: 1200, stalled: (ms) => new Error(`stalled for ${ms}`) });
    expectObservable(call('holder', { holdMs: 5000 })).toBe('5s |');
    expectObservable(call('x', { patience$, pollEveryMs: 500 })).toBe('1500ms |');
    flush();
    expect(log.filter(([, what]) => what.startsWith('x'))).toEqual([[0, 'x asks'], [500, 'x asks'], [1000, 'x asks'], [1500, 'x asks'], [1500, 'x failed: Error: stalled for 1500']]);
    expect(governance.line.length).toBe(0);
  }));

  test('B3: while its scope progresses it goes on waiting', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log, governance } = scope(scheduler);
    const clock = createStallClock({ now: () => scheduler.now() });
    const patience$ = patience({ clock, progress: governance.progress, stallWindowMs: 1200, stalled: () => new Error('stalled') });
    expectObservable(call('holder', { holdMs: 5000 })).toBe('5s |');
    expectObservable(timer(1000).pipe(repeat(4), tap(() => governance.progress.noteSuccess()), mergeMap(() => EMPTY))).toBe('4s |');
    expectObservable(call('x', { patience$, pollEveryMs: 500 })).toBe('5010ms |');
    flush();
    expect(log.at(-2)).toEqual([5000, 'x in a/1']);
  }));

  test('G6: what is not a refusal ends the wait, at the first try and at a later one', marbles(({ scheduler, expectObservable, flush }) => {
    const away = new Error('backend away');
    let tries = 0;
    const gate: Gate = { enter: ({ sourceId }) => throwError(() => (++tries < 3 ? new AdmissionRefused('full', { sourceId }) : away)) };
    const { call, log, governance } = scope(scheduler, { gate });
    expectObservable(call('x', { pollEveryMs: 100 })).toBe('         200ms |');
    expectObservable(call('y', { pollEveryMs: 100 }), '- 300ms ^').toBe('- 300ms |');
    flush();
    expect(log).toEqual([[0, 'x asks'], [100, 'x asks'], [200, 'x asks'], [200, 'x failed: Error: backend away'], [301, 'y asks'], [301, 'y failed: Error: backend away']]);
    expect(governance.line.length).toBe(0);
  }));

  test('a try that throws fails the wait', marbles(({ scheduler, expectObservable }) => {
    const { call } = scope(scheduler);
    expectObservable(call('x', { tryAdmit: refuseWith('broken') })).toBe('|');
  }));

  test('a gate that takes its time: woken meanwhile it is not asked twice, and the next wait counts from its answer', marbles(({ scheduler, expectObservable, flush }) => {
    const line = createWaitingLine();
    const gate = remoteGate({ answerMs: () => 40, decide: () => { throw new AdmissionRefused('full', { sourceId: 'a/1' }); }, scheduler });
    const { call, log } = scope(scheduler, { gate });
    expectObservable(timer(150).pipe(tap(() => line.wake()), mergeMap(() => EMPTY))).toBe('150ms |');
    expectObservable(call('x', { line, pollEveryMs: 100 }), '^ 400ms !').toBe('-');
    flush();
    expect(log.map(([atMs]) => atMs)).toEqual([0, 140, 280]);
  }));

  test('a gate that takes its time: a caller who leaves meanwhile leaves nothing behind', marbles(({ scheduler, expectObservable, flush }) => {
    const gate = remoteGate({ answerMs: () => 40, scheduler });
    const { call, governance } = scope(scheduler, { gate });
    expectObservable(call('x'), '^ 20ms !').toBe('-');
    flush();
    expect([gate.granted, gate.settled, governance.line.length]).toEqual([1, ['cancelled'], 0]);
  }));

  test('unsubscribing stops its timer', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, governance } = scope(scheduler);
    governance.parking.park('a/1', 60_000);
    expectObservable(call('x'), '^--!').toBe('-');
    flush();
    expect(scheduler.now()).toBe(3);
    expect(governance.line.length).toBe(0);
  }));

  test('every subscription is a wait of its own', marbles(({ scheduler, expectObservable, flush }) => {
    const { call, log } = scope(scheduler);
    expectObservable(call('x').pipe(repeat(2))).toBe('20ms |');
    flush();
    expect(log.map(([atMs, what]) => `${atMs} ${what}`)).toEqual(['0 x asks', '0 x in a/1', '10 x out', '10 x asks', '10 x in a/1', '20 x out']);
  }));
});
