import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Gate, Permit, Ticket } from '../../../lib/governance/gate.js';
import { createHedgeCap } from '../../../lib/governance/hedging/hedgeCap.js';
import { admit, ask, said, success, ticketOf, times, unsent } from '../quota/ask.js';
import type { Answer } from '../quota/ask.js';

const backup: Partial<Ticket> = { role: 'backup', sourceId: 'b/1' };
const isIn = (answer: Answer): answer is Permit => !(answer instanceof AdmissionRefused);
const calls = (gate: Gate, count: number): Permit[] => Array.from({ length: count }, () => admit(gate));
const backups = (gate: Gate, count: number): number => Array.from({ length: count }, () => ask(gate, backup)).filter(isIn).length;

describe('createHedgeCap', () => {
  test('H10: it starts with one backup; then each takes 1, and each call brings the ratio', () => {
    const gate = createHedgeCap({ ratio: 0.1 });
    expect(backups(gate, 5)).toBe(1);
    calls(gate, 9);
    expect(said(ask(gate, backup))).toBe('b/1 gets no backup: they are held to 0.1 per call, and 0.9 of one is left');
    expect(times(ask(gate, backup))).toEqual([0, undefined]);
    calls(gate, 1);
    expect(backups(gate, 5)).toBe(1);
  });

  test.each([[0.1, 10], [0.2, 5], [0.05, 20], [0.01, 100], [0.3, 10], [0.7, 10], [1, 1], [0.07, 100], [0.001, 1000]])('H10: sums are exact: %p over %p calls', (ratio, count) => {
    const gate = createHedgeCap({ ratio });
    backups(gate, 1);
    for (let turn = 0; turn < 20; turn += 1) {
      const granted = Array.from({ length: count }, () => calls(gate, 1).length * backups(gate, 1));
      expect([granted.reduce((sum, one) => sum + one, 0), granted.at(-1)]).toEqual([Math.round(ratio * count), 1]);
    }
  });

  test('H10: of what is not used, three are kept', () => {
    const gate = createHedgeCap({ ratio: 0.5 });
    calls(gate, 1000);
    expect(backups(gate, 50)).toBe(3);
  });

  test('HG-10: of 32 that want a backup in one instant, as many get one as there are, never one more', () => {
    for (const [ratio, granted] of [[0.01, 1], [0.05, 2], [0.25, 3], [1, 3]] as const) {
      const gate = createHedgeCap({ ratio });
      calls(gate, 32);
      expect(backups(gate, 32)).toBe(granted);
    }
  });

  test('H10: no primary is refused, and only the first round of a call counts', () => {
    const gate = createHedgeCap({ ratio: 1 });
    backups(gate, 1);
    for (const round of [2, 3, 4]) admit(gate, { round });
    expect([backups(gate, 5), gate.refusal(ticketOf())]).toEqual([0, undefined]);
    admit(gate, { round: 1 });
    expect(backups(gate, 5)).toBe(1);
  });

  test('G3: what was not sent is undone exactly, once; every other end changes nothing', () => {
    const gate = createHedgeCap({ ratio: 0.5 });
    const [call] = calls(gate, 1);
    call!.settle(unsent);
    call!.settle(unsent);
    calls(gate, 1)[0]!.settle(success());
    expect(backups(gate, 5)).toBe(1);
    calls(gate, 1);
    const undone = admit(gate, backup);
    undone.settle(unsent);
    undone.settle(unsent);
    expect(backups(gate, 5)).toBe(1);
    calls(gate, 100);
    // Full: nothing was added, so nothing is taken away.
    calls(gate, 1)[0]!.settle(unsent);
    admit(gate, backup).settle(unsent);
    expect(backups(gate, 5)).toBe(3);
  });
});

test('H10: over any history backups <= 1 + ratio x calls, never refused while one is left, never a primary', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('call' as const) },
    { weight: 3, arbitrary: fc.constant('backup' as const) },
    { weight: 1, arbitrary: fc.constant('later round' as const) },
    { weight: 1, arbitrary: fc.constant('undone backup' as const) },
  );
  const percents = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(percents, fc.array(step, { maxLength: 150, size: 'max' }), (percent, steps) => {
      const gate = createHedgeCap({ ratio: percent / 100 });
      const tally = { calls: 0, backups: 0 };
      // In whole hundredths.
      let left = 100;
      for (const one of steps) {
        if (one === 'call' || one === 'later round') {
          admit(gate, { round: one === 'call' ? 1 : 2 });
          tally.calls += one === 'call' ? 1 : 0;
          left = Math.min(300, left + (one === 'call' ? percent : 0));
          continue;
        }
        const answer = ask(gate, backup);
        if (isIn(answer) !== left >= 100) throw new Error(`with ${left} % of one left it answered ${said(answer)}`);
        if (!isIn(answer)) continue;
        if (one === 'undone backup') answer.settle(unsent);
        else {
          tally.backups += 1;
          left -= 100;
        }
        if (tally.backups * 100 > 100 + percent * tally.calls) throw new Error(`${tally.backups} backups of ${tally.calls} calls`);
      }
    }),
    { numRuns: 200 },
  );
});
