import { expect } from '@jest/globals';
import type { VirtualTimeScheduler } from 'rxjs';
import type { VirtualGateway } from './virtualGateway.js';

/** What gateways still hold, and how many timers still run. */
export interface Held {
  readonly calls: number;
  readonly attempts: number;
  readonly permits: number;
  readonly waiters: number;
  readonly openRequests: number;
  readonly timers: number;
}

const nothing: Held = { calls: 0, attempts: 0, permits: 0, waiters: 0, openRequests: 0, timers: 0 };

/** `ownTimers`: those that the test itself has set. */
export function heldBy(gateways: readonly VirtualGateway[], scheduler: VirtualTimeScheduler, ownTimers: ReadonlySet<unknown> = new Set()): Held {
  const stats = gateways.map((gateway) => gateway.stats());
  return {
    calls: sum(stats.map(({ calls }) => calls)),
    attempts: sum(stats.map(({ attempts }) => attempts)),
    permits: sum(stats.flatMap(({ permits }) => Object.values(permits))),
    waiters: sum(stats.map(({ waiters }) => waiters)),
    openRequests: requestsOf(gateways).filter(({ closedMs }) => closedMs === null).length,
    timers: scheduler.actions.filter((action) => !ownTimers.has(action)).length,
  };
}

/** No call, no attempt, no permit, no waiter, no open request, no timer (X1, X2). */
export function expectAtRest(held: Held): void {
  expect(held).toEqual(nothing);
}

/** Every request that was sent has left exactly one row (E1), and every answered call exactly one winner. */
export function expectRowPerRequest(gateway: VirtualGateway): void {
  expectRowsOfRequests(gateway);
  const answered = gateway.events.flatMap((event) => (event.type === 'call-ended' && event.outcome === 'ok' ? [event.callId] : []));
  expect(gateway.rows.filter(({ won }) => won).map(({ callId }) => callId).sort()).toEqual(answered.sort());
}

/** Every request that was sent has left exactly one row (E1). */
export function expectRowsOfRequests(gateway: VirtualGateway): void {
  const started = (list: readonly { source: string; startedMs: number }[]): string[] => list.map(({ source, startedMs }) => `${source} ${startedMs}`).sort();
  const sent = gateway.sources.flatMap(({ id, requests }) => requests.map(({ startedMs }) => ({ source: id, startedMs })));
  expect(started(gateway.rows)).toEqual(started(sent));
  expect(new Set(gateway.rows.map(({ id }) => id)).size).toBe(sent.length);
}

function requestsOf(gateways: readonly VirtualGateway[]): VirtualGateway['sources'][number]['requests'] {
  return gateways.flatMap(({ sources }) => sources).flatMap(({ requests }) => requests);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
