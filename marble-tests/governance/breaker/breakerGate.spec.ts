import { describe, expect, test } from '@jest/globals';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Gate, Outcome, Permit } from '../../../lib/governance/gate.js';
import { createMemoryGovernance } from '../../../lib/governance/memory.js';
import type { Governance } from '../../../lib/governance/governance.js';
import { admit, ask, said, success, ticketOf, times, unsent } from '../quota/ask.js';
import { breakers, cancelled, failure, openBreaker, rateLimited, threeInARow } from './rig.js';

const closed = { 'a/1': 'closed', 'b/1': 'closed' };
const open = { 'a/1': 'open', 'b/1': 'closed' };
const halfOpen = { 'a/1': 'half-open', 'b/1': 'closed' };
const lets = (gate: Gate, count: number): number => Array.from({ length: count }, () => ask(gate)).filter((answer) => !(answer instanceof AdmissionRefused)).length;

describe('a refusal', () => {
  test('G4: while it cools down: the time left', () => {
    const { at } = openBreaker();
    expect(said(ask(at(12_000.5)))).toBe('the breaker of a/1 is open for 18000 ms more');
    expect(times(ask(at(12_000.5)))).toEqual([17_999.5, 17_999.5]);
    expect(times(ask(at(30_000)))).toBe('in');
  });

  test('R-B2: while a probe is out: nobody knows when, since something must be given back', () => {
    const { at } = openBreaker();
    admit(at(30_000));
    expect(said(ask(at(40_000)))).toBe('the breaker of a/1 waits for its probe, at most 20000 ms more');
    expect(times(ask(at(40_000)))).toEqual([0, undefined]);
  });

  test('H3: a backup is never a probe, not even when the place of the last one has lapsed', () => {
    const { at } = openBreaker();
    for (const ms of [29_999, 30_000, 31_000, 100_000]) {
      if (ms === 31_000) admit(at(ms));
      expect(ask(at(ms), { role: 'backup' })).toBeInstanceOf(AdmissionRefused);
    }
    expect(said(ask(at(100_000), { role: 'backup' }))).toBe('the breaker of a/1 wants 1 probe, which a backup never is');
    expect(times(ask(at(100_000), { role: 'backup' }))).toEqual([0, undefined]);
    admit(at(100_000)).settle(success());
    expect(times(ask(at(100_000), { role: 'backup' }))).toBe('in');
  });

  test('never tells a time that has passed, however the clock goes on meanwhile', () => {
    let nowMs = 0;
    const { gate } = openBreaker({ now: () => (nowMs += 0.7) });
    nowMs = 29_990;
    for (let answer = ask(gate); answer instanceof AdmissionRefused; answer = ask(gate)) expect(answer.retryAfterMs).toBeGreaterThan(0);
    expect(nowMs).toBeLessThan(30_010);
  });

  test('says before it is entered what it says then, and an entry takes nothing until somebody subscribes', () => {
    const { at, told } = openBreaker();
    expect(at(1000).refusal(ticketOf())).toEqual(ask(at(1000)));
    expect(at(30_000).refusal(ticketOf())).toBeUndefined();
    void at(30_000).enter(ticketOf());
    expect([at(30_000).phases(), told()]).toEqual([open, []]);
  });
});

describe('each source', () => {
  test('has a breaker of its own', () => {
    const { gate } = openBreaker();
    expect(gate.phases()).toEqual(open);
    expect([lets(gate, 5), times(ask(gate, { sourceId: 'b/1' }))]).toEqual([0, 'in']);
  });

  test('that is not known is let in, and has none', () => {
    const { gate, told } = breakers();
    for (let count = 0; count < 10; count += 1) admit(gate, { sourceId: 'c/1' }).settle(failure);
    expect([times(ask(gate, { sourceId: 'c/1' })), gate.phases(), told()]).toEqual(['in', closed, []]);
  });

  test('keeps the place of its probe for as long as a healthy one may be silent', () => {
    const { at } = openBreaker({ sources: [{ id: 'a/1', probeLeaseMs: 120_000 }, { id: 'b/1' }] });
    admit(at(30_000));
    expect([lets(at(149_999), 5), lets(at(150_000), 5)]).toEqual([0, 1]);
  });

  test('… and at least for its cool-down', () => {
    const { at } = openBreaker({ sources: [{ id: 'a/1', probeLeaseMs: 10_000 }] });
    admit(at(30_000)).settle(failure);
    admit(at(90_000));
    expect([lets(at(149_999), 5), lets(at(150_000), 5)]).toEqual([0, 1]);
  });
});

describe('what is told', () => {
  test('G4: each change of phase, with the cool-down of an open one', () => {
    const { at, gate, told } = breakers({ random: () => 0.5 });
    for (let count = 0; count < 3; count += 1) admit(gate).settle(failure);
    admit(at(27_000)).settle(failure);
    admit(at(81_000)).progress();
    expect(told()).toEqual(['a/1 closed > open 27000', 'a/1 open > half-open -', 'a/1 half-open > open 54000', 'a/1 open > half-open -', 'a/1 half-open > closed -']);
  });

  test('R-B7: k simultaneous failures are one opening, told once', () => {
    const { gate, at, told } = breakers();
    const permits = Array.from({ length: 50 }, () => admit(gate));
    for (const permit of permits) permit.settle(failure);
    expect([told(), times(ask(at(10_000)))]).toEqual([['a/1 closed > open 30000'], [20_000, 20_000]]);
  });

  test('no time is left of the cool-down where the next probe may come at once', () => {
    const { at, told } = openBreaker();
    admit(at(30_000)).settle(cancelled);
    expect(told()).toEqual(['a/1 open > half-open -', 'a/1 half-open > open 0']);
  });

  test('R-B4: a source has come back once for each outage, not for each probe', () => {
    const back: string[] = [];
    const { at } = openBreaker({ onClosed: ({ sourceId }) => back.push(sourceId) });
    admit(at(30_000)).settle(failure);
    expect(back).toEqual([]);
    const probe = admit(at(90_000));
    probe.progress();
    probe.progress();
    probe.settle(success());
    expect(back).toEqual(['a/1']);
  });

  test('R-B4: of fifty who hear that it is closed, none comes beside the probe, and one after it', () => {
    let [nowMs, sent] = [0, 0];
    const { admission }: Governance = createMemoryGovernance({
      sources: [{ id: 'a/1', limits: {} }],
      breaker: threeInARow,
      now: () => nowMs,
      random: () => 1,
      report: (event) => { if (event.type === 'breaker-changed' && event.to === 'closed') sent += lets(admission, 50); },
    });
    for (let count = 0; count < 3; count += 1) admit(admission).settle(failure);
    nowMs = 30_000;
    admit(admission).settle(success());
    expect([sent, lets(admission, 50)]).toEqual([0, 1]);
  });

  test('R-B1: a probe whose success a listener turns into a new outage has no say in it', () => {
    let crowd: Permit[] = [];
    const rig = openBreaker({
      report: (event) => {
        if (event.type !== 'breaker-changed' || event.to !== 'closed' || crowd.length > 0) return;
        crowd = Array.from({ length: 3 }, () => admit(rig.gate));
        for (const permit of crowd) permit.settle(failure);
      },
    });
    const probe = admit(rig.at(30_000));
    probe.progress();
    expect(rig.gate.phases()).toEqual(open);
    probe.settle(success());
    expect(rig.gate.phases()).toEqual(open);
  });
});

describe('a probe', () => {
  test.each<[string, Outcome]>([['429', rateLimited], ['400, 401 or the caller', cancelled]])('BR-01, BR-03: ended by %s frees its place, and the next closes', (_, outcome) => {
    const { at } = openBreaker();
    admit(at(30_400)).settle(outcome);
    expect(at(30_500).phases()).toEqual(open);
    const next = admit(at(31_600));
    expect(lets(at(31_600), 5)).toBe(0);
    next.settle(success());
    expect(at(31_800).phases()).toEqual(closed);
    // Failures 0: two more do not open it.
    for (let count = 0; count < 2; count += 1) admit(at(32_000)).settle(failure);
    expect(at(32_000).phases()).toEqual(closed);
  });

  test('BR-03: left by its caller at 31 s makes way for the one at 31.1 s', () => {
    const { at } = openBreaker();
    const left = admit(at(30_400));
    expect(lets(at(30_999), 1)).toBe(0);
    left.settle(cancelled);
    const next = admit(at(31_100));
    next.progress();
    expect(at(31_300).phases()).toEqual(closed);
  });

  test('BR-04 a: that its own limit ends opens the breaker again, for twice as long', () => {
    const { at } = openBreaker({ policy: { ...threeInARow, cooldownMaxMs: 30_000 } });
    admit(at(30_400)).settle(failure);
    const hung = admit(at(60_400));
    hung.settle(failure);
    expect([lets(at(90_399), 1), lets(at(90_400), 1)]).toEqual([0, 1]);
  });

  test('BR-04 b: that is never settled loses its place after a cool-down; a later, healthy one closes', () => {
    const { at } = openBreaker();
    const dropped = admit(at(30_400));
    const answers = Array.from({ length: 30 }, (_, second) => lets(at(30_400 + second * 1000), 1));
    expect(answers).toEqual(answers.map(() => 0));
    const healthy = admit(at(60_400));
    dropped.progress();
    dropped.settle(failure);
    expect([at(60_500).phases(), lets(at(60_500), 5)]).toEqual([halfOpen, 0]);
    healthy.settle(success());
    expect(at(60_600).phases()).toEqual(closed);
  });

  test('BR-05: one of fifty at the end of the cool-down, and still one of fifty more', () => {
    const { at } = openBreaker();
    const probe = admit(at(30_400));
    expect([lets(at(30_400), 49), lets(at(35_000), 50)]).toEqual([0, 0]);
    probe.settle(failure);
    expect([at(40_400).phases(), lets(at(40_400), 50)]).toEqual([open, 0]);
  });

  test('R-B3: closes with its first increment, and its own later failure counts there', () => {
    const { at, told } = openBreaker({ policy: { ...threeInARow, failures: 2 } });
    const probe = admit(at(30_000));
    probe.progress();
    expect([at(30_100).phases(), lets(at(30_100), 5)]).toEqual([closed, 5]);
    probe.settle(failure);
    expect(at(31_000).phases()).toEqual(closed);
    admit(at(31_000)).settle(failure);
    // One more than before, since it had only just come back.
    expect(told().at(-1)).toBe('a/1 closed > open 60000');
  });

  test('R-B3: … and its later success is one result, which begins a new row', () => {
    const { at } = openBreaker();
    const probe = admit(at(30_000));
    probe.progress();
    for (let count = 0; count < 2; count += 1) admit(at(30_100)).settle(failure);
    probe.settle(success());
    for (let count = 0; count < 2; count += 1) admit(at(30_200)).settle(failure);
    expect(at(30_200).phases()).toEqual(closed);
    admit(at(30_300)).settle(failure);
    expect(at(30_300).phases()).toEqual(open);
  });

  test('G1: that was not sent leaves no trace: ready at once, for as long as before, and no longer the next time', () => {
    const { at, told } = openBreaker();
    const undone = admit(at(30_000));
    undone.settle(unsent);
    undone.settle(failure);
    expect([at(30_000).phases(), told()]).toEqual([open, ['a/1 open > half-open -', 'a/1 half-open > open 0']]);
    const probe = admit(at(30_000));
    // The undone one knows the number of this probe, and must not speak for it.
    undone.progress();
    undone.settle(success());
    expect(at(30_001).phases()).toEqual(halfOpen);
    probe.settle(failure);
    expect(told().at(-1)).toBe('a/1 half-open > open 60000');
  });
});

describe('an attempt from before', () => {
  test('R-B1: an old success does not close', () => {
    const { gate, at } = breakers();
    const old = Array.from({ length: 3 }, () => admit(gate));
    for (let count = 0; count < 3; count += 1) admit(gate).settle(failure);
    old.pop()!.settle(success());
    expect(at(1000).phases()).toEqual(open);
    admit(at(30_000));
    old.pop()!.progress();
    old.pop()!.settle(success());
    expect(at(30_000).phases()).toEqual(halfOpen);
  });

  test('R-B1: an old failure neither extends nor opens again', () => {
    const { gate, at } = breakers();
    const old = Array.from({ length: 9 }, () => admit(gate));
    const fail = (): void => { for (const permit of old.splice(0, 3)) permit.settle(failure); };
    fail();
    at(20_000);
    fail();
    expect(times(ask(gate))).toEqual([10_000, 10_000]);
    admit(at(30_000)).settle(success());
    fail();
    expect(at(30_000).phases()).toEqual(closed);
  });

  test('G3: a permit counts once, however often it is settled', () => {
    const { gate } = breakers();
    const permit = admit(gate);
    for (let count = 0; count < 9; count += 1) permit.settle(failure);
    admit(gate).settle(failure);
    expect(gate.phases()).toEqual(closed);
    admit(gate).settle(failure);
    expect(gate.phases()).toEqual(open);
  });
});

describe('while closed', () => {
  test('BR-02: ten 429s open nothing, and count nothing', () => {
    const { gate } = breakers();
    for (let count = 0; count < 10; count += 1) admit(gate).settle(rateLimited);
    for (let count = 0; count < 2; count += 1) admit(gate).settle(failure);
    expect(gate.phases()).toEqual(closed);
  });

  test.each([rateLimited, cancelled, unsent])('BR-02: 500, 500, $type, 500 opens', (neutral) => {
    const { gate } = breakers();
    for (const outcome of [failure, failure, neutral]) admit(gate).settle(outcome);
    expect(gate.phases()).toEqual(closed);
    admit(gate).settle(failure);
    expect(gate.phases()).toEqual(open);
  });

  test('W2, R-B6: a source that is silent for 120 s, one attempt right after the other, opens all the same', () => {
    const { at } = breakers();
    for (const ms of [0, 120_000, 240_000]) {
      const silent = admit(at(ms));
      at(ms + 120_000);
      silent.settle(failure);
    }
    expect(at(360_000).phases()).toEqual(open);
  });

  test('R-B6: failures of an hour ago are over', () => {
    const { at } = breakers({ policy: { ...threeInARow, failures: 5 } });
    for (let count = 0; count < 4; count += 1) admit(at(0)).settle(failure);
    admit(at(3_600_000)).settle(failure);
    expect(at(3_600_000).phases()).toEqual(closed);
  });
});
