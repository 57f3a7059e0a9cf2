import assert from 'node:assert/strict';
import type { GatewayError } from '../../../lib/model/errors.js';
import type { ChatResponse } from '../../../lib/model/response.js';
import { decide, productiveMs, refusesNobody } from './judged.js';
import type { Judged } from './judged.js';
import { abortReason } from './playWorld.js';
import type { Played } from './playWorld.js';
import { plainFigures } from './soloAttempt.js';

/** X1, X3, R5: exactly one end, in time, and none after the caller has left. */
export function expectOneEnd({ told, planned, startMs, leftMs, deadlineMs, endMs, error }: Judged): void {
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

/** R2-R6: rounds follow one another as their failures say. */
export function expectRetries(call: Judged, { world }: Played): void {
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
export function expectResponse(response: ChatResponse, call: Judged, { world }: Played): void {
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

/** R4, R5, R7, B3: why a call was given up. */
export function expectFailure(error: GatewayError & { reason?: string }, call: Judged, { world }: Played): void {
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
