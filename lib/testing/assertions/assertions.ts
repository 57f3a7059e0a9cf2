import type { TestGateway } from '../testGateway.js';
import { assertVerdict } from './verdict.js';
import { verdictOfCalls, verdictOfHedges, verdictOfRest, verdictOfRows, verdictOfSockets } from './verdicts.js';
import type { ExpectedCalls, ExpectedHedges, ExpectedRows, ExpectedSockets } from './verdicts.js';

/**
 * Checks, now, every call that was subscribed, in order; of each the fields that are given. For any test runner.
 *
 * Throws `GatewayAssertionError`, whose message shows both lists and marks what differs.
 *
 *     assertCalls(gateway, [{ outcome: 'ok', source: 'fast', endedMs: 20_004, hedges: 1 }]);
 */
export function assertCalls(gateway: TestGateway, expected: ExpectedCalls): void {
  assertVerdict(verdictOfCalls(gateway, expected));
}

/**
 * Checks, now, every hedge that was asked for, as `assertCalls` does calls.
 *
 *     assertHedges(gateway, [{ atMs: 20_001, trigger: 'stall', from: 'slow', to: 'fast', outcome: 'won' }]);
 */
export function assertHedges(gateway: TestGateway, expected: ExpectedHedges): void {
  assertVerdict(verdictOfHedges(gateway, expected));
}

/**
 * Checks, now, the row of every attempt whose round is decided, as `assertCalls` does calls.
 *
 *     assertRows(gateway, [{ source: 'slow', errorClass: 'hedge_cancelled' }, { source: 'fast', won: true }]);
 */
export function assertRows(gateway: TestGateway, expected: ExpectedRows): void {
  assertVerdict(verdictOfRows(gateway, expected));
}

/**
 * Checks, now, when the sockets of the named sources were opened and closed: a subscription diagram for each request, `''` or
 * `[]` for a source that was never asked. A source that is not named is not looked at.
 *
 * Throws `GatewayAssertionError` with both drawn, and an `Error` for a source that is not there.
 *
 *     assertSockets(gateway, { slow: '^ 20s ---!', fast: '- 20s ^--!', spare: [] });
 */
export function assertSockets<Id extends string>(gateway: TestGateway<Id>, expected: ExpectedSockets<Id>): void {
  assertVerdict(verdictOfSockets(gateway, expected));
}

/**
 * Checks that the gateway, now, holds nothing: no call, attempt, permit, waiter or open socket.
 *
 *     assertAtRest(gateway);
 */
export function assertAtRest(gateway: TestGateway): void {
  assertVerdict(verdictOfRest(gateway));
}
