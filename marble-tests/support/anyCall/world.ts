import fc from 'fast-check';
import type { Policy } from '../../../lib/gateway/ports.js';
import type { ChatDelta } from '../../../lib/model/delta.js';
import { attemptError } from '../../../lib/model/errors.js';
import type { FailureClass, GatewayError } from '../../../lib/model/errors.js';
import type { ScriptStep } from '../../../lib/sources/scriptedSource.js';
import type { SourceSpec } from '../virtualGateway.js';

/** All times are whole multiples of this, small enough in number that the same instant is hit again and again. */
const unitMs = 100;
const longestDeadlineMs = 60 * unitMs;

export interface PlannedCall {
  readonly atMs: number;
  readonly stream: boolean;
  readonly ends?: { readonly how: 'leave' | 'abort'; readonly atMs: number };
}

/** Sources, settings and calls, all made up. */
export interface World {
  readonly sources: readonly (SourceSpec & { readonly scripts: readonly (readonly ScriptStep[])[] })[];
  readonly policy: Partial<Policy>;
  readonly calls: readonly PlannedCall[];
}

interface Frame {
  readonly gap: number;
  readonly kind: 'content' | 'reasoning' | 'refusal' | 'tool-call' | 'several' | 'noise';
}

type End =
  | { readonly type: 'hang' }
  | { readonly type: 'finish'; readonly gap: number; readonly reason: string }
  | { readonly type: 'finish-open'; readonly gap: number; readonly reason: string; readonly usageGap: number; readonly rest: 'hang' | 'end' | 'error'; readonly restGap: number }
  | { readonly type: 'end'; readonly gap: number }
  | { readonly type: 'error'; readonly gap: number; readonly failureClass: FailureClass; readonly askedUnits: number };

const upTo = (max: number, min = 0): fc.Arbitrary<number> => fc.integer({ min, max });
const ms = (max: number, min = 1): fc.Arbitrary<number> => upTo(max, min).map((units) => units * unitMs);
const reason = fc.constantFrom('stop', 'length', 'content_filter');

const anyFrame: fc.Arbitrary<Frame> = fc.record({ gap: upTo(8), kind: fc.constantFrom('content', 'content', 'reasoning', 'refusal', 'tool-call', 'several', 'noise') });

const anyEnd: fc.Arbitrary<End> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('finish'), gap: upTo(8, 1), reason }) },
  { weight: 2, arbitrary: fc.constant({ type: 'hang' }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('finish-open'), gap: upTo(8, 1), reason, usageGap: upTo(6, 1), rest: fc.constantFrom('hang', 'end', 'error'), restGap: upTo(8, 1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('end'), gap: upTo(8, 1) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('error'), gap: upTo(8, 1), failureClass: fc.constantFrom('transient', 'transient', 'rate_limited', 'source', 'request'), askedUnits: fc.oneof(fc.constant(0), upTo(20), fc.constant(700)) }) },
);

const anyScript = fc.tuple(fc.oneof({ weight: 5, arbitrary: fc.array(anyFrame, { minLength: 1, maxLength: 6 }) }, { weight: 1, arbitrary: fc.constant([]) }), anyEnd).map(([frames, end]) => toScript(frames, end));

const anySource = fc
  .record({
    scripts: fc.array(anyScript, { minLength: 1, maxLength: 3 }),
    ttftS: upTo(16, 4).map((units) => (units * unitMs) / 1000),
    interTokenS: fc.oneof(fc.constant('none' as const), upTo(14, 4).map((units) => (units * unitMs) / 1000)),
    timeoutS: upTo(60, 10).map((units) => (units * unitMs) / 1000),
    maxConcurrency: fc.oneof(fc.constant(undefined), upTo(2, 1)),
  })
  .map(({ maxConcurrency, ...spec }) => ({ ...spec, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) }));

const anyPolicy = fc.record({
  stallThresholdMs: ms(8),
  hedgeAfterMs: fc.oneof(fc.constant(null), ms(8)),
  hedgeStallAfterMs: fc.oneof(fc.constant(null), ms(8), ms(3)),
  callDeadlineMs: fc.oneof(fc.constant(null), ms(60, 8)),
  maxAttempts: upTo(3, 1),
  backoffMs: ms(6),
  backoffMaxMs: fc.constant(1000),
  backpressure: fc.constantFrom('wait' as const, 'wait' as const, 'fail_fast' as const),
  stallWindowMs: ms(60, 5),
  pollEveryMs: ms(7, 2),
});

const anyPlannedCall = fc
  .record({
    atMs: ms(15, 0),
    stream: fc.constantFrom(true, true, true, false),
    ends: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.record({ how: fc.constantFrom('leave' as const, 'abort' as const), atMs: ms(50, 0) }) }),
  })
  .map(({ ends, ...call }): PlannedCall => (ends === undefined ? call : { ...call, ends }));

export const anyWorld: fc.Arbitrary<World> = fc
  .record({
    sources: fc.array(anySource, { minLength: 1, maxLength: 3 }),
    policy: anyPolicy,
    calls: fc.oneof({ weight: 2, arbitrary: fc.array(anyPlannedCall, { minLength: 1, maxLength: 1 }) }, { weight: 1, arbitrary: fc.array(anyPlannedCall, { minLength: 2, maxLength: 4 }) }),
  })
  .map(bounded);

/** 429s that take their time at several sources burn neither attempts nor waits: only a deadline ends such a call. */
function bounded({ policy, ...world }: World): World {
  const limited = world.sources.some(({ scripts }) => scripts.flat().some((step) => step.type === 'error' && (step.error as GatewayError).code === 'rate_limited'));
  return { ...world, policy: limited ? { ...policy, callDeadlineMs: policy.callDeadlineMs ?? longestDeadlineMs } : policy };
}

function toScript(frames: readonly Frame[], end: End): ScriptStep[] {
  const steps: ScriptStep[] = [];
  let atMs = 0;
  let noisy = false;
  frames.forEach(({ gap, kind }, at) => {
    // After noise time passes: two steps of one instant take two turns, and the first would have to be output.
    atMs += (noisy ? Math.max(1, gap) : gap) * unitMs;
    noisy = kind === 'noise';
    for (const delta of toDeltas(kind, `${at}`)) steps.push({ atMs, type: 'delta', delta });
  });
  return [...steps, ...toEnd(end, atMs)];
}

function toDeltas(kind: Frame['kind'], text: string): ChatDelta[] {
  switch (kind) {
    case 'noise':
      return [{ type: 'content', text: '' }];
    case 'tool-call':
      return [{ type: 'tool-call', index: 0, id: 'call_1', name: 'tool', arguments: text }];
    case 'several':
      return [{ type: 'reasoning', text }, { type: 'content', text, sameFrame: true }];
    default:
      return [{ type: kind, text }];
  }
}

function toEnd(end: End, lastMs: number): ScriptStep[] {
  if (end.type === 'hang') return [];
  const atMs = lastMs + end.gap * unitMs;
  switch (end.type) {
    case 'finish':
      return [{ atMs, type: 'delta', delta: { type: 'finish', reason: end.reason } }, { atMs, type: 'end' }];
    case 'finish-open': {
      const usageMs = atMs + end.usageGap * unitMs;
      const restMs = usageMs + end.restGap * unitMs;
      return [
        { atMs, type: 'delta', delta: { type: 'finish', reason: end.reason } },
        { atMs: usageMs, type: 'delta', delta: { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, reasoningTokens: null, cachedTokens: null } } },
        ...(end.rest === 'end' ? [{ atMs: restMs, type: 'end' as const }] : []),
        ...(end.rest === 'error' ? [failure(restMs, 'transient', 0)] : []),
      ];
    }
    case 'end':
      // Its only turn would come before those that others take at the same instant: so it has an instant of its own.
      return [{ atMs: atMs + 1, type: 'end' }];
    case 'error':
      return [failure(atMs, end.failureClass, end.askedUnits)];
    default:
      return end satisfies never;
  }
}

function failure(atMs: number, failureClass: FailureClass, askedUnits: number): ScriptStep {
  const facts = askedUnits === 0 ? {} : { retryAfterS: (askedUnits * unitMs) / 1000 };
  return { atMs, type: 'error', get error() { return attemptError(failureClass, `made up: ${failureClass}`, facts); } };
}
