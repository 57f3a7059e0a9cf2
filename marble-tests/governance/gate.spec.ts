import { describe, expect, test } from '@jest/globals';
import { NEVER, catchError, map, of, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { AdmissionRefused, allGates, once } from '../../lib/governance/gate.js';
import type { Gate, Outcome, Permit } from '../../lib/governance/gate.js';
import { createQuotaGate } from '../../lib/governance/quota/quotaGate.js';
import { marbles } from '../support/marbles.js';
import { cancelled, closedGate, openGate, remoteGate, ticket } from './gates.js';

const granted = map(() => 'p');
const refusedBy = (gates: readonly Gate[]): Observable<string> =>
  allGates(gates).enter(ticket).pipe(granted, catchError((error: unknown) => of(error instanceof AdmissionRefused ? `refused: ${error.message}` : `failed: ${String(error)}`)));

describe('allGates', () => {
  test('G1: one permit, when every gate has granted, in the same turn', marbles(({ expectObservable }) => {
    expectObservable(allGates([openGate(), openGate()]).enter(ticket).pipe(granted)).toBe('(p|)');
    expectObservable(allGates([remoteGate({ answerMs: () => 2 }), openGate(), remoteGate({ answerMs: () => 3 })]).enter(ticket).pipe(granted)).toBe('-----(p|)');
    expectObservable(allGates([]).enter(ticket).pipe(granted)).toBe('(p|)');
  }));

  test('G1: the gates are asked in order, and none after one that refuses', marbles(({ expectObservable, flush }) => {
    const [first, last] = [openGate(), openGate()];
    const expected = '(r|)';
    expectObservable(refusedBy([first, closedGate('full'), last])).toBe(expected, { r: 'refused: full' });
    flush();
    expect([first.granted, last.granted]).toEqual([1, 0]);
    expect(first.settled).toEqual(['unsent']);
  }));

  test('G1: a refusal changes no counter', marbles(({ expectObservable, flush }) => {
    const concurrency = createQuotaGate({ sources: [{ id: 'a/1', maxConcurrency: 2 }], now: () => 0 });
    expectObservable(refusedBy([concurrency, closedGate('paused')])).toBe('(r|)', { r: 'refused: paused' });
    expectObservable(refusedBy([closedGate('paused'), concurrency])).toBe('(r|)', { r: 'refused: paused' });
    flush();
    expect(concurrency.inUse()).toEqual({ 'a/1': 0 });
  }));

  test('G1, G6: a gate that cannot decide gives back what the others gave', marbles(({ expectObservable, flush }) => {
    const first = openGate();
    const expected = '---(r|)';
    expectObservable(refusedBy([first, remoteGate({ answerMs: () => 3, decide: () => { throw new Error('away'); } })])).toBe(expected, { r: 'failed: Error: away' });
    flush();
    expect(first.settled).toEqual(['unsent']);
  }));

  test('G1: a gate that throws instead of answering gives back what the others gave', marbles(({ expectObservable, flush }) => {
    const first = openGate();
    const thrower: Gate = { enter: () => { throw new TypeError('broken gate'); } };
    expectObservable(refusedBy([first, thrower])).toBe('(r|)', { r: 'failed: TypeError: broken gate' });
    flush();
    expect(first.settled).toEqual(['unsent']);
  }));

  test('a gate that never answers: nothing; leaving gives the others back at once', marbles(({ expectObservable, flush, scheduler }) => {
    const first = openGate();
    const settledAt: number[] = [];
    const watched: Gate = { enter: () => first.enter(ticket).pipe(map((permit) => ({ ...permit, settle: (outcome: Outcome) => { settledAt.push(scheduler.now()); permit.settle(outcome); } }))) };
    const silent: Gate = { enter: () => NEVER };
    expectObservable(refusedBy([watched, silent]), '^---!').toBe('-----');
    flush();
    expect(settledAt).toEqual([4]);
  }));

  test('G1: the caller left while a gate was deciding: its late grant is given back when the answer comes', marbles(({ expectObservable, flush }) => {
    const [first, late, last] = [openGate(), remoteGate({ answerMs: () => 6 }), openGate()];
    const unsub = '   ---!';
    const expected = '-----';
    expectObservable(refusedBy([first, late, last]), unsub).toBe(expected);
    flush();
    expect([first, late, last].map(({ granted: count, settled }) => [count, settled])).toEqual([[1, ['unsent']], [1, ['cancelled']], [0, []]]);
  }));

  test('G1: … and likewise where it left in the turn of the answer', marbles(({ expectObservable, flush }) => {
    const [first, late] = [openGate(), remoteGate({ answerMs: () => 3 })];
    // The unsubscription of a marble diagram is planned first, so it comes before what is due at the same frame.
    expectObservable(refusedBy([first, late]), '---!').toBe('-----');
    flush();
    expect([first, late].map(({ granted: count, settled }) => [count, settled])).toEqual([[1, ['unsent']], [1, ['cancelled']]]);
  }));

  test('once granted, leaving is no longer the gates\' affair', () => {
    const gate = openGate();
    allGates([gate]).enter(ticket).pipe(take(1)).subscribe();
    expect(gate.settled).toEqual([]);
  });

  test('G3: every gate gets its permit back once, with the outcome', () => {
    const gates = [openGate(), openGate()];
    const permits: Permit[] = [];
    allGates(gates).enter(ticket).subscribe((permit) => permits.push(permit));
    permits[0]!.progress();
    permits[0]!.settle({ type: 'success', totalTokens: 7 });
    permits[0]!.settle({ type: 'failure', totalTokens: null });
    expect(gates.map(({ progressed, settled }) => [progressed, settled])).toEqual([[1, ['success']], [1, ['success']]]);
  });

  test('every entry takes permits of its own', () => {
    const gate = openGate();
    const entry$ = allGates([gate]).enter(ticket);
    const permits: Permit[] = [];
    entry$.subscribe((permit) => permits.push(permit));
    entry$.subscribe((permit) => permits.push(permit));
    permits[0]!.settle(cancelled);
    expect([gate.granted, gate.settled]).toEqual([2, ['cancelled']]);
  });
});


test('once: a settle counts the first time only', () => {
  const seen: Outcome[] = [];
  const settle = once((outcome) => seen.push(outcome));
  settle({ type: 'failure', totalTokens: null });
  settle(cancelled);
  expect(seen).toEqual([{ type: 'failure', totalTokens: null }]);
});

test('a refusal is told from a failure by its class and its code', () => {
  const refusal = new AdmissionRefused('full', { sourceId: 'a/1', retryAfterMs: 5 });
  expect(refusal).toMatchObject({ name: 'AdmissionRefused', code: 'admission_refused', message: 'full', sourceId: 'a/1', retryAfterMs: 5 });
});
