import type { ChatDelta } from '../../../lib/model/delta.js';
import type { FailureClass, GatewayError } from '../../../lib/model/errors.js';
import type { ScriptStep } from '../../../lib/sources/scriptedSource.js';
import type { SourceSpec } from '../virtualGateway.js';

/** What an attempt comes to if nobody ends it from outside, computed from its script by plain arithmetic. Times count from its start. */
export interface Solo {
  readonly endMs: number;
  readonly failureClass: FailureClass | null;
  readonly byWatchdog: boolean;
  /** The source itself failed; that comes in the first turn of its instant, other ends may take a second. */
  readonly thrown: boolean;
  readonly finishMs: number;
  readonly finishReason: string;
  readonly askedMs: number;
  /** One for each increment. */
  readonly incrementsMs: readonly number[];
  readonly deltas: readonly { readonly atMs: number; readonly delta: ChatDelta }[];
}

const finishGraceMs = 1000;

export function soloAttempt(script: readonly ScriptStep[], { ttftS = Infinity, interTokenS, timeoutS = Infinity }: SourceSpec, streamed: boolean): Solo {
  const incrementsMs: number[] = [];
  const deltas: { atMs: number; delta: ChatDelta }[] = [];
  let finishMs = Infinity;
  let finishReason = 'unknown';

  const ended = (endMs: number, failure: { failureClass: FailureClass; byWatchdog?: boolean; thrown?: boolean; askedMs?: number } | null): Solo => {
    const empty = failure === null && incrementsMs.length === 0 ? { failureClass: 'transient' as const } : failure;
    return { endMs, failureClass: null, byWatchdog: false, thrown: false, askedMs: 0, ...empty, finishMs, finishReason: withCalls(finishReason, deltas), incrementsMs, deltas };
  };
  const limitMs = (): number => {
    if (finishMs < Infinity) return finishMs + finishGraceMs;
    const betweenMs = (interTokenS === 'none' || interTokenS === undefined ? timeoutS : interTokenS) * 1000;
    const silentMs = incrementsMs.length === 0 ? ttftS * 1000 : incrementsMs.at(-1)! + betweenMs;
    return Math.min(timeoutS * 1000, streamed ? silentMs : Infinity);
  };
  const cutByLimit = (): Solo => ended(limitMs(), finishMs < Infinity ? null : { failureClass: 'transient', byWatchdog: true });

  for (const step of script) {
    if (step.atMs > limitMs()) return cutByLimit();
    if (step.type === 'end') return ended(step.atMs, null);
    if (step.type === 'error') {
      const { code, retryAfterS = 0 } = step.error as GatewayError;
      return ended(step.atMs, finishMs < Infinity ? null : { failureClass: code as FailureClass, thrown: true, askedMs: retryAfterS * 1000 });
    }
    deltas.push({ atMs: step.atMs, delta: step.delta });
    if (step.delta.type === 'finish') {
      finishMs = step.atMs;
      finishReason = step.delta.reason;
    } else if (brings(step.delta)) incrementsMs.push(step.atMs);
  }
  return cutByLimit();
}

function brings(delta: ChatDelta): boolean {
  if (delta.sameFrame === true) return false;
  return 'text' in delta ? delta.text !== '' : delta.type === 'tool-call';
}

function withCalls(reason: string, deltas: readonly { delta: ChatDelta }[]): string {
  return reason === 'stop' && deltas.some(({ delta }) => delta.type === 'tool-call') ? 'tool_calls' : reason;
}

export interface PlainFigures {
  readonly ttftMs: number | null;
  readonly stallMs: number | null;
  readonly stallCount: number | null;
  readonly maxInterTokenMs: number | null;
  readonly recordGaps: readonly (readonly [number, number])[];
}

/** The figures of increments at these times in an attempt of this length. */
export function plainFigures(incrementsMs: readonly number[], endMs: number, thresholdMs: number): PlainFigures {
  const waits = [...incrementsMs, endMs].map((atMs, at) => ({ fromMs: incrementsMs[at - 1] ?? 0, lengthMs: atMs - (incrementsMs[at - 1] ?? 0) }));
  const gaps = waits.slice(1, -1).map(({ lengthMs }) => lengthMs);
  const stalls = gaps.filter((lengthMs) => lengthMs > thresholdMs);
  const longerThanBefore = waits.filter(({ lengthMs }, at) => waits.slice(1, at).every((before) => before.lengthMs < lengthMs) && lengthMs > 0);
  const measured = incrementsMs.length > 1;
  return {
    ttftMs: incrementsMs[0] ?? null,
    stallMs: measured ? stalls.reduce((sum, lengthMs) => sum + lengthMs, 0) : null,
    stallCount: measured ? stalls.length : null,
    maxInterTokenMs: measured ? Math.max(...gaps) : null,
    recordGaps: longerThanBefore.map(({ fromMs, lengthMs }) => [fromMs, lengthMs] as const),
  };
}
