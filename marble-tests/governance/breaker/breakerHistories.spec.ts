import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { freshBreaker, transition, verdictOf } from '../../../lib/governance/breaker/breaker.js';
import type { BreakerEvent, BreakerPolicy, BreakerState } from '../../../lib/governance/breaker/breaker.js';
import { AdmissionRefused } from '../../../lib/governance/gate.js';
import type { Outcome, Permit, Ticket } from '../../../lib/governance/gate.js';
import { admit, ask, ticketOf } from '../quota/ask.js';
import type { Answer } from '../quota/ask.js';
import { plainBreaker } from './plainBreaker.js';
import type { PlainAnswer, PlainAttempt, PlainBreaker } from './plainBreaker.js';
import { breakers, failure } from './rig.js';
import type { Rig } from './rig.js';

type Role = Ticket['role'];
type Step =
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'enter'; readonly role: Role }
  | { readonly type: 'progress'; readonly which: number }
  /** Ends one of those that run; `twice`: and once more, otherwise. Some never end. */
  | { readonly type: 'settle'; readonly which: number; readonly outcome: Outcome['type']; readonly twice: boolean };

interface World {
  readonly policy: BreakerPolicy;
  readonly firstLimitMs: number;
  readonly random: number;
}

// Powers of two and their eighths, so that every sum of times is exact.
const worlds: fc.Arbitrary<World> = fc.record({
  policy: fc.record({
    failures: fc.integer({ min: 1, max: 4 }),
    cooldownMs: fc.constantFrom(16, 64),
    cooldownMaxMs: fc.constantFrom(16, 64, 100, 1024),
    ratio: fc.constantFrom(0.25, 0.5, 1),
    windowMs: fc.constantFrom(40, 160),
    minCalls: fc.integer({ min: 1, max: 8 }),
  }),
  firstLimitMs: fc.constantFrom(0, 30, 200),
  random: fc.constantFrom(0, 0.5, 0.75, 1),
});
const which = fc.nat({ max: 99 });
const outcomes = fc.constantFrom<Outcome['type']>('success', 'success', 'failure', 'failure', 'failure', 'rate-limited', 'cancelled', 'unsent');
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wait'), ms: fc.oneof(fc.integer({ min: 0, max: 160 }).map((eighths) => eighths / 8), fc.constantFrom(16, 40, 64, 200, 2000)) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('enter'), role: fc.constantFrom<Role>('primary', 'primary', 'primary', 'backup') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('progress'), which }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('settle'), which, outcome: outcomes, twice: fc.boolean() }) },
);
const histories = fc.array(stepOf, { minLength: 1, maxLength: 120, size: 'max' });

/** In the inner loops, where thousands of `expect` take seconds. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const isIn = (answer: Answer): answer is Permit => !(answer instanceof AdmissionRefused);
const outcomeOf = (type: Outcome['type']): Outcome => (type === 'unsent' ? { type } : { type, totalTokens: null });

interface Play extends Rig {
  readonly model: PlainBreaker;
  readonly running: { readonly permit: Permit; readonly attempt: PlainAttempt }[];
  readonly world: World;
  nowMs: number;
}

/** A breaker in a world, and beside it the plain one. */
function open(world: World): Play {
  const { policy, firstLimitMs, random } = world;
  const rig = breakers({ sources: [{ id: 'a/1', probeLeaseMs: firstLimitMs }], policy, random: () => random });
  return { ...rig, model: plainBreaker(policy, world), running: [], world, nowMs: 0 };
}

function wait(played: Play, ms: number): void {
  played.nowMs += ms;
  played.at(played.nowMs);
}

interface Seen {
  readonly phase: string | undefined;
  readonly answer: PlainAnswer | undefined;
}

/** Plays a step on the gate and on the plain one, and tells what each has come to. */
function play(played: Play, step: Step): { readonly gate: Seen; readonly plain: Seen } {
  const { gate, model } = played;
  const { answer, plain } = act(played, step);
  return { gate: { phase: gate.phases()['a/1'], answer }, plain: { phase: model.phase(), answer: plain } };
}

function act(played: Play, step: Step): { answer?: PlainAnswer; plain?: PlainAnswer } {
  const { gate, model, running, nowMs } = played;
  switch (step.type) {
    case 'wait':
      wait(played, step.ms);
      return {};
    case 'enter': {
      const plain = model.ask(step.role, nowMs);
      const answer = ask(gate, { role: step.role });
      if (isIn(answer)) running.push({ permit: answer, attempt: model.enter(nowMs) });
      return { answer: isIn(answer) ? 'in' : { retryAfterMs: answer.retryAfterMs }, plain };
    }
    case 'progress':
      for (const { permit, attempt } of running.slice(step.which % Math.max(1, running.length)).slice(0, 1)) {
        permit.progress();
        model.progress(attempt, nowMs);
      }
      return {};
    case 'settle':
      for (const { permit, attempt } of running.splice(step.which % Math.max(1, running.length), 1)) {
        permit.settle(outcomeOf(step.outcome));
        model.settle(attempt, step.outcome, nowMs);
        if (step.twice) permit.settle(outcomeOf(step.outcome === 'failure' ? 'success' : 'failure'));
        if (step.twice) permit.progress();
      }
      return {};
    default:
      return step satisfies never;
  }
}

describe('any history of attempts', () => {
  test('G4, R-B1..R-B7: every answer, its time and every phase are those of a plain log searched by the letter', () => {
    const visits = { closed: 0, open: 0, 'half-open': 0 };
    fc.assert(
      fc.property(worlds, histories, (world, steps) => {
        const played = open(world);
        const seen = steps.map((step) => play(played, step));
        for (const { plain } of seen) visits[plain.phase as keyof typeof visits] += 1;
        expect(seen.map(({ gate }) => gate)).toEqual(seen.map(({ plain }) => plain));
      }),
      { numRuns: 600 },
    );
    expect(Math.min(...Object.values(visits))).toBeGreaterThan(1000);
  });

  test('R-B2: never more than one probe whose lease has not run out, and never a backup', () => {
    let probes = 0;
    fc.assert(
      fc.property(worlds, histories, (world, steps) => {
        const played = open(world);
        let out: { permit: Permit | undefined; untilMs: number } | undefined;
        let coolDownMs = 0;
        for (const step of steps) {
          const before = played.gate.phases()['a/1'];
          const wasIn = new Set(played.running);
          act(played, step);
          const entered = played.running.find((one) => !wasIn.has(one));
          if (out !== undefined && !played.running.some(({ permit }) => permit === out?.permit)) out = undefined;
          if (entered !== undefined && before !== 'closed') {
            must(step.type === 'enter' && step.role === 'primary', 'a backup is the probe');
            must(out === undefined || played.nowMs >= out.untilMs, 'two probes are out');
            out = { permit: entered.permit, untilMs: played.nowMs + Math.max(coolDownMs, world.firstLimitMs) };
            probes += 1;
          }
          for (const event of played.events.splice(0)) {
            if (event.type !== 'breaker-changed') continue;
            if (event.to === 'closed') out = undefined;
            if (event.to === 'open' && event.coolDownMs! > 0) coolDownMs = event.coolDownMs!;
          }
        }
      }),
      { numRuns: 500 },
    );
    expect(probes).toBeGreaterThan(300);
  });

  test('R-B7: a refusal changes nothing, however often it is asked for', () => {
    fc.assert(
      fc.property(worlds, histories, (world, steps) => {
        const [quiet, pestered] = [open(world), open(world)];
        const pester = ({ gate }: Play): void => {
          const refused = (['primary', 'backup'] as const).filter((role) => gate.refusal(ticketOf({ role })) !== undefined);
          for (const role of refused) ask(gate, { role });
        };
        const seen = steps.map((step) => {
          pester(pestered);
          return [play(quiet, step).gate, play(pestered, step).gate];
        });
        expect(seen.map(([, one]) => one)).toEqual(seen.map(([other]) => other));
        expect(pestered.events).toEqual(quiet.events);
      }),
      { numRuns: 200 },
    );
  });

  test('G1: an entry that was not sent changes nothing that follows', () => {
    fc.assert(
      fc.property(worlds, histories, (world, steps) => {
        const [quiet, troubled] = [open(world), open(world)];
        const enterAndLeave = ({ gate }: Play): void => {
          for (const answer of [ask(gate), ask(gate, { role: 'backup' })]) if (isIn(answer)) answer.settle({ type: 'unsent' });
        };
        const seen = steps.map((step) => {
          enterAndLeave(troubled);
          return [play(quiet, step).gate, play(troubled, step).gate];
        });
        expect(seen.map(([, one]) => one)).toEqual(seen.map(([other]) => other));
      }),
      { numRuns: 200 },
    );
  });

  test('BR-04: nobody is refused for ever, whether those that run end or not', () => {
    fc.assert(
      fc.property(worlds, histories, fc.option(outcomes), (world, steps, ending) => {
        const played = open(world);
        for (const step of steps) act(played, step);
        if (ending !== null) for (const { permit } of played.running) permit.settle(outcomeOf(ending));
        wait(played, Math.max(world.policy.cooldownMaxMs, world.firstLimitMs));
        expect(isIn(ask(played.gate))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('R-B5: no cool-down is above the most, nor under four fifths of the first', () => {
    fc.assert(
      fc.property(worlds, histories, (world, steps) => {
        const played = open({ ...world, random: 1 });
        for (const step of steps) act(played, step);
        const jittered = open({ ...world, random: 0 });
        for (const step of steps) act(jittered, step);
        const coolDowns = ({ events }: Play): number[] => events.flatMap((event) => (event.type === 'breaker-changed' && event.to === 'open' && event.coolDownMs! > 0 ? [event.coolDownMs!] : []));
        const least = Math.min(world.policy.cooldownMs, world.policy.cooldownMaxMs);
        for (const ms of coolDowns(played)) must(ms >= least && ms <= world.policy.cooldownMaxMs, `it cools down for ${ms} ms`);
        for (const ms of coolDowns(jittered)) must(ms >= least * 0.8 && ms <= world.policy.cooldownMaxMs * 0.8, `it cools down for ${ms} ms`);
      }),
      { numRuns: 300 },
    );
  });

  test('R-B7: k failures in one instant are as one opening', () => {
    fc.assert(
      fc.property(worlds, histories, fc.integer({ min: 1, max: 20 }), (world, steps, more) => {
        const afterCrowd = (extra: number): Rig => {
          const played = open(world);
          for (const step of steps) act(played, step);
          wait(played, Math.max(2048, world.firstLimitMs));
          for (const { permit } of played.running.splice(0)) permit.settle({ type: 'cancelled', totalTokens: null });
          if (played.gate.phases()['a/1'] !== 'closed') admit(played.gate).progress();
          const permits = Array.from({ length: world.policy.failures + extra }, () => admit(played.gate));
          for (const permit of permits) permit.settle(failure);
          return played;
        };
        const [some, many] = [afterCrowd(0), afterCrowd(more)];
        expect(many.events).toEqual(some.events);
        expect(many.gate.phases()).toEqual({ 'a/1': 'open' });
      }),
      { numRuns: 200 },
    );
  });
});

type Draft = { readonly type: 'probe-taken' | 'succeeded' | 'failed' | 'neutral'; readonly age: number; readonly afterMs: number };
const drafts: fc.Arbitrary<Draft[]> = fc.array(
  fc.record({ type: fc.constantFrom('probe-taken', 'succeeded', 'failed', 'failed', 'neutral'), age: fc.constantFrom(0, 0, 0, 1, 2, 5), afterMs: fc.constantFrom(0, 1, 16, 64, 300) }),
  { maxLength: 100, size: 'max' },
);

/** Calls back with each step of a history of the bare rule. */
function rule({ policy, firstLimitMs, random }: World, history: readonly Draft[], look: (step: { before: BreakerState; event: BreakerEvent; after: BreakerState; nowMs: number }) => void): void {
  let [state, nowMs]: [BreakerState, number] = [freshBreaker, 0];
  for (const { type, age, afterMs } of history) {
    nowMs += afterMs;
    const generation = state.generation - age;
    const event: BreakerEvent = type === 'probe-taken' ? { type, leaseMs: Math.max(16, firstLimitMs) } : type === 'failed' ? { type, generation, admittedMs: nowMs, random } : { type, generation };
    const after = transition(state, event, nowMs, policy);
    look({ before: state, event, after, nowMs });
    state = after;
  }
}

describe('any history of the bare rule', () => {
  test('R-B1: what belongs to another generation changes nothing, and each change of phase begins a new one', () => {
    fc.assert(
      fc.property(worlds, drafts, (world, history) => {
        rule(world, history, ({ before, event, after }) => {
          if (event.type !== 'probe-taken' && event.generation !== before.generation) must(after === before, `${event.type} of generation ${event.generation} counts in ${before.generation}`);
          // A probe in the place of one that has lapsed is a change too.
          const isChange = before.type !== after.type || (after.type === 'half-open' && after !== before);
          must(after.generation === before.generation + (isChange ? 1 : 0), `${before.type} ${before.generation} > ${after.type} ${after.generation}`);
        });
      }),
      { numRuns: 500 },
    );
  });

  test('G1: a probe that was not sent leaves an equal state', () => {
    let undone = 0;
    fc.assert(
      fc.property(worlds, drafts, (world, history) => {
        rule(world, history, ({ after: before, nowMs }) => {
          if (verdictOf(before, nowMs).type !== 'probe') return;
          const probing = transition(before, { type: 'probe-taken', leaseMs: 7 }, nowMs, world.policy);
          expect(transition(probing, { type: 'undone', generation: probing.generation, before }, nowMs, world.policy)).toEqual(before);
          undone += 1;
        });
      }),
      { numRuns: 300 },
    );
    expect(undone).toBeGreaterThan(500);
  });

  test('R-B5: a level goes up by one at most, never over the first whose cool-down is the longest, and down by a window of health each', () => {
    fc.assert(
      fc.property(worlds, drafts, (world, history) => {
        const { cooldownMs, cooldownMaxMs, windowMs } = world.policy;
        rule(world, history, ({ before, after, nowMs }) => {
          must(after.level <= before.level + 1 && (after.level === 0 || cooldownMs * 2 ** (after.level - 1) < cooldownMaxMs), `level ${before.level} > ${after.level}`);
          if (before.type !== 'closed' || after.type !== 'open') return;
          must(after.level === Math.max(0, before.level - Math.floor((nowMs - before.sinceMs) / windowMs)), `level ${before.level} > ${after.level} after health`);
        });
      }),
      { numRuns: 300 },
    );
  });

  test('R-B7, G6: a state stays small, and survives JSON', () => {
    fc.assert(
      fc.property(worlds, drafts, (world, history) => {
        const states: BreakerState[] = [];
        rule(world, history, ({ after }) => states.push(after));
        expect(JSON.parse(JSON.stringify(states))).toEqual(states);
        expect(Math.max(0, ...states.map((state) => (state.type === 'closed' ? state.buckets.length : 0)))).toBeLessThanOrEqual(10);
      }),
      { numRuns: 100 },
    );
  });
});
