import { describe, expect, test } from '@jest/globals';
import { BehaviorSubject, NEVER, concat, concatMap, defer, distinctUntilChanged, endWith, finalize, from, ignoreElements, map, merge, mergeMap, of, switchMap, takeWhile, tap, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { replaceStream } from '../support/replaceStream.js';
import { script } from '../support/script.js';
import type { VirtualGateway } from '../support/virtualGateway.js';
import { eventsOf, requestsOf, rowsOf, wholeCalls } from '../support/wholeCalls.js';
import type { Stage } from '../support/wholeCalls.js';

type Seconds = readonly [from: number, to: number];

/** Plays a script. What is not read is not sent, so that all that follows comes later. */
function playUnlessHeld(steps: readonly ScriptStep[], held$: Observable<boolean>, scheduler: SchedulerLike): Observable<ScriptStep> {
  return defer(() => {
    const left = [...steps];
    let playedMs = 0;
    const play$ = defer(() => {
      const startMs = scheduler.now() - playedMs;
      const due = (step: ScriptStep): Observable<unknown> => timer(Math.max(0, startMs + step.atMs - scheduler.now()), scheduler);
      return from([...left]).pipe(
        concatMap((step) => due(step).pipe(map(() => step))),
        tap({ next: () => left.shift() }),
        finalize(() => { playedMs = scheduler.now() - startMs; }),
      );
    });
    return held$.pipe(endWith(false), distinctUntilChanged(), switchMap((held) => (held ? NEVER : play$)));
  });
}

/** A gateway whose one source stops at `held$`, and whose reader holds for these times. */
function slowlyRead(stage: Stage, text: string, holds: readonly Seconds[], policy = {}): VirtualGateway {
  const gateway = stage.gatewayOf([{ scripts: [''], interTokenS: 15 }], policy);
  stopWhereHeld(stage, gateway, text);
  return heldFor(stage, gateway, holds);
}

/** The first source plays this, as long as it is read. */
function stopWhereHeld(stage: Stage, gateway: VirtualGateway, text: string): void {
  replaceStream(gateway.sources[0], (noted) => (request, context) =>
    merge(noted(request, context).pipe(ignoreElements()), playUnlessHeld(script(text), context.held$ ?? of(false), stage.scheduler)).pipe(
      takeWhile(({ type }) => type !== 'end'),
      mergeMap((step) => (step.type === 'delta' ? of(step.delta) : [])),
    ));
}

function heldFor({ at }: Stage, gateway: VirtualGateway, holds: readonly Seconds[]): VirtualGateway {
  const held$ = new BehaviorSubject(false);
  for (const [fromS, toS] of holds) {
    at(fromS * 1000, () => held$.next(true));
    at(toS * 1000, () => held$.next(false));
  }
  return { ...gateway, stream$: (request, options) => gateway.stream$(request, { ...options, held$ }) };
}

const start = { type: 'start', source: 'a/1', attempts: 1, hedges: 0 };
const said = (text: string): object => ({ type: 'content', text });
const finish = { type: 'finish' };
const end = (response: object): object => ({ type: 'end', response });
const fellSilent = { name: 'TransientError', cause: { name: 'StreamLivenessTimeout', limit: 'between', limitMs: 15_000, waitedMs: 15_000 } };

describe('a reader that holds an answer back', () => {
  test('MM-03: for 30 s, twice the limit between tokens: no kill, everything in order, the pause in no figure but the length', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d2"b" d4"c" d5"d" f6', [[2.5, 32.5]]);
    stage.expectStream(gateway).toSay('1s (sa) 996ms b 31999ms c 999ms d 999ms (fe|)', {
      s: start, a: said('a'), b: said('b'), c: said('c'), d: said('d'), f: finish,
      e: end({
        content: 'abcd', ttftMs: 1000, maxInterTokenMs: 2000, latencyMs: 36_000, callMs: 36_000,
        stats: { stallMs: 0, stallCount: 0, generationMs: 36_000, attempts: 1, waitedMs: 0 },
      }),
    });
    stage.flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs', 'ttftMs', 'stallMs', 'stallCount', 'maxInterTokenMs', 'recordGaps')).toEqual([
      [null, 36_000, 1000, 0, 0, 2000, [[0, 1000], [1000, 1000], [2000, 2000]]],
    ]);
    expect(requestsOf(gateway)).toEqual([[[0, 36_000]]]);
  }));

  test('MM-03, M1: a stall of theirs around a pause of ours counts without it', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d6"b" f7', [[3.5, 33.5]]);
    stage.expectStream(gateway).toSay('1s (sa) 34996ms b 999ms (fe|)', {
      s: start, a: said('a'), b: said('b'), f: finish, e: end({ maxInterTokenMs: 5000, latencyMs: 37_000, stats: { stallMs: 5000, stallCount: 1, generationMs: 32_000 } }),
    });
    stage.flush();
    expect(rowsOf(gateway, 'recordGaps')).toEqual([[[[0, 1000], [1000, 5000]]]]);
  }));

  test('MM-03: before the first word, and again and again: no limit of silence passes, and nobody else is asked', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd9"a" d20"b" d23"c" f24', [[5, 25], [30, 50], [51, 71]], { hedgeAfterMs: 40_000 });
    stage.expectStream(gateway).toSay('29s (sa) 50996ms b 2999ms c 999ms (fe|)', { s: start, a: said('a'), b: said('b'), c: said('c'), f: finish, e: end({ ttftMs: 9000, latencyMs: 84_000 }) });
    stage.flush();
    expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
  }));

  test('MM-03, W1: the tail of an answer that was held shows in its record without the pause', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d2"b" F8', [[3, 33], [38.5, 48.5]]);
    // H15: the second that usage and end marker get stands still as well.
    stage.expectStream(gateway).toSay('1s (sa) 996ms b 35999ms f 10999ms (e|)', { s: start, a: said('a'), b: said('b'), f: finish, e: end({ latencyMs: 49_000 }) });
    stage.flush();
    expect(rowsOf(gateway, 'recordGaps')).toEqual([[[[0, 1000], [1000, 1000], [2000, 7000]]]]);
  }));

  test('W1: a source that is silent for 16 s while it is read is let go', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d17"b" f18', []);
    stage.expectStream(gateway).toSay('1s (sa) 14996ms #', { s: start, a: said('a') }, { code: 'stream_interrupted', partial: { increments: 1, chars: 1 }, cause: fellSilent });
  }));

  test('W1: also where that is 8 s before and 8 s after a pause; the pause is not counted', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d17"b" f18', [[9, 39]]);
    stage.expectStream(gateway).toSay('1s (sa) 44996ms #', { s: start, a: said('a') }, { code: 'stream_interrupted', cause: fellSilent });
    stage.flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs', 'recordGaps')).toEqual([['transient', 46_000, [[0, 1000], [1000, 15_000]]]]);
  }));

  test('W1: the limit of the attempt as a whole stands, too', wholeCalls((stage) => {
    const [text, hold] = ['d1"a" d2"b" d3"c" f4', [2.5, 32.5]] as const;
    const gateway = slowlyRead(stage, text, [hold]);
    Object.assign(gateway.sources[0]!.limits, { timeoutMs: 10_000 });
    stage.expectStream(gateway).toSay('1s (sa) 996ms b 30999ms c 999ms (fe|)', { s: start, a: said('a'), b: said('b'), c: said('c'), f: finish, e: end({}) });
  }));

  test('what is open tells of no silence while it is held', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d5"b" f6', [[2.5, 32.5]]);
    const seen: number[] = [];
    for (const atMs of [1500, 31_000, 33_000]) stage.at(atMs, () => seen.push(...gateway.stats().streams.map(({ silentMs }) => silentMs)));
    stage.expectStream(gateway, { leaveMs: 33_500 }).toSay('1s (sa)', { s: start, a: said('a') });
    stage.flush();
    expect(seen).toEqual([500, 1500, 2000]);
  }));

  test('MM-03: a source that does not listen is not held, so that its silence is its own', wholeCalls((stage) => {
    const gateway = heldFor(stage, stage.gatewayOf([{ scripts: ['d1"a" d2"b" d18"c"'], interTokenS: 15 }]), [[2, 99]]);
    stage.expectStream(gateway).toSay('1s (sa) 996ms b 14999ms #', { s: start, a: said('a'), b: said('b') }, { code: 'stream_interrupted', cause: fellSilent });
  }));

  test('R5: held past the deadline of the call: that is the end, with what was passed on', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d2"b" d3"c" f4', [[2.5, 32.5]], { callDeadlineMs: 20_000 });
    stage.expectStream(gateway).toSay('1s (sa) 996ms b 17999ms #', { s: start, a: said('a'), b: said('b') }, { code: 'call_deadline', partial: { increments: 2, chars: 2 } });
    stage.flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs')).toEqual([['deadline', 20_000]]);
  }));

  test('R5, H15: … where only usage and end marker are lacking, the answer is whole', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" F2', [[2.5, 32.5]], { callDeadlineMs: 20_000 });
    stage.expectStream(gateway).toSay('1s (sa) 996ms f 17999ms (e|)', { s: start, a: said('a'), f: finish, e: end({ content: 'a', latencyMs: 20_000 }) });
  }));

  test('H1: the silence of a source that is held before it has spoken starts no backup', wholeCalls((stage) => {
    const gateway = stage.gatewayOf(['', 'd1 f2'], { hedgeAfterMs: 5000 });
    stopWhereHeld(stage, gateway, 'd4"a" f5');
    stage.expectStream(heldFor(stage, gateway, [[1, 31]]), {}).toSay('34s (sa) 996ms (fe|)', { s: start, a: said('a'), f: finish, e: end({}) });
    stage.flush();
    expect(eventsOf(gateway, 'silence-noticed')).toEqual([]);
  }));

  test('what held$ fails with is no failure of the source: it holds no more', wholeCalls((stage) => {
    const gateway = stage.gatewayOf(['']);
    stopWhereHeld(stage, gateway, 'd1"a" d2"b" f3');
    const held$ = concat(of(false), timer(1500, stage.scheduler).pipe(map(() => true)), timer(1000, stage.scheduler).pipe(mergeMap(() => throwError(() => new Error('mine')))));
    const failing: VirtualGateway = { ...gateway, stream$: (request, options) => gateway.stream$(request, { ...options, held$ }) };
    stage.expectStream(failing).toSay('1s (sa) 1996ms b 999ms (fe|)', { s: start, a: said('a'), b: said('b'), f: finish, e: end({}) });
  }));

  test('X1: one that leaves while it holds leaves nothing', wholeCalls((stage) => {
    const gateway = slowlyRead(stage, 'd1"a" d9"b" f10', [[2, 60]], { callDeadlineMs: 100_000 });
    stage.expectStream(gateway, { leaveMs: 30_000 }).toSay('1s (sa)', { s: start, a: said('a') });
    stage.flush();
    expect(rowsOf(gateway, 'errorClass', 'latencyMs')).toEqual([['caller_cancelled', 30_000]]);
  }));
});
