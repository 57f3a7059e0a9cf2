import { describe, expect, test } from '@jest/globals';
import { catchError, map, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { NoneAdmitted, admitFirst, createAdmission } from '../../lib/governance/admit.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Gate, Permit } from '../../lib/governance/gate.js';
import { createWaitingLine } from '../../lib/governance/waitingLine.js';
import { marbles } from '../support/marbles.js';
import { cancelled, closedGate, openGate, remoteGate, ticket } from './gates.js';

const sources = [{ id: 'a/1' }, { id: 'b/1' }, { id: 'c/1' }];

/** Each source has a gate of its own. */
function bySource(gates: Record<string, Gate>): Gate {
  return { enter: (asked) => gates[asked.sourceId]!.enter(asked) };
}

function admit(gate: Gate, refused: readonly AdmissionRefused[] = []): Observable<unknown> {
  return admitFirst({ sources, gate, ticketFor: ({ id }) => ({ ...ticket, sourceId: id }), refused }).pipe(
    map(({ source }) => source.id),
    catchError(told),
  );
}

function told(error: unknown): Observable<unknown> {
  if (!(error instanceof NoneAdmitted)) return of(`failed: ${String(error)}`);
  const { message, retryAfterMs, certain } = error;
  return of({ message, retryAfterMs, certain });
}

describe('admitFirst', () => {
  test('enters at the first source that lets it in, in the order given, and asks no further', marbles(({ expectObservable, flush }) => {
    const gates = { 'a/1': closedGate('full'), 'b/1': openGate(), 'c/1': openGate() };
    expectObservable(admit(bySource(gates))).toBe('(b|)', { b: 'b/1' });
    flush();
    expect([gates['b/1'].granted, gates['c/1'].granted]).toEqual([1, 0]);
  }));

  test('waits for one answer before it asks the next', marbles(({ expectObservable }) => {
    const refusing = remoteGate({ answerMs: () => 3, decide: () => { throw new AdmissionRefused('full', { sourceId: 'a/1' }); } });
    expectObservable(admit(bySource({ 'a/1': refusing, 'b/1': remoteGate({ answerMs: () => 2 }), 'c/1': openGate() }))).toBe('-----(b|)', { b: 'b/1' });
  }));

  test.each([
    ['one gate did not say when', { 'a/1': closedGate('full'), 'b/1': closedGate('paused', 700), 'c/1': closedGate('paused', 300) }, { message: 'full; paused; paused', retryAfterMs: 300, certain: false }],
    ['every gate said when', { 'a/1': closedGate('paused', 900), 'b/1': closedGate('paused', 700), 'c/1': closedGate('paused', 800) }, { message: 'paused; paused; paused', retryAfterMs: 700, certain: true }],
    ['no gate said when', { 'a/1': closedGate('full'), 'b/1': closedGate('full'), 'c/1': closedGate('full') }, { message: 'full; full; full', retryAfterMs: undefined, certain: false }],
  ])('nobody lets it in: it tells every reason, and when asking again can help; %s', (_, gates, expected) => {
    marbles(({ expectObservable }) => expectObservable(admit(bySource(gates))).toBe('(r|)', { r: expected }))();
  });

  test('sources that are not even asked count among the reasons', marbles(({ expectObservable }) => {
    const resting = new AdmissionRefused('resting', { sourceId: 'd/1', retryAfterMs: 50 });
    expectObservable(admit(closedGate('paused', 700), [resting])).toBe('(r|)', { r: { message: 'resting; paused; paused; paused', retryAfterMs: 50, certain: true } });
  }));

  test('without any source there is nothing to wait for', marbles(({ expectObservable }) => {
    const none$ = admitFirst({ sources: [], gate: openGate(), ticketFor: () => ticket }).pipe(catchError(told));
    expectObservable(none$).toBe('(r|)', { r: { message: 'there is no source to ask', retryAfterMs: undefined, certain: false } });
  }));

  test.each<[string, Gate]>([
    ['failed', { enter: () => throwError(() => new Error('away')) }],
    ['thrown', { enter: () => { throw new Error('away'); } }],
  ])('G6: what is not a refusal ends it, and no other source is asked; %s', (_, away) => {
    const next = openGate();
    marbles(({ expectObservable }) => expectObservable(admit(bySource({ 'a/1': away, 'b/1': next, 'c/1': next }))).toBe('(r|)', { r: 'failed: Error: away' }))();
    expect(next.granted).toBe(0);
  });

  test('every subscription asks anew', marbles(({ expectObservable, flush }) => {
    const gate = openGate();
    const admitted$ = admit(gate);
    expectObservable(admitted$).toBe('      (a|)', { a: 'a/1' });
    expectObservable(admitted$, '--^').toBe('--(a|)', { a: 'a/1' });
    flush();
    expect(gate.granted).toBe(2);
  }));
});

describe('createAdmission', () => {
  test('G3, B4: what is given back wakes the line, once', () => {
    const line = createWaitingLine();
    let woken = 0;
    line.place$().subscribe(() => { woken += 1; });
    const gate = openGate();
    const permits: Permit[] = [];
    createAdmission({ gates: [gate], line }).enter(ticket).subscribe((permit) => permits.push(permit));
    expect(woken).toBe(0);

    permits[0]!.progress();
    permits[0]!.settle({ type: 'failure', totalTokens: null });
    permits[0]!.settle(cancelled);
    expect([woken, gate.progressed, gate.settled]).toEqual([1, 1, ['failure']]);
  });

  test('the place is free when the line is woken', () => {
    const line = createWaitingLine();
    const gate = openGate();
    const seen: number[] = [];
    line.place$().subscribe(() => seen.push(gate.settled.length));
    createAdmission({ gates: [gate], line }).enter(ticket).subscribe((permit) => permit.settle(cancelled));
    expect(seen).toEqual([1]);
  });
});

describe('createWaitingLine', () => {
  test('B4: wakes the oldest first, and stops when one that follows those who got in is refused', () => {
    const line = createWaitingLine();
    const asked: string[] = [];
    const wait = (name: string, getsIn: boolean): void => {
      line.place$().subscribe(() => {
        asked.push(name);
        if (getsIn) line.granted();
      });
    };
    wait('oldest', false);
    wait('second', true);
    wait('third', true);
    wait('fourth', false);
    wait('youngest', true);
    line.wake();
    expect(asked).toEqual(['oldest', 'second', 'third', 'fourth']);
    asked.length = 0;
    line.advance();
    expect(asked).toEqual(['oldest']);
  });

  test('a waiter that leaves while the line is woken is not asked', () => {
    const line = createWaitingLine();
    const asked: string[] = [];
    line.place$().subscribe(() => { asked.push('oldest'); leaving.unsubscribe(); });
    const leaving = line.place$().subscribe(() => asked.push('leaving'));
    line.place$().subscribe(() => asked.push('youngest'));
    line.wake();
    expect(asked).toEqual(['oldest', 'youngest']);
    expect(line.length).toBe(2);
  });
});
