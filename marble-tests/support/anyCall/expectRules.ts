import assert from 'node:assert/strict';
import type { GatewayError } from '../../../lib/model/errors.js';
import { expectAtRest, expectRowPerRequest } from '../atRest.js';
import { expectEnding, expectFigures, expectRound, expectSignals } from './expectAttempts.js';
import { expectFailure, expectOneEnd, expectResponse, expectRetries } from './expectCalls.js';
import { toJudged } from './judged.js';
import { abortReason } from './playWorld.js';
import type { Played } from './playWorld.js';

/** Holds everything that happened against the rules, by plain arithmetic over the scripts. */
export function expectRules(played: Played): void {
  played.left.forEach(expectAtRest);
  expectRowPerRequest(played.gateway);
  expectPlaces(played);
  expectPauses(played);
  for (const call of played.calls.map((one) => toJudged(one, played))) {
    expectOneEnd(call);
    for (const round of call.rounds) {
      for (const attempt of round) {
        expectEnding(attempt, round, call);
        expectFigures(attempt, played);
      }
      expectRound(round, call);
      expectSignals(round, call, played);
    }
    expectRetries(call, played);
    if (call.response !== undefined) expectResponse(call.response, call, played);
    else if (call.error !== undefined && call.error !== abortReason) expectFailure(call.error as GatewayError, call, played);
  }
}

/** G1, G3: never more requests at once than a source has places. */
export function expectPlaces({ world, gateway }: Played): void {
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
export function expectPauses({ world, gateway }: Played): void {
  for (const { source, errorClass, endedMs, retryAfterMs } of gateway.rows) {
    if (errorClass !== 'rate_limited') continue;
    const untilMs = endedMs + Math.max(retryAfterMs ?? 0, Math.min(world.policy.backoffMs!, world.policy.backoffMaxMs!));
    const early = gateway.rows.find((row) => row.source === source && row.startedMs > endedMs && row.startedMs < untilMs);
    assert.equal(early, undefined, 'a parked source was asked');
  }
}
