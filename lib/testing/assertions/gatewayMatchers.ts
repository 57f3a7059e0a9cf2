import type { TestGateway } from '../testGateway.js';
import type { Verdict } from './verdict.js';
import { verdictOfCalls, verdictOfHedges, verdictOfRest, verdictOfRows, verdictOfSockets } from './verdicts.js';
import type { ExpectedCalls, ExpectedHedges, ExpectedRows, ExpectedSockets } from './verdicts.js';

/** The ids of a gateway's sources, as far as its type knows them. */
export type SourceIdsOf<G> = G extends TestGateway<infer Id> ? Id : string;

/** What `expect(gateway)` can do; `R` is what matchers return, `G` what `expect` was given. */
export interface GatewayMatchers<R = void, G = unknown> {
  /** Every call that was subscribed, in order; of each the fields that are given. */
  toHaveCalls(expected: ExpectedCalls): R;
  /** Every hedge that was asked for, in order; of each the fields that are given. */
  toHaveHedges(expected: ExpectedHedges): R;
  /** The row of every attempt whose round is decided, in order; of each the fields that are given. */
  toHaveRows(expected: ExpectedRows): R;
  /** Subscription diagrams by source; `''` or `[]`: never asked. A source that is not named is not looked at. */
  toHaveSockets(expected: ExpectedSockets<SourceIdsOf<G>>): R;
  /** No call, attempt, permit, waiter or open socket. */
  toBeAtRest(): R;
}

/** The matchers for an `expect.extend` of any framework; `polygateway/testing/jest` and `/vitest` do that, and know the types. */
export const gatewayMatchers = {
  toHaveCalls: (received: unknown, expected: ExpectedCalls): Verdict => verdictOfCalls(gatewayOf(received, 'toHaveCalls'), expected),
  toHaveHedges: (received: unknown, expected: ExpectedHedges): Verdict => verdictOfHedges(gatewayOf(received, 'toHaveHedges'), expected),
  toHaveRows: (received: unknown, expected: ExpectedRows): Verdict => verdictOfRows(gatewayOf(received, 'toHaveRows'), expected),
  toHaveSockets: (received: unknown, expected: ExpectedSockets): Verdict => verdictOfSockets(gatewayOf(received, 'toHaveSockets'), expected),
  toBeAtRest: (received: unknown): Verdict => verdictOfRest(gatewayOf(received, 'toBeAtRest')),
};

function gatewayOf(received: unknown, matcher: string): TestGateway {
  if (typeof received === 'object' && received !== null && ['calls', 'hedges', 'rows', 'sources', 'stats'].every((key) => key in received)) return received as TestGateway;
  throw new TypeError(`${matcher} is for a gateway made by testGateway(…) of polygateway/testing.`);
}
