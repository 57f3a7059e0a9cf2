import assert from 'node:assert/strict';
import type { ChatDelta } from '../../../lib/model/delta.js';
import type { GatewayError } from '../../../lib/model/errors.js';
import { expectEnding, expectFigures, expectSignals } from '../anyCall/expectAttempts.js';
import { expectFailure, expectResponse, expectRetries } from '../anyCall/expectCalls.js';
import { expectPauses, expectPlaces } from '../anyCall/expectRules.js';
import { isWholeAt } from '../anyCall/judged.js';
import type { Attempt } from '../anyCall/judged.js';
import { abortReason } from '../anyCall/playWorld.js';
import type { Played } from '../anyCall/playWorld.js';
import { expectAtRest, expectRowPerRequest } from '../atRest.js';
import { toJudgedStream } from './judgedStream.js';
import type { JudgedStream, Speaker } from './judgedStream.js';

/** Holds everything that was passed on and done against the rules, by plain arithmetic over the scripts. */
export function expectStreamRules(played: Played): readonly JudgedStream[] {
  played.left.forEach(expectAtRest);
  expectRowPerRequest(played.gateway);
  expectPlaces(played);
  expectPauses(played);
  const calls = played.calls.map((one) => toJudgedStream(one, played));
  for (const call of calls) {
    expectOneStream(call);
    expectCommit(call);
    call.rounds.forEach((round) => expectStreamRound(round, call, played));
    expectRetries(call, played);
    if (call.committed !== undefined) expectPassedOn(call.committed, call, played);
    else if (call.error !== undefined && call.error !== abortReason) expectFailure(call.error as GatewayError, call, played);
  }
  return calls;
}

/** X1, X3, R5: a start, deltas, an end; one end of all, in time, and nothing after the caller has left. */
function expectOneStream({ told, planned, startMs, leftMs, deadlineMs, items, endMs, error }: JudgedStream): void {
  const types = items.map(({ item: { type } }) => (type === 'start' || type === 'end' ? type : 'delta')).join(' ');
  const kinds = told.map(({ notification: { kind } }) => kind).join('');
  assert.match(types, /^(start( delta)+( end)?)?$/);
  if (endMs === undefined) assert.equal(planned.ends?.how, 'leave', 'a call without an end was not left');
  assert.match(kinds, /^N*[CE]?$/);
  assert.equal(types.endsWith('end'), kinds.endsWith('C'), 'an end is the last item, and completes');
  for (const { frame } of told) assert.ok(frame <= deadlineMs && frame <= (endMs ?? leftMs), 'told past its end');
  if (error === abortReason) assert.equal(endMs, leftMs);
  else if (endMs !== undefined) assert.ok(endMs < leftMs || endMs === startMs, 'ended after the caller was gone');
}

/** H12: only the first to speak is passed on, and nothing is sent from then on. */
function expectCommit({ items, speaker, rounds, callId }: JudgedStream): void {
  const [first] = items;
  if (speaker?.isSure === true) assert.ok(first !== undefined, 'its first increment was not passed on');
  if (first === undefined) return;
  assert.ok(speaker !== undefined, 'something was passed on although nobody had spoken');
  const sent = rounds.flat();
  const counts = { attempts: sent.length, hedges: sent.filter(({ row }) => row.role === 'backup').length };
  assert.deepEqual(first, { atMs: speaker.atMs, item: { type: 'start', callId, source: speaker.attempt.row.source, model: speaker.attempt.row.model, ...counts } });
  for (const { row } of sent) assert.ok(row.startedMs <= speaker.atMs, 'a request was sent after the commit');
}

/** H3, H5, H12: who is in a round, and how each ends. */
function expectStreamRound(round: readonly Attempt[], call: JudgedStream, played: Played): void {
  const [primary, backup] = round;
  assert.ok(round.length <= 2);
  assert.equal(primary?.row.role, 'primary');
  if (backup !== undefined) {
    assert.equal(backup.row.role, 'backup');
    assert.equal(backup.row.hedgeTrigger, 'first_increment');
    assert.notEqual(backup.row.source, primary.row.source);
    assert.ok(backup.row.startedMs < primary.row.startedMs + (primary.solo.incrementsMs[0] ?? Infinity), 'a backup beside one that had spoken');
    assert.ok(backup.row.startedMs <= primary.row.endedMs);
  }
  for (const attempt of round) {
    if (attempt.row.errorClass === 'hedge_cancelled') expectLoser(attempt, call);
    else expectEnding(attempt, round, call);
    expectFigures(attempt, played);
    if (attempt.row.errorClass === null) assert.equal(attempt, call.committed?.attempt, 'complete, and not passed on');
  }
  // Of an answer that is passed on only the first silence is hedged.
  expectSignals(round, call, { ...played, world: { ...played.world, policy: { ...played.world.policy, hedgeStallAfterMs: null } } });
}

function expectLoser({ row, soloEndMs }: Attempt, { committed }: JudgedStream): void {
  assert.ok(committed !== undefined && committed.attempt.row.id !== row.id, 'cancelled beside nobody who had spoken');
  assert.equal(row.endedMs, committed.atMs, 'not cancelled in the instant of the commit');
  assert.ok(row.endedMs <= soloEndMs);
}

/** H11, H12: every delta of the one attempt, in order, each at its time, then the end that it comes to. */
function expectPassedOn({ attempt, atMs }: Speaker, call: JudgedStream, played: Played): void {
  const { row, solo, soloEndMs } = attempt;
  const timed = solo.deltas.map(({ atMs: afterMs, delta }) => ({ atMs: Math.max(atMs, row.startedMs + afterMs), item: delta }));
  const cut = row.endedMs < soloEndMs || solo.byWatchdog || row.errorClass === 'deadline' || row.errorClass === 'caller_cancelled';
  // Of several deltas in the very instant in which it was cut off not all may have come.
  const sure = timed.filter((passed) => passed.atMs < row.endedMs || !cut);
  const possible = timed.filter((passed) => passed.atMs <= row.endedMs);
  assert.ok(call.deltas.length >= sure.length, 'deltas are missing');
  assert.deepEqual(call.deltas, possible.slice(0, call.deltas.length));

  if (row.errorClass === 'caller_cancelled') {
    assert.ok(call.endMs === undefined || call.error === abortReason);
    return;
  }
  assert.equal(call.endMs, row.endedMs);
  assert.equal(row.errorClass === null, soloEndMs < call.deadlineMs ? solo.failureClass === null : isWholeAt(attempt, call.deadlineMs));
  if (row.errorClass !== null) expectBrokenOff(call.error as GatewayError, attempt, call);
  else {
    assert.ok(row.won && call.response !== undefined);
    expectResponse(call.response, call, played);
  }
}

/** H12, R7: what it broke off with, and how much had been passed on. */
function expectBrokenOff(error: GatewayError, { row }: Attempt, { deltas, callId, rounds }: JudgedStream): void {
  const chars = deltas.reduce((sum, { item }) => sum + charsOf(item), 0);
  const { code, partial, source, attempts } = error;
  const codes: Record<string, string> = { deadline: 'call_deadline', request: 'request' };
  assert.deepEqual(
    { code, partial, source, attempts, callId: error.callId },
    { code: codes[row.errorClass!] ?? 'stream_interrupted', partial: { increments: row.increments, chars }, source: row.source, attempts: rounds.flat().length, callId },
  );
  if (code === 'stream_interrupted') assert.equal((error.cause as GatewayError).code, row.errorClass);
}

function charsOf(delta: ChatDelta): number {
  if (delta.type === 'tool-call') return delta.arguments.length;
  return 'text' in delta ? delta.text.length : 0;
}
