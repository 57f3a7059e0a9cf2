import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NEVER, Observable, defer, map, of, throwError } from 'rxjs';
import type { Subscription } from 'rxjs';
import { AdmissionRefused, allGates, once } from '../../../lib/governance/gate.js';
import type { Gate, Outcome, Permit } from '../../../lib/governance/gate.js';
import { createHedgeCap } from '../../../lib/governance/hedging/hedgeCap.js';
import { createPacerGate } from '../../../lib/governance/pacing/pacerGate.js';
import { createQuotaGate } from '../../../lib/governance/quota/quotaGate.js';
import { admit, ask, ticketOf } from './ask.js';

/** Counts what a gate gave and what it got back for the first time. */
function counting(gate: Required<Gate>): { gate: Gate; count: { granted: number; released: number } } {
  const count = { granted: 0, released: 0 };
  const counted = (permit: Permit): Permit => {
    count.granted += 1;
    const release = once(() => { count.released += 1; });
    return {
      progress: () => permit.progress(),
      settle: (outcome) => {
        release(outcome);
        permit.settle(outcome);
      },
    };
  };
  return { gate: { refusal: (ticket) => gate.refusal(ticket), enter: (ticket) => gate.enter(ticket).pipe(map(counted)) }, count };
}

const moods = ['grant', 'grant', 'grant', 'grant', 'refuse', 'break', 'silent', 'late'] as const;

/** The last gate, like one that asks a server: nobody knows its no beforehand, and its answer may come when nobody waits any more. */
function moodyGate(mood: () => (typeof moods)[number], answers: (() => void)[]): Gate {
  const permit = (): Permit => ({ progress: () => undefined, settle: () => undefined });
  return {
    enter: ({ sourceId }) =>
      defer(() => {
        const today = mood();
        if (today === 'refuse') return throwError(() => new AdmissionRefused('full', { sourceId }));
        if (today === 'break') return throwError(() => new Error('away'));
        if (today === 'silent') return NEVER;
        if (today === 'grant') return of(permit());
        return new Observable<Permit>((subscriber) => {
          answers.push(() => {
            subscriber.next(permit());
            subscriber.complete();
          });
        });
      }),
  };
}

/** Whole numbers below `most`, the same in every run. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return ((state / 4_294_967_296) * most) >>> 0;
  };
}

// Stacks of refusals nobody reads are most of what so many lives cost.
const { stackTraceLimit } = Error;
beforeAll(() => { Error.stackTraceLimit = 0; });
afterAll(() => { Error.stackTraceLimit = stackTraceLimit; });

test('R-Q1, G1, G3: 100,000 lives that end at every step: nothing is in use, and what was granted was released', () => {
  const throwDice = dice(20_240_601);
  const one = <T>(list: readonly T[]): T => list[throwDice(list.length)]!;
  const outcomes: readonly (() => Outcome)[] = [
    ...(['success', 'success', 'success', 'success', 'success', 'success', 'failure', 'rate-limited', 'cancelled'] as const).map((type) => (): Outcome => ({ type, totalTokens: one([null, throwDice(500)]) })),
    () => ({ type: 'unsent' }),
  ];
  const ids = ['a/1', 'b/1', 'c/1'];
  let nowMs = 0;
  const quota = createQuotaGate({ sources: [{ id: 'a/1', rpm: 600, tpm: 60_000, maxConcurrency: 20 }, { id: 'b/1', maxConcurrency: 5 }, { id: 'c/1' }], now: () => nowMs });
  const pacer = createPacerGate({ sources: [], report: () => undefined });
  const cap = createHedgeCap({ ratio: 0.2 });
  const counted = [quota, pacer, cap].map(counting);
  const answers: (() => void)[] = [];
  const gate = allGates([...counted.map(({ gate: each }) => each), moodyGate(() => one(moods), answers)]);

  const held: Permit[] = [];
  const undecided: Subscription[] = [];
  const tally = { asked: 0, neverAsked: 0, refused: 0, failed: 0, granted: 0, left: 0 };

  const begin = (): void => {
    const entry$ = gate.enter(ticketOf({ sourceId: one(ids), role: one(['primary', 'primary', 'primary', 'backup']), round: 1 + throwDice(2), estimatedTokens: throwDice(300) }));
    if (throwDice(20) === 0) {
      tally.neverAsked += 1;
      return;
    }
    tally.asked += 1;
    const subscription = entry$.subscribe({
      next: (permit) => {
        tally.granted += 1;
        held.push(permit);
      },
      error: (error: unknown) => { tally[error instanceof AdmissionRefused ? 'refused' : 'failed'] += 1; },
    });
    if (!subscription.closed) undecided.push(subscription);
  };
  const leave = (): void => {
    const subscription = undecided.splice(throwDice(undecided.length), 1)[0];
    if (subscription === undefined || subscription.closed) return;
    tally.left += 1;
    subscription.unsubscribe();
  };
  const end = (): void => {
    const permit = held.splice(throwDice(held.length), 1)[0];
    if (permit === undefined) return;
    for (let increments = throwDice(3); increments > 0; increments -= 1) permit.progress();
    for (let times = 1 + throwDice(2); times > 0; times -= 1) permit.settle(one(outcomes)());
    if (throwDice(50) === 0) permit.progress();
  };

  for (let life = 0; life < 100_000; life += 1) {
    begin();
    nowMs += throwDice(80);
    if (throwDice(2) === 0) end();
    if (held.length > 30) end();
    if (throwDice(3) === 0) answers.splice(throwDice(answers.length), 1)[0]?.();
    if (throwDice(3) === 0) leave();
    if (throwDice(2000) === 0) pacer.restart(ticketOf({ sourceId: one(ids) }));
  }
  while (undecided.length > 0) leave();
  while (answers.length > 0) answers.pop()!();
  while (held.length > 0) end();

  expect(quota.inUse()).toEqual({ 'a/1': 0, 'b/1': 0, 'c/1': 0 });
  for (const { count } of counted) expect(count.released).toBe(count.granted);
  expect(tally.asked + tally.neverAsked).toBe(100_000);
  expect(tally.refused + tally.failed + tally.granted + tally.left).toBe(tally.asked);
  for (const times of Object.values(tally)) expect(times).toBeGreaterThan(1000);
  // With nothing in flight, one goes alone after an outage; and where all have left the minute, nothing is spent.
  nowMs += 60_000;
  for (const sourceId of ids) {
    pacer.restart(ticketOf({ sourceId }));
    admit(pacer, { sourceId });
    expect(ask(pacer, { sourceId })).toBeInstanceOf(AdmissionRefused);
    expect(quota.spent(sourceId)).toEqual({ requests: 0, tokens: 0 });
  }
});
