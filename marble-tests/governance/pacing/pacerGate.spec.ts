import { describe, expect, test } from '@jest/globals';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Outcome, Permit } from '../../../lib/governance/gate.js';
import { createPacerGate } from '../../../lib/governance/pacing/pacerGate.js';
import type { PacerGate } from '../../../lib/governance/pacing/pacerGate.js';
import type { GatewayEventBody } from '../../../lib/model/events.js';
import { ask, said, success, ticketOf, times, unsent } from '../quota/ask.js';

const rateLimited: Outcome = { type: 'rate-limited', totalTokens: null };
const failure: Outcome = { type: 'failure', totalTokens: null };

function pacer(): { gate: PacerGate; events: GatewayEventBody[] } {
  const events: GatewayEventBody[] = [];
  const gate = createPacerGate({ sources: [{ id: 'a/1' }, { id: 'b/1' }], report: (event) => void events.push(event) });
  return { gate, events };
}

/** As many as get in, at most so many. */
function crowd(gate: PacerGate, most: number): Permit[] {
  const permits: Permit[] = [];
  while (permits.length < most) {
    const answer = ask(gate);
    if (answer instanceof AdmissionRefused) break;
    permits.push(answer);
  }
  return permits;
}

function settleAll(permits: readonly Permit[], outcome: Outcome): void {
  for (const permit of permits) permit.settle(outcome);
}

describe('createPacerGate', () => {
  test('G5: no limit until a 429; then nobody knows when, since something must be given back', () => {
    const { gate, events } = pacer();
    const permits = crowd(gate, 1000);
    expect([permits.length, gate.limits(), events]).toEqual([1000, {}, []]);
    settleAll(permits.splice(4), failure);
    permits.pop()!.settle(rateLimited);
    expect(said(ask(gate))).toBe('a/1 is paced to 3 requests at once after a 429, and runs 3');
    expect(times(ask(gate))).toEqual([0, undefined]);
    expect(times(ask(gate, { sourceId: 'b/1' }))).toBe('in');
    permits.pop()!.settle(failure);
    expect(times(ask(gate))).toBe('in');
  });

  test('R-Q7: fifty 429s at once are one step, told once', () => {
    const { gate, events } = pacer();
    settleAll(crowd(gate, 50), rateLimited);
    expect(gate.limits()).toEqual({ 'a/1': 45 });
    expect(events).toEqual([{ type: 'pace-changed', callId: 'call', attemptId: 'call-1', source: 'a/1', concurrency: 45 }]);
    expect(crowd(gate, 50)).toHaveLength(45);
  });

  test('changes are told where they change what may run, and nothing else is', () => {
    const { gate, events } = pacer();
    settleAll(crowd(gate, 2), rateLimited);
    const told = (): unknown[] => events.splice(0).map((event) => ('concurrency' in event ? event.concurrency : event));
    expect(told()).toEqual([1]);
    for (let count = 0; count < 4; count += 1) settleAll(crowd(gate, 2), success());
    expect(told()).toEqual([2, 3]);
    gate.restart(ticketOf({ sourceId: 'b/1' }));
    gate.restart(ticketOf({ sourceId: 'b/1' }));
    expect([told(), gate.limits()]).toEqual([[1], { 'a/1': 3, 'b/1': 1 }]);
  });

  test('a listener that asks at once sees the new limit', () => {
    const answers: string[] = [];
    const gate: PacerGate = createPacerGate({ sources: [], report: () => answers.push(said(ask(gate))) });
    const [first] = crowd(gate, 2);
    first!.settle(rateLimited);
    expect(answers).toEqual(['a/1 is paced to 1 request at once after a 429, and runs 1']);
  });

  test('G3: a permit settled twice leaves once and teaches once', () => {
    const { gate } = pacer();
    const [first, second, third] = crowd(gate, 3) as [Permit, Permit, Permit];
    first.settle(rateLimited);
    first.settle(success());
    expect(said(ask(gate))).toBe('a/1 is paced to 2 requests at once after a 429, and runs 2');
    second.settle(unsent);
    second.settle(rateLimited);
    third.settle(failure);
    expect(crowd(gate, 9)).toHaveLength(2);
  });

  test('R-B4: what still runs from before the outage counts against the new limit', () => {
    const { gate } = pacer();
    const permits = crowd(gate, 2);
    gate.restart(ticketOf());
    expect(said(ask(gate))).toBe('a/1 is paced to 1 request at once since it came back, and runs 2');
    permits.pop()!.settle(success());
    expect(times(ask(gate))).not.toBe('in');
    permits.pop()!.settle(success());
    expect(crowd(gate, 9)).toHaveLength(1);
  });
});

interface Tick {
  readonly sent: number;
  readonly inFlight: number;
  readonly limited: number;
}

/**
 * A source that answers after 10 ticks, or after one with a 429 whoever is one too many; so many callers press all the
 * time, and one of them takes a place in the turn in which it is free.
 */
function simulate(gate: PacerGate, { capacity, ticks, demand }: { capacity: (tick: number) => number; ticks: number; demand: number }): Tick[] {
  const running = new Map<Permit, { endsAt: number; outcome: Outcome }>();
  const enter = (tick: number): Outcome[] =>
    crowd(gate, demand - running.size).map((permit) => {
      const isOver = running.size >= capacity(tick);
      const outcome = isOver ? rateLimited : success(1);
      running.set(permit, { endsAt: tick + (isOver ? 1 : 10), outcome });
      return outcome;
    });
  return Array.from({ length: ticks }, (_, tick) => {
    const due = [...running].filter(([, { endsAt }]) => endsAt === tick);
    const afterEach = due.flatMap(([permit, { outcome }]) => {
      running.delete(permit);
      permit.settle(outcome);
      return enter(tick);
    });
    const outcomes = [...afterEach, ...enter(tick)];
    return { sent: outcomes.length, inFlight: running.size, limited: outcomes.filter((outcome) => outcome === rateLimited).length };
  });
}

function total(figures: readonly number[]): number {
  return figures.reduce((sum, one) => sum + one, 0);
}

describe('in simulation', () => {
  test('G5: it settles at what the source can bear, and few are told to slow down', () => {
    const { gate } = pacer();
    const late = simulate(gate, { capacity: () => 40, ticks: 4000, demand: 100 }).slice(1000);
    expect(Math.min(...late.map(({ inFlight }) => inFlight))).toBeGreaterThanOrEqual(34);
    expect(Math.max(...late.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(42);
    expect(total(late.map(({ limited }) => limited)) / total(late.map(({ sent }) => sent))).toBeLessThan(0.03);
  });

  test('G5: it follows a source that can bear less, and then more again', () => {
    const { gate } = pacer();
    const ticks = simulate(gate, { capacity: (tick) => (tick >= 1000 && tick < 2000 ? 10 : 40), ticks: 4000, demand: 100 });
    const mean = (from: number, to: number): number => total(ticks.slice(from, to).map(({ inFlight }) => inFlight)) / (to - from);
    expect(mean(1500, 2000)).toBeLessThan(12);
    expect(mean(3500, 4000)).toBeGreaterThan(34);
  });

  test.each([[4, 9], [10, 20]])('R-Q7: with a demand of %p a limit of 9 grows to %p: idle is no growth, and twice the demand is the end', (demand, limit) => {
    const { gate } = pacer();
    settleAll(crowd(gate, 10), rateLimited);
    simulate(gate, { capacity: () => Infinity, ticks: 5000, demand });
    expect(gate.limits()).toEqual({ 'a/1': limit });
  });

  test('R-B4: after an outage a crowd sends the floor, and in each round trip twice as many', () => {
    const { gate } = pacer();
    gate.restart(ticketOf());
    const ticks = simulate(gate, { capacity: () => Infinity, ticks: 50, demand: 5000 });
    expect(ticks.map(({ sent }) => sent).filter((sent) => sent > 0)).toEqual([1, 2, 4, 8, 16]);
    expect(ticks.map(({ inFlight }) => inFlight).filter((_, tick) => tick % 10 === 9)).toEqual([1, 2, 4, 8, 16]);
  });
});
