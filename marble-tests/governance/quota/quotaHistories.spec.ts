import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Outcome, Permit } from '../../../lib/governance/gate.js';
import { createQuotaGate } from '../../../lib/governance/quota/quotaGate.js';
import type { QuotaGate } from '../../../lib/governance/quota/quotaGate.js';
import type { QuotaLimits } from '../../../lib/governance/quota/quotaRules.js';
import { admit, ask, success, ticketOf, unsent } from './ask.js';
import type { Answer } from './ask.js';
import { bruteForce } from './bruteForce.js';
import type { BruteForce, Entry, Verdict } from './bruteForce.js';

type Step =
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'enter'; readonly tokens: number }
  /** Gives back one of those that run; `twice`: and once more, otherwise. */
  | { readonly type: 'settle'; readonly which: number; readonly outcome: Outcome; readonly twice: boolean };

const tokens = fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 1, 100, 500));
// Eighths of a millisecond, so that every sum of times is exact.
const waits = fc.oneof(fc.constantFrom(0, 0.125, 59_999.875, 60_000, 60_000.125), fc.integer({ min: 0, max: 320_000 }).map((eighths) => eighths / 8));
const outcomesWith = (totalTokens: fc.Arbitrary<number | null>): fc.Arbitrary<Outcome> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('success', 'failure', 'rate-limited', 'cancelled'), totalTokens }) },
    { weight: 1, arbitrary: fc.constant<Outcome>({ type: 'unsent' }) },
  );
const stepsWith = (outcome: fc.Arbitrary<Outcome>): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ type: fc.constant('wait'), ms: waits }) },
      { weight: 4, arbitrary: fc.record({ type: fc.constant('enter'), tokens }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('settle'), which: fc.nat({ max: 99 }), outcome, twice: fc.boolean() }) },
    ),
    { minLength: 1, maxLength: 60, size: 'max' },
  );
const limitsOf = fc.record(
  { rpm: fc.integer({ min: 1, max: 8 }), tpm: fc.integer({ min: 1, max: 300 }), maxConcurrency: fc.integer({ min: 1, max: 6 }) },
  { requiredKeys: [] },
);
const anyOutcome = outcomesWith(fc.option(fc.oneof(tokens, fc.nat({ max: 1000 }))));

interface Play {
  readonly gate: QuotaGate;
  readonly model: BruteForce;
  readonly running: { readonly permit: Permit; readonly entry: Entry }[];
  readonly clock: { nowMs: number };
}

/** What a step came to, as the gate has it, or as the plain log has it. */
interface Seen {
  readonly inUse: number | undefined;
  readonly requests: number;
  readonly tokens: number;
  readonly refused: Verdict | undefined;
}

function open(limits: Omit<QuotaLimits, 'id'>): Play {
  const clock = { nowMs: 0 };
  return { gate: createQuotaGate({ sources: [{ id: 'a/1', ...limits }], now: () => clock.nowMs }), model: bruteForce(limits), running: [], clock };
}

/** Plays a step on the gate and on the log. */
function play(played: Play, step: Step): { gate: Seen; log: Seen } {
  const { gate, model, clock } = played;
  const { answer, verdict } = act(played, step);
  return {
    gate: { inUse: gate.inUse()['a/1'], ...gate.spent('a/1'), refused: verdictOf(answer) },
    log: { inUse: model.inUse(), ...model.spent(clock.nowMs), refused: verdict },
  };
}

function act({ gate, model, running, clock }: Play, step: Step): { answer?: Answer; verdict?: Verdict | undefined } {
  if (step.type === 'wait') {
    clock.nowMs += step.ms;
    return {};
  }
  if (step.type === 'enter') {
    const verdict = model.ask(step.tokens, clock.nowMs);
    const answer = ask(gate, { estimatedTokens: step.tokens });
    if (!(answer instanceof AdmissionRefused)) running.push({ permit: answer, entry: model.enter(step.tokens, clock.nowMs) });
    return { answer, verdict };
  }
  for (const { permit, entry } of running.splice(step.which % Math.max(1, running.length), 1)) {
    permit.settle(step.outcome);
    model.settle(entry, step.outcome);
    if (step.twice) permit.settle(step.outcome.type === 'unsent' ? success(999) : unsent);
  }
  return {};
}

function verdictOf(answer: Answer | undefined): Verdict | undefined {
  return answer instanceof AdmissionRefused ? { retryAfterMs: answer.retryAfterMs, notBeforeMs: answer.notBeforeMs } : undefined;
}

describe('any history of requests', () => {
  test('G1, G2: every decision, its times and every counter are those of a plain log searched by the letter', () => {
    fc.assert(
      fc.property(limitsOf, stepsWith(anyOutcome), (limits, steps) => {
        const played = open(limits);
        const seen = steps.map((step) => play(played, step));
        expect(seen.map(({ gate }) => gate)).toEqual(seen.map(({ log }) => log));
      }),
      { numRuns: 400 },
    );
  });

  test('no window of 60 s holds more starts than rpm or more reserved tokens than tpm; never more at once than allowed', () => {
    fc.assert(
      fc.property(limitsOf, stepsWith(outcomesWith(fc.constant(null))), (limits, steps) => {
        const { rpm = Infinity, tpm = Infinity, maxConcurrency = Infinity } = limits;
        const played = open(limits);
        const atOnce = steps.map((step) => {
          act(played, step);
          return played.running.length;
        });
        const sent = played.model.log.filter(({ withdrawn }) => !withdrawn);
        const windows = sent.map(({ atMs }) => sent.filter((other) => other.atMs >= atMs && other.atMs < atMs + 60_000));
        expect(Math.max(...atOnce)).toBeLessThanOrEqual(maxConcurrency);
        expect(Math.max(0, ...windows.map(({ length }) => length))).toBeLessThanOrEqual(rpm);
        expect(Math.max(0, ...windows.map((window) => window.reduce((sum, { reserved }) => sum + reserved, 0)))).toBeLessThanOrEqual(tpm);
      }),
      { numRuns: 200 },
    );
  });

  test('R-Q6: a refusal changes no counter and no later decision, however often it is asked for', () => {
    fc.assert(
      fc.property(limitsOf, stepsWith(anyOutcome), fc.array(tokens, { minLength: 1, maxLength: 5 }), (limits, steps, questions) => {
        const [quiet, pestered] = [open(limits), open(limits)];
        const pester = ({ gate }: Play): void => {
          const refused = questions.filter((estimatedTokens) => gate.refusal(ticketOf({ estimatedTokens })) !== undefined);
          for (const estimatedTokens of refused) ask(gate, { estimatedTokens });
        };
        const seen = steps.map((step) => {
          pester(pestered);
          return [play(quiet, step).gate, play(pestered, step).gate];
        });
        expect(seen.map(([, one]) => one)).toEqual(seen.map(([other]) => other));
      }),
      { numRuns: 100 },
    );
  });

  test('B4: who is told a time is let in then, if alone, and not 0.001 ms sooner unless something is given back', () => {
    let told = 0;
    fc.assert(
      fc.property(limitsOf, stepsWith(anyOutcome), tokens, ({ rpm, tpm }, steps, estimatedTokens) => {
        const played = open({ rpm, tpm });
        for (const step of steps) act(played, step);
        const refused = ask(played.gate, { estimatedTokens });
        if (!(refused instanceof AdmissionRefused)) return;
        told += 1;
        const { retryAfterMs = NaN, notBeforeMs } = refused;
        const thenMs = played.clock.nowMs + retryAfterMs;
        expect(notBeforeMs).toBeLessThanOrEqual(retryAfterMs);
        played.clock.nowMs = thenMs - 0.001;
        expect(ask(played.gate, { estimatedTokens })).toBeInstanceOf(AdmissionRefused);
        played.clock.nowMs = thenMs;
        expect(ask(played.gate, { estimatedTokens })).not.toBeInstanceOf(AdmissionRefused);
      }),
      { numRuns: 200 },
    );
    expect(told).toBeGreaterThan(40);
  });

  test('what is settled adds up to what was reported, and at rest nothing is in use', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ estimate: tokens, used: fc.nat({ max: 10_000 }) }), { maxLength: 50 }), (requests) => {
        const gate = createQuotaGate({ sources: [{ id: 'a/1' }], now: () => 0 });
        const permits = requests.map(({ estimate }) => admit(gate, { estimatedTokens: estimate }));
        for (const [at, permit] of permits.entries()) permit.settle(success(requests[at]!.used));
        expect(gate.spent('a/1')).toEqual({ requests: requests.length, tokens: requests.reduce((sum, { used }) => sum + used, 0) });
        expect(gate.inUse()).toEqual({ 'a/1': 0 });
      }),
    );
  });
});
