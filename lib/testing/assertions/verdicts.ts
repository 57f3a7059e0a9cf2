import type { AttemptRecord } from '../../model/events.js';
import type { PartialOf } from '../difference/asymmetric.js';
import type { TestCall } from '../callsOf.js';
import { drawDiagram } from '../difference/drawDiagram.js';
import type { TestHedge } from '../hedgesOf.js';
import { messageOfList } from '../difference/messageOfList.js';
import { isSubscription, messageOfSubscriptions } from '../difference/messageOfSubscriptions.js';
import type { ScriptedSource } from '../scriptedSource.js';
import { showTime } from '../difference/showTime.js';
import { subscriptionOf } from '../subscriptionOf.js';
import type { TestGateway } from '../testGateway.js';
import { verdictOf } from './verdict.js';
import type { Verdict } from './verdict.js';

/** Of each element the fields that matter, in order, for the whole list. */
export type ExpectedCalls = readonly PartialOf<TestCall>[];
/** The same for hedges. */
export type ExpectedHedges = readonly PartialOf<TestHedge>[];
/** The same for rows. */
export type ExpectedRows = readonly PartialOf<AttemptRecord>[];

/** Subscription diagrams by the id of the source, one for each request; `''` or `[]`: it was never asked. */
export type ExpectedSockets<Id extends string = string> = { readonly [K in Id]?: string | readonly string[] };

export function verdictOfCalls({ calls }: TestGateway, expected: ExpectedCalls): Verdict {
  const naming = { one: 'call', many: 'calls', fields: ['startedMs', 'endedMs', 'outcome', 'source'] };
  return verdictOf(messageOfList(calls, expected, naming), notSo('calls', expected.length));
}

export function verdictOfHedges({ hedges }: TestGateway, expected: ExpectedHedges): Verdict {
  const naming = { one: 'hedge', many: 'hedges', fields: ['atMs', 'from', 'to', 'outcome'] };
  return verdictOf(messageOfList(hedges, expected, naming), notSo('hedges', expected.length));
}

export function verdictOfRows({ rows }: TestGateway, expected: ExpectedRows): Verdict {
  const naming = { one: 'row', many: 'rows', fields: ['source', 'startedMs', 'outcome', 'errorClass'] };
  return verdictOf(messageOfList(rows, expected, naming), notSo('rows', expected.length));
}

export function verdictOfSockets({ sources }: TestGateway, expected: ExpectedSockets): Verdict {
  const named = Object.entries(expected).flatMap(([id, diagrams]) => (diagrams === undefined ? [] : [[id, listOf(diagrams)] as const]));
  const wrong = named.flatMap(([id, diagrams]) => {
    const times = diagrams.map(subscriptionOf).filter(isSubscription);
    const naming = { one: 'socket', whose: ` of "${id}"`, opened: 'opened', closed: 'closed' };
    return Object.hasOwn(sources, id) ? (messageOfSubscriptions(sources[id]?.subscriptions ?? [], times, naming) ?? []) : [];
  });
  const unknown = named.filter(([id]) => !Object.hasOwn(sources, id)).map(([id]) => noSource(id, sources));
  // Thrown, so that `.not` does not take it for a difference.
  if (unknown.length > 0) throw new Error([...unknown, ...wrong].join('\n\n'));
  return verdictOf(wrong.length === 0 ? undefined : wrong.join('\n\n'), `The sockets of ${named.map(([id]) => `"${id}"`).join(', ')} were expected not to be as drawn, but they are.`);
}

export function verdictOfRest(gateway: TestGateway): Verdict {
  const { calls, attempts, waiters, permits } = gateway.stats();
  const open = Object.values(gateway.sources).flatMap(({ id, subscriptions }) => subscriptions.filter(({ unsubscribedFrame }) => unsubscribedFrame === Infinity).map((socket) => ({ id, socket })));
  const permitsHeld = Object.values(permits).reduce((sum, held) => sum + held, 0);
  const held = [counted(calls, 'call'), counted(attempts, 'attempt'), counted(permitsHeld, 'permit'), counted(waiters, 'waiter'), counted(open.length, 'open socket')].flat();
  if (held.length === 0) return verdictOf(undefined, 'The gateway was expected to hold something, but it is at rest.');
  const running = gateway.calls.flatMap(({ outcome, startedMs, operation }, at) => (outcome === 'running' ? [`call ${at + 1} (${operation}) runs since ${showTime(startedMs)}`] : []));
  const holders = Object.entries(permits).flatMap(([id, count]) => (count > 0 ? [`"${id}" has given ${counted(count, 'permit').join('')}`] : []));
  const rows = open.slice(0, mostDrawn).map(({ id, socket }) => ({ label: id, marks: [{ frame: socket.subscribedFrame, symbol: '^' }] }));
  const drawing = rows.length === 0 ? [] : ['', ...drawDiagram(rows, new Set()).lines];
  return verdictOf([`The gateway is not at rest: it holds ${listed(held)}.`, ...(running.length + holders.length > 0 ? [''] : []), ...running.slice(0, mostDrawn), ...holders.slice(0, mostDrawn), ...drawing].join('\n'), '');
}

const mostDrawn = 8;

function noSource(id: string, sources: Readonly<Record<string, ScriptedSource>>): string {
  return `There is no scripted source "${id}" in this gateway; there is ${Object.keys(sources).map((known) => `"${known}"`).join(', ') || 'none'}.`;
}

function listOf(diagrams: string | readonly string[]): readonly string[] {
  return typeof diagrams === 'string' ? [diagrams] : diagrams;
}

function notSo(what: string, count: number): string {
  return `The ${what} were expected not to be these ${count}, but they are.`;
}

function counted(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}
