import assert from 'node:assert/strict';
import { decide, isWeak, isWholeAt, refusesNobody } from './judged.js';
import type { Attempt, Judged } from './judged.js';
import type { Played } from './playWorld.js';
import { plainFigures } from './soloAttempt.js';

/** E1, W1, H5: how an attempt ended. */
export function expectEnding({ row, solo, soloEndMs }: Attempt, round: readonly Attempt[], call: Judged): void {
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
}

/** M1-M3: the figures of an attempt. */
export function expectFigures({ row, solo, soloEndMs }: Attempt, { world }: Played): void {
  const livedMs = row.endedMs - row.startedMs;
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

/** H3, H4, E1: who is in a round, and who wins it. */
export function expectRound(round: readonly Attempt[], call: Judged): void {
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

/** H1-H3: when a silence was noticed, and what came of it. */
export function expectSignals(round: readonly Attempt[], call: Judged, { world, gateway }: Played): void {
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
