import assert from 'node:assert/strict';
import type { FailureClass, GatewayError } from '../../../lib/model/errors.js';
import type { AttemptRecord } from '../../../lib/model/events.js';
import type { ChatResponse } from '../../../lib/model/response.js';
import { expectAtRest, expectRowPerRequest } from '../atRest.js';
import { plainFigures, soloAttempt } from './soloAttempt.js';
import type { Solo } from './soloAttempt.js';
import { abortReason } from './playWorld.js';
import type { Played, PlayedCall } from './playWorld.js';

/** An attempt as it was booked, beside what it would have come to alone. */
interface Attempt {
  readonly row: AttemptRecord;
  readonly solo: Solo;
  /** When it would have ended by itself. */
  readonly soloEndMs: number;
}

/** A call with the times at which it may be ended from outside. */
interface Judged extends PlayedCall {
  readonly startMs: number;
  readonly leftMs: number;
  readonly deadlineMs: number;
  readonly endMs: number | undefined;
  readonly response: ChatResponse | undefined;
  readonly error: unknown;
  readonly rounds: readonly (readonly Attempt[])[];
}

/** Holds everything that happened against the rules, by plain arithmetic over the scripts. */
export function expectRules(played: Played): void {
  played.left.forEach(expectAtRest);
  expectRowPerRequest(played.gateway);
  expectPlaces(played);
  expectPauses(played);
  for (const call of played.calls.map((one) => toJudged(one, played))) {
    expectOneEnd(call);
    for (const round of call.rounds) {
      for (const attempt of round) expectAttempt(attempt, round, call, played);
      expectRound(round, call);
      expectSignals(round, call, played);
    }
    expectRetries(call, played);
    if (call.response !== undefined) expectResponse(call.response, call, played);
    else if (call.error !== undefined && call.error !== abortReason) expectFailure(call.error as GatewayError, call, played);
  }
}

function toJudged(call: PlayedCall, { world, gateway, scriptOf }: Played): Judged {
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

/** X1, X3, R5: exactly one end, in time, and none after the caller has left. */
function expectOneEnd({ told, planned, startMs, leftMs, deadlineMs, endMs, error }: Judged): void {
  const kinds = told.map(({ notification }) => notification.kind).join('');
  if (endMs === undefined) {
    assert.equal(planned.ends?.how, 'leave', 'a call without an end was not left');
    return;
  }
  assert.match(kinds, /^(NC|E)$/);
  assert.ok(told.every(({ frame }) => frame === endMs), 'the end took several instants');
  assert.ok(endMs <= deadlineMs, 'ended past the deadline');
  if (error === abortReason) assert.equal(endMs, leftMs);
  else assert.ok(endMs < leftMs || endMs === startMs, 'ended after the caller was gone');
}

/** E1, M1-M3, W1, H5: how an attempt ended, and its figures. */
function expectAttempt({ row, solo, soloEndMs }: Attempt, round: readonly Attempt[], call: Judged, { world }: Played): void {
  const livedMs = row.endedMs - row.startedMs;
  const won = round.find((other) => other.row.won);
  switch (row.errorClass) {
    case 'caller_cancelled':
      assert.equal(row.endedMs, call.leftMs);
      assert.ok(row.endedMs <= soloEndMs);
      break;
    case 'deadline':
      assert.equal(row.endedMs, call.deadlineMs);
      assert.ok(row.endedMs < soloEndMs || (solo.failureClass !== null && !solo.thrown), 'what had ended at the deadline was booked as cut by it');
      break;
    case 'hedge_cancelled':
      assert.equal(row.endedMs, won?.row.endedMs, 'cancelled beside no winner');
      assert.ok(row.endedMs < soloEndMs || (row.endedMs === soloEndMs && !solo.thrown), 'what had failed was booked as cancelled');
      break;
    case null:
      assert.equal(solo.failureClass, null);
      if (row.endedMs !== soloEndMs) assert.ok(row.endedMs === call.deadlineMs && row.startedMs + solo.finishMs <= row.endedMs, 'complete before its time');
      break;
    default:
      assert.equal(row.errorClass, solo.failureClass);
      assert.equal(row.endedMs, soloEndMs);
  }

  const atMost = solo.incrementsMs.filter((atMs) => atMs <= livedMs).length;
  // Of several frames in the very instant in which it was cut off only the first is sure.
  const atLeast = row.endedMs === soloEndMs && !solo.byWatchdog ? atMost : solo.incrementsMs.filter((atMs) => atMs < livedMs).length;
  if (row.increments !== null) assert.ok(row.increments >= atLeast && row.increments <= atMost, 'wrong number of increments');
  const { streamed } = row;
  assert.equal(row.increments === null, !streamed);
  const figures = plainFigures(solo.incrementsMs.slice(0, row.increments ?? atMost), livedMs, world.policy.stallThresholdMs!);
  const measured = row.errorClass === null && streamed;
  assert.deepEqual(
    { ttftMs: row.ttftMs, stallMs: row.stallMs, stallCount: row.stallCount, maxInterTokenMs: row.maxInterTokenMs, latencyMs: row.latencyMs },
    {
      ttftMs: streamed ? figures.ttftMs : null,
      stallMs: measured ? figures.stallMs : null,
      stallCount: measured ? figures.stallCount : null,
      maxInterTokenMs: measured ? figures.maxInterTokenMs : null,
      latencyMs: livedMs,
    },
  );
  if (streamed || atLeast === atMost) assert.deepEqual(row.recordGaps, figures.recordGaps);
}

interface Decision {
  readonly atMs: number;
  readonly winner: Attempt | undefined;
  /** Of a round that failed. */
  readonly failureClass: FailureClass | undefined;
}

const hopefulFirst: readonly FailureClass[] = ['transient', 'rate_limited', 'source', 'request'];
const isWeak = ({ solo }: Attempt): boolean => solo.finishReason === 'content_filter';

/** H4, H6, H7: the first valid completion; the primary on ties; a refusal only when there is nothing to wait for. */
function decide(round: readonly Attempt[]): Decision {
  const inOrder = [...round].sort((a, b) => a.soloEndMs - b.soloEndMs);
  const strong = inOrder.find((attempt) => attempt.solo.failureClass === null && !isWeak(attempt));
  if (strong !== undefined) return { atMs: strong.soloEndMs, winner: strong, failureClass: undefined };
  const weak = inOrder.find(({ solo }) => solo.failureClass === null);
  const failureClass = hopefulFirst.find((one) => round.some(({ solo }) => solo.failureClass === one));
  return { atMs: Math.max(...round.map(({ soloEndMs }) => soloEndMs)), winner: weak, failureClass: weak === undefined ? failureClass : undefined };
}

function expectRound(round: readonly Attempt[], call: Judged): void {
  const [primary, backup] = round;
  assert.ok(round.length <= 2);
  assert.equal(primary?.row.role, 'primary');
  if (backup !== undefined) {
    assert.equal(backup.row.role, 'backup');
    assert.notEqual(backup.row.source, primary.row.source);
    assert.ok(backup.row.startedMs <= primary.row.endedMs);
  }
  const decision = decide(round);
  const winner = round.find(({ row }) => row.won);
  if (decision.atMs < Math.min(call.leftMs, call.deadlineMs)) {
    assert.equal(winner?.row.id, decision.winner?.row.id, 'the wrong attempt won');
    if (winner !== undefined) assert.equal(call.endMs, decision.atMs);
    return;
  }
  const whole = call.deadlineMs < call.leftMs ? round.filter((attempt) => isWholeAt(attempt, call.deadlineMs)) : [];
  assert.equal(winner !== undefined, whole.length > 0, 'at the deadline an answer is delivered where there is one');
  if (winner === undefined) return;
  assert.ok(whole.includes(winner));
  assert.ok(!isWeak(winner) || whole.every(isWeak), 'a refusal was preferred to an answer');
}

/** H4, H15: complete, or lacking nothing but usage and end marker. */
function isWholeAt({ row, solo, soloEndMs }: Attempt, atMs: number): boolean {
  return solo.failureClass === null && Math.min(soloEndMs, row.startedMs + solo.finishMs) <= atMs;
}

/** H1-H3: when a silence was noticed, and what came of it. */
function expectSignals(round: readonly Attempt[], call: Judged, { world, gateway }: Played): void {
  const { row, solo } = round[0]!;
  const { hedgeAfterMs = null, hedgeStallAfterMs = null } = world.policy;
  const betweenMs = call.planned.stream ? hedgeStallAfterMs : null;
  const silences = [0, ...solo.incrementsMs].flatMap((fromMs, at) => {
    const limitMs = at === 0 ? hedgeAfterMs : betweenMs;
    const nextMs = solo.incrementsMs[at] ?? Infinity;
    return limitMs !== null && fromMs + limitMs < Math.min(nextMs, solo.finishMs) ? [row.startedMs + fromMs + limitMs] : [];
  });
  const noticed = gateway.events.filter((event) => event.type === 'silence-noticed' && event.attemptId === row.id).map(({ atMs }) => atMs);
  const before = (times: readonly number[]): number[] => times.filter((atMs) => atMs < row.endedMs);
  assert.deepEqual(before(noticed), before(silences), 'silences were not noticed when they were due');
  assert.ok(noticed.every((atMs) => silences.includes(atMs)));

  const backupMs = round[1]?.row.startedMs ?? Infinity;
  const refused = gateway.events.filter((event) => event.type === 'hedge-refused' && event.attemptId === row.id).map(({ atMs }) => atMs);
  assert.deepEqual(before(refused), before(noticed).filter((atMs) => atMs < backupMs), 'a silence had no consequence, or two');
  if (backupMs < Infinity) assert.ok(noticed.includes(backupMs), 'a backup without a silence');
  if (refusesNobody(world) && row.round === 1) assert.deepEqual(refused, []);
}

function refusesNobody({ sources }: Played['world']): boolean {
  const harmless = sources.every(({ maxConcurrency, scripts }) => maxConcurrency === undefined && scripts.flat().every((step) => step.type !== 'error' || isHarmless(step.error as GatewayError)));
  return harmless && sources.length > 1;
}

function isHarmless({ code, retryAfterS }: GatewayError): boolean {
  return (code === 'transient' || code === 'request') && retryAfterS === undefined;
}

/** R2-R6: rounds follow one another as their failures say. */
function expectRetries(call: Judged, { world }: Played): void {
  const { maxAttempts = 0, backoffMs = 0, backoffMaxMs = 0 } = world.policy;
  const out = new Set<string>();
  let burnt = 0;
  call.rounds.forEach((round, at) => {
    for (const { row } of round) assert.ok(!out.has(row.source), 'a source was asked that is out for this call');
    for (const { row, solo } of round) {
      const failedAlone = row.errorClass === solo.failureClass && solo.failureClass !== null;
      if (failedAlone && (solo.failureClass === 'source' || (solo.failureClass !== 'request' && solo.askedMs > 60_000))) out.add(row.source);
    }
    const { failureClass } = decide(round);
    if (failureClass === 'transient') burnt += 1;
    const next = call.rounds[at + 1]?.[0];
    if (next === undefined) return;
    const endMs = Math.max(...round.map(({ row }) => row.endedMs));
    assert.ok(failureClass !== undefined && failureClass !== 'request', 'a round followed one that ended the call');
    assert.ok(burnt < maxAttempts, 'more rounds than the budget has');
    const pauseMs = failureClass === 'transient' ? Math.min(backoffMaxMs, backoffMs * 2 ** (burnt - 1)) : 0;
    const waitedMs = next.row.startedMs - endMs;
    const cutShort = waitedMs >= 0 && endMs + pauseMs >= call.deadlineMs;
    assert.ok(waitedMs >= pauseMs || cutShort, 'the next round came too early');
    if (refusesNobody(world)) assert.ok(waitedMs === pauseMs || cutShort, 'the next round came late');
  });
  assert.ok(burnt <= maxAttempts);
}

/** M5, H9, H11, B2: what the caller gets. */
function expectResponse(response: ChatResponse, call: Judged, { world }: Played): void {
  const attempts = call.rounds.flat();
  const winner = attempts.find(({ row }) => row.won)!;
  const { row, solo } = winner;
  const livedMs = row.endedMs - row.startedMs;
  const callMs = call.endMs! - call.startMs;
  const figures = plainFigures(solo.incrementsMs.slice(0, row.increments ?? undefined), livedMs, world.policy.stallThresholdMs!);
  const watched = call.planned.stream;
  const text = (type: string): string => solo.deltas.filter(({ atMs, delta }) => delta.type === type && atMs <= livedMs).map(({ delta }) => ('text' in delta ? delta.text : '')).join('');
  assert.deepEqual(
    { ...response, callId: '', message: undefined, toolCalls: response.toolCalls.map(({ arguments: sent }) => sent).join(''), usage: undefined, model: '' },
    {
      content: text('content'),
      reasoning: text('reasoning'),
      refusal: solo.deltas.some(({ delta }) => delta.type === 'refusal') ? text('refusal') : null,
      toolCalls: solo.deltas.map(({ delta }) => (delta.type === 'tool-call' ? delta.arguments : '')).join(''),
      message: undefined,
      finishReason: solo.finishReason,
      usage: undefined,
      callId: '',
      model: '',
      source: row.source,
      providerRequestId: null,
      increments: row.increments,
      ttftMs: watched ? figures.ttftMs : null,
      maxInterTokenMs: watched ? figures.maxInterTokenMs : null,
      latencyMs: livedMs,
      callMs,
      stats: {
        generationMs: livedMs - (watched ? (figures.stallMs ?? 0) : 0),
        stallMs: watched ? figures.stallMs : null,
        stallCount: watched ? figures.stallCount : null,
        hedges: attempts.filter((attempt) => attempt.row.role === 'backup').length,
        hedgeWon: row.role === 'backup',
        attempts: attempts.length,
        waitedMs: callMs - productiveMs(attempts),
      },
    },
  );
}

/** B2: time with at least one attempt in flight. */
function productiveMs(attempts: readonly Attempt[]): number {
  let untilMs = -Infinity;
  let sumMs = 0;
  for (const { row } of [...attempts].sort((a, b) => a.row.startedMs - b.row.startedMs)) {
    sumMs += Math.max(0, row.endedMs - Math.max(untilMs, row.startedMs));
    untilMs = Math.max(untilMs, row.endedMs);
  }
  return sumMs;
}

/** R4, R5, R7, B3: why a call was given up. */
function expectFailure(error: GatewayError & { reason?: string }, call: Judged, { world }: Played): void {
  const attempts = call.rounds.flat();
  const last = call.rounds.at(-1);
  const endedMs = last === undefined ? undefined : Math.max(...last.map(({ row }) => row.endedMs));
  const failureClass = last === undefined ? undefined : decide(last).failureClass;
  const burnt = call.rounds.filter((round) => decide(round).failureClass === 'transient').length;
  assert.equal(error.callId, call.callId);
  assert.equal(error.attempts, attempts.length, 'attempts of the error');
  switch (error.reason ?? error.code) {
    case 'request':
      assert.equal(failureClass, 'request');
      assert.equal(call.endMs, endedMs);
      break;
    case 'retry_exhausted':
      assert.equal(burnt, world.policy.maxAttempts);
      assert.equal(call.endMs, endedMs);
      break;
    case 'no_runnable_source':
      assert.ok(world.policy.backpressure === 'fail_fast' || world.sources.length <= attempts.length, 'sources were left to ask');
      break;
    case 'stalled':
      assert.ok(call.endMs! - call.startMs - productiveMs(attempts) > world.policy.stallWindowMs!, 'given up too early');
      break;
    case 'call_deadline':
      assert.ok(call.deadlineMs < Infinity);
      // At once where nothing that fits is left to wait for, else at the deadline.
      if (call.endMs !== call.deadlineMs) assert.ok(endedMs !== undefined || world.calls.length > 1);
      break;
    default:
      assert.fail(`an end of no known kind: ${error.name} ${error.message}`);
  }
}

/** G1, G3: never more requests at once than a source has places. */
function expectPlaces({ world, gateway }: Played): void {
  world.sources.forEach(({ maxConcurrency = Infinity }, at) => {
    const changes = gateway.sources[at]!.requests.flatMap(({ startedMs, closedMs }) => [{ atMs: startedMs, by: 1 }, { atMs: closedMs!, by: -1 }]);
    // A request that is let go in the instant in which it is sent may stand first or last in it: it is left out.
    const spans = changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
    let open = 0;
    for (const { by } of spans) {
      open += by;
      assert.ok(open <= maxConcurrency, 'more requests at once than places');
    }
  });
}

/** R3: a source that sent 429 is left alone, by every call, for as long as it asked. */
function expectPauses({ world, gateway }: Played): void {
  for (const { source, errorClass, endedMs, retryAfterMs } of gateway.rows) {
    if (errorClass !== 'rate_limited') continue;
    const untilMs = endedMs + Math.max(retryAfterMs ?? 0, Math.min(world.policy.backoffMs!, world.policy.backoffMaxMs!));
    const early = gateway.rows.find((row) => row.source === source && row.startedMs > endedMs && row.startedMs < untilMs);
    assert.equal(early, undefined, 'a parked source was asked');
  }
}
