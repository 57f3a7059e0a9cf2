import type { FailureClass, GatewayError } from '../../../lib/model/errors.js';
import type { AttemptRecord } from '../../../lib/model/events.js';
import type { ChatResponse } from '../../../lib/model/response.js';
import type { Played, PlayedCall } from './playWorld.js';
import { soloAttempt } from './soloAttempt.js';
import type { Solo } from './soloAttempt.js';

/** An attempt as it was booked, beside what it would have come to alone. */
export interface Attempt {
  readonly row: AttemptRecord;
  readonly solo: Solo;
  /** When it would have ended by itself. */
  readonly soloEndMs: number;
}

/** A call with the times at which it may be ended from outside. */
export interface Judged extends PlayedCall {
  readonly startMs: number;
  readonly leftMs: number;
  readonly deadlineMs: number;
  readonly endMs: number | undefined;
  readonly response: ChatResponse | undefined;
  readonly error: unknown;
  readonly rounds: readonly (readonly Attempt[])[];
}

export function toJudged(call: PlayedCall, { world, gateway, scriptOf }: Played): Judged {
  const { atMs, ends, stream } = call.planned;
  const { callDeadlineMs = null } = world.policy;
  const attempts = gateway.rows
    .filter(({ callId }) => callId === call.callId)
    .map((row): Attempt => {
      const at = gateway.sources.findIndex(({ id }) => id === row.source);
      const solo = soloAttempt(scriptOf.get(row.id) ?? [], world.sources[at]!, stream);
      return { row, solo, soloEndMs: row.startedMs + solo.endMs };
    });
  const rounds = [...new Set(attempts.map(({ row }) => row.round))].sort((a, b) => a - b).map((number) => attempts.filter(({ row }) => row.round === number).sort((a, b) => a.row.startedMs - b.row.startedMs));
  const first = call.told[0];
  const effective = ends !== undefined && (ends.how === 'abort' || ends.atMs >= atMs);
  return {
    ...call,
    startMs: atMs,
    leftMs: effective ? Math.max(atMs, ends.atMs) : Infinity,
    deadlineMs: callDeadlineMs === null ? Infinity : atMs + callDeadlineMs,
    endMs: first?.frame,
    response: first?.notification.kind === 'N' ? (first.notification.value as ChatResponse) : undefined,
    error: first?.notification.error,
    rounds,
  };
}

export interface Decision {
  readonly atMs: number;
  readonly winner: Attempt | undefined;
  /** Of a round that failed. */
  readonly failureClass: FailureClass | undefined;
}

const hopefulFirst: readonly FailureClass[] = ['transient', 'rate_limited', 'source', 'request'];
export const isWeak = ({ solo }: Attempt): boolean => solo.finishReason === 'content_filter';

/** H4, H6, H7: the first valid completion; the primary on ties; a refusal only when there is nothing to wait for. */
export function decide(round: readonly Attempt[]): Decision {
  const inOrder = [...round].sort((a, b) => a.soloEndMs - b.soloEndMs);
  const strong = inOrder.find((attempt) => attempt.solo.failureClass === null && !isWeak(attempt));
  if (strong !== undefined) return { atMs: strong.soloEndMs, winner: strong, failureClass: undefined };
  const weak = inOrder.find(({ solo }) => solo.failureClass === null);
  const failureClass = hopefulFirst.find((one) => round.some(({ solo }) => solo.failureClass === one));
  return { atMs: Math.max(...round.map(({ soloEndMs }) => soloEndMs)), winner: weak, failureClass: weak === undefined ? failureClass : undefined };
}

/** H4, H15: complete, or lacking nothing but usage and end marker. */
export function isWholeAt({ row, solo, soloEndMs }: Attempt, atMs: number): boolean {
  return solo.failureClass === null && Math.min(soloEndMs, row.startedMs + solo.finishMs) <= atMs;
}

/** B2: time with at least one attempt in flight. */
export function productiveMs(attempts: readonly Attempt[]): number {
  let untilMs = -Infinity;
  let sumMs = 0;
  for (const { row } of [...attempts].sort((a, b) => a.row.startedMs - b.row.startedMs)) {
    sumMs += Math.max(0, row.endedMs - Math.max(untilMs, row.startedMs));
    untilMs = Math.max(untilMs, row.endedMs);
  }
  return sumMs;
}

/** A world in which no admission is ever refused. */
export function refusesNobody({ sources }: Played['world']): boolean {
  const harmless = sources.every(({ maxConcurrency, scripts }) => maxConcurrency === undefined && scripts.flat().every((step) => step.type !== 'error' || isHarmless(step.error as GatewayError)));
  return harmless && sources.length > 1;
}

function isHarmless({ code, retryAfterS }: GatewayError): boolean {
  return (code === 'transient' || code === 'request') && retryAfterS === undefined;
}
