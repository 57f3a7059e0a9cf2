import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Outcome, Permit } from '../../lib/governance/gate.js';
import { memoryHolder, redisHolder } from './holders.js';
import type { Holder, WorldSpec } from './holders.js';

// What the rules are is proved for the holder in memory, decision by decision; here the one in Redis, whose rules are
// written once more to run beside the data, is held against it.

type Step =
  | { readonly type: 'enter'; readonly backup: boolean; readonly tokens: number }
  | { readonly type: 'progress'; readonly which: number }
  | { readonly type: 'settle'; readonly which: number; readonly outcome: Outcome }
  | { readonly type: 'park'; readonly forMs: number }
  | { readonly type: 'wait'; readonly ms: number };

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ type: fc.constantFrom('success', 'failure', 'rate-limited', 'cancelled'), totalTokens: fc.option(fc.nat(300)) }) as fc.Arbitrary<Outcome>,
  fc.constant({ type: 'unsent' } as const),
);
const which = fc.nat(30);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('enter' as const), backup: fc.boolean(), tokens: fc.nat(120) }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('settle' as const), which, outcome }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('progress' as const), which }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('park' as const), forMs: fc.nat(90_000) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.oneof(fc.nat(500), fc.nat(40_000), fc.constantFrom(60_000, 120_000)) }) },
);

const limit = (most: number): fc.Arbitrary<number | undefined> => fc.option(fc.integer({ min: 1, max: most }), { nil: undefined });

const world: fc.Arbitrary<WorldSpec> = fc
  .record({
    maxConcurrency: limit(4),
    rpm: limit(6),
    tpm: fc.option(fc.integer({ min: 100, max: 600 }), { nil: undefined }),
    failures: fc.integer({ min: 1, max: 4 }),
    cooldownMaxMs: fc.constantFrom(30_000, 50_000, 240_000),
    ratio: fc.constantFrom(0.5, 1),
    minCalls: fc.constantFrom(3, Infinity),
    random: fc.constantFrom(0, 0.5, 1),
    timeoutMs: fc.constantFrom(500, 50_000),
  })
  .map(({ maxConcurrency, rpm, tpm, random, timeoutMs, ...breaker }) => ({
    sources: [{ id: 'a/1', limits: { timeoutMs }, ...(maxConcurrency !== undefined && { maxConcurrency }), ...(rpm !== undefined && { rpm }), ...(tpm !== undefined && { tpm }) }],
    breaker,
    random: () => random,
  }));

/** All that can be seen of a history: each answer, each event, and what is told of the state after each step. */
async function play(holder: Holder, spec: WorldSpec, steps: readonly Step[]): Promise<unknown[]> {
  const { governance, events, enter, advance, heard, close } = holder.open(spec);
  const permits: Permit[] = [];
  const seen: unknown[] = [];
  try {
    for (const taken of steps) {
      const permit = 'which' in taken ? permits[taken.which % Math.max(1, permits.length)] : undefined;
      switch (taken.type) {
        case 'enter': {
          const answer = await enter({ role: taken.backup ? 'backup' : 'primary', estimatedTokens: taken.tokens });
          if (!(answer instanceof AdmissionRefused)) permits.push(answer);
          seen.push(answer instanceof AdmissionRefused ? facts(answer) : 'in');
          break;
        }
        case 'progress':
          permit?.progress();
          break;
        case 'settle':
          permit?.settle(taken.outcome);
          break;
        case 'park':
          governance.parking.park('a/1', taken.forMs);
          break;
        case 'wait':
          advance(taken.ms);
          break;
        default:
          taken satisfies never;
      }
      await heard();
      seen.push({ step: taken.type, events: events.splice(0), permits: governance.permits(), parked: governance.parking.parked() });
    }
  } finally {
    await close();
  }
  return seen;
}

interface Facts {
  readonly reasons: readonly string[];
  readonly retryAfterMs: number | undefined;
  readonly notBeforeMs: number;
  readonly asked: boolean;
  readonly hopeless: boolean;
}

function facts({ message, retryAfterMs, notBeforeMs, asked, hopeless }: AdmissionRefused): Facts {
  return { reasons: message.split(/, (?:and )?(?=a\/1 |the breaker )/), retryAfterMs, notBeforeMs, asked, hopeless };
}

function isFacts(answer: unknown): answer is Facts {
  return typeof answer === 'object' && answer !== null && 'reasons' in answer;
}

/** Where a no is known for a while yet Redis is not asked, and further reasons that have come up since are not told. */
function withAllReasons(inRedis: unknown, inMemory: unknown): unknown {
  if (!isFacts(inRedis) || !isFacts(inMemory)) return inRedis;
  const known = inRedis.reasons.every((reason) => inMemory.reasons.includes(reason));
  return known && inRedis.reasons.length < inMemory.reasons.length ? inMemory : inRedis;
}

describe('the holder in Redis', () => {
  test('G1 to G5, R3: gives the answers, in the words and with the events, of the one in memory, in any history', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(step, { minLength: 5, maxLength: 60 }), async (spec, steps) => {
        const [inMemory, inRedis] = await Promise.all([play(memoryHolder, spec, steps), play(redisHolder(), spec, steps)]);
        expect(inRedis.map((answer, at) => withAllReasons(answer, inMemory[at]))).toEqual(inMemory);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
